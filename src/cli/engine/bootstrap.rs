//! What brings a worker and clusters on it up, as `explain --bootstrap` shows it.

use std::collections::BTreeSet;

use super::super::Error;
use super::super::show::StepView;
use super::open::{FleetLook, failed};
use super::wanted::place;
use crate::diag::Diagnostics;
use crate::load;
use crate::model::{Cluster, Decision, Fleet, Memo, Name};
use crate::pipeline;
use crate::render::{ReadinessStep, Templates};

/// The steps of a worker, and of one cluster of each flavor on it: the others come up in the same way.
pub(super) fn steps(look: &FleetLook, name: &Name) -> Result<Vec<StepView>, Error> {
    let proposal = &look.opened.proposal;
    let Some(worker) = proposal.fleet.workers.get(name) else {
        return Err(Error::usage(format!("there is no worker `{name}` in the fleet"))
            .help("`--bootstrap` is about a worker that carp.yaml's roots or a pool have"));
    };
    let templates = templates(look)?;
    let clusters = one_of_each(&proposal.fleet, |cluster| {
        let planned = proposal.plan.clusters.get(&cluster.name);
        planned.is_some_and(|planned| match &planned.decision {
            Decision::Keep { worker } => worker == name,
            Decision::Bind(binding) => binding.worker == *name,
            _ => false,
        })
    });
    let prefix = &look.opened.source.prefix;
    let steps = pipeline::readiness(&proposal.fleet, worker, &clusters, &templates, prefix);
    let steps = steps.map_err(|found| unrendered(&found))?;
    Ok(steps.into_iter().map(|step| view(look, name, step)).collect())
}

/// The first cluster of each flavor among some.
fn one_of_each(fleet: &Fleet, is_there: impl Fn(&Cluster) -> bool) -> Vec<&Cluster> {
    let mut flavors = BTreeSet::new();
    let there = fleet.clusters.values().filter(|cluster| is_there(cluster));
    there.filter(|cluster| flavors.insert(cluster.flavor().to_owned())).collect()
}

/// The templates of the fleet.
fn templates(look: &FleetLook) -> Result<Templates, Error> {
    let input = &look.snapshot.input;
    let loaded = look.sources.with(|store| load::load(input, store, &mut Memo::default()));
    let loaded = loaded.map_err(|error| failed(&error))?;
    let loaded =
        loaded.map_err(|error| Error::failed("failed to read the fleet").because(error))?;
    Ok(Templates::built_in().with(&loaded.templates).0)
}

fn unrendered(found: &Diagnostics) -> Error {
    let first = found.iter().next().map(|finding| finding.message.clone()).unwrap_or_default();
    Error::failed(format!("the worker does not render: {first}"))
        .help("`carp validate` shows all of it")
}

fn view(look: &FleetLook, worker: &Name, step: ReadinessStep) -> StepView {
    StepView {
        step: step.step,
        on: place(look, worker, step.cluster),
        objects: step.objects,
        after: step.after,
        missing: step.missing,
        own: step.own,
    }
}
