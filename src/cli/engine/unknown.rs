//! A name that nothing in the fleet has.

use super::super::{Error, ObjectKind};
use super::open::FleetLook;
use crate::diag::suggest;
use crate::model::Name;

/// The error that there is no such cluster, worker or policy, with the nearest name.
pub(super) fn unknown(look: &FleetLook, kind: Option<ObjectKind>, name: &Name) -> Error {
    let (plan, fleet) = (&look.opened.proposal.plan, &look.opened.proposal.fleet);
    let (workers, clusters) = (plan.workers.keys(), plan.clusters.keys());
    let help = |all: &mut dyn Iterator<Item = &Name>, what| {
        let all: Vec<_> = all.map(Name::as_str).collect();
        suggest::help(name, all.iter().copied(), what)
    };
    let (kind, help) = match kind {
        Some(ObjectKind::Worker) => ("worker", help(&mut { workers }, "workers")),
        Some(ObjectKind::Cluster) => ("cluster", help(&mut { clusters }, "clusters")),
        Some(ObjectKind::Pool) => ("pool", help(&mut fleet.pools.keys(), "pools")),
        Some(ObjectKind::Policy) => ("policy", help(&mut fleet.policies.keys(), "policies")),
        None => {
            let mut all = clusters.chain(workers).chain(fleet.policies.keys());
            ("cluster, worker or policy", help(&mut all, "names"))
        }
    };
    Error::failed(format!("there is no {kind} `{name}` in this fleet")).help(help)
}
