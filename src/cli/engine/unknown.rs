//! A name that nothing in the fleet has.

use super::super::{Error, ObjectKind};
use crate::cli::show::code;
use crate::diag::suggest;
use crate::model::{Name, Proposal};

/// The error that there is no such cluster, worker, pool or policy, with the nearest name. Where no kind was said the
/// word may have been meant for one, or for a code.
pub(super) fn unknown(proposal: &Proposal, asked: Option<ObjectKind>, name: &Name) -> Error {
    let Proposal { plan, fleet, .. } = proposal;
    let (workers, clusters) = (plan.workers.keys(), plan.clusters.keys());
    let help = |all: &mut dyn Iterator<Item = &Name>, what| {
        let all: Vec<_> = all.map(Name::as_str).collect();
        suggest::help(name, all.iter().copied(), what)
    };
    let (kind, help) = match asked {
        Some(ObjectKind::Worker) => ("worker", help(&mut { workers }, "workers")),
        Some(ObjectKind::Cluster) => ("cluster", help(&mut { clusters }, "clusters")),
        Some(ObjectKind::Pool) => ("pool", help(&mut fleet.pools.keys(), "pools")),
        Some(ObjectKind::Policy) => ("policy", help(&mut fleet.policies.keys(), "policies")),
        None => {
            let pools = fleet.pools.keys();
            let mut all = clusters.chain(workers).chain(pools).chain(fleet.policies.keys());
            ("cluster, worker, pool or policy", help(&mut all, "names"))
        }
    };
    let meant = if asked.is_none() && !help.starts_with("did") { other(name) } else { None };
    let help = meant.unwrap_or(help);
    Error::failed(format!("there is no {kind} `{name}` in this fleet")).help(help)
}

/// The kind or the code that a word was meant for.
fn other(word: &str) -> Option<String> {
    if let Some(kind) = suggest::nearest(word, ObjectKind::words()) {
        return Some(format!("did you mean `{kind}`?"));
    }
    let code = suggest::nearest(word, code::codes())?;
    Some(format!("did you mean the code `{code}`? `carp explain {code}`"))
}
