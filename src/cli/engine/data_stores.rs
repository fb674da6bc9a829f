//! The data stores that an explanation speaks of: those of a worker, and the one that a cluster is in.

use super::super::show::DataStoreRow;
use super::open::FleetLook;
use crate::model::{DEFAULT_DATA_STORE, Name};
use crate::plan::Explanation;
use crate::status::{DataStoreUse, StatusInput, data_store};

fn known(look: &FleetLook) -> StatusInput<'_> {
    let proposal = &look.opened.proposal;
    StatusInput {
        fleet: &proposal.fleet,
        previous: &proposal.previous,
        observed: &proposal.observed,
        plan: &proposal.plan,
        gates: &proposal.gates,
    }
}

/// The data stores of a worker.
pub(super) fn of_worker(look: &FleetLook, worker: &Name) -> Vec<DataStoreRow> {
    let input = known(look);
    let desired = input.fleet.workers.get(worker);
    let row = |status: crate::model::api::DataStoreStatus| {
        let stores = desired.into_iter().flat_map(|worker| &worker.spec.data_stores);
        let listed = stores.into_iter().find(|store| store.name == status.name);
        let snapshots = listed.and_then(|store| store.snapshots.as_ref());
        DataStoreRow {
            snapshots: snapshots.map(|snapshots| snapshots.schedule.clone()),
            labels: listed.map(|store| store.labels.clone()).unwrap_or_default(),
            status,
        }
    };
    DataStoreUse::of(input).on(input.fleet, worker).into_iter().map(row).collect()
}

/// The data store that a cluster is in, or will be.
pub(super) fn of_cluster(look: &FleetLook, explanation: &Explanation) -> Option<String> {
    let decision = &explanation.planned.decision;
    data_store(known(look), &explanation.cluster, decision).map(ToOwned::to_owned)
}

/// That a cluster goes to another data store.
pub(super) fn change(look: &FleetLook, explanation: &Explanation) -> Option<String> {
    let input = known(look);
    let to = data_store(input, &explanation.cluster, &explanation.planned.decision)?;
    let worker = explanation.planned.decision.worker()?;
    let row = input.previous.workers.get(worker)?.clusters.get(&explanation.cluster)?;
    row.folder?;
    let from = row.data_store.as_deref().unwrap_or(DEFAULT_DATA_STORE);
    (from != to).then(|| {
        format!(
            "it goes from the data store {from} to {to}: until its state is copied its API server takes no writes"
        )
    })
}
