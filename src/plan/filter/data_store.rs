//! Data stores: a worker has the one that the cluster names, or one with the labels that it asks for. A cluster that
//! asks for none is in the one that every worker has.

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Wishes, DependsOn::DataStores];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let choice = request.cluster.spec.data_store.as_ref();
    let Some((worker, choice)) = candidate.worker.zip(choice) else { return };
    if worker.data_stores_for(choice).next().is_none() {
        let labels = choice.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let wanted = choice.name.clone().into_iter().chain(labels).map(Into::into).collect();
        reasons.push(Reason::NoDataStore { wanted });
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    const STORES: &str = "worker w1; worker w2 store:gold=tier:high store:iron=tier:low;";

    #[test]
    fn a_worker_has_the_store_that_is_named() {
        check(&format!("{STORES} cluster a store=iron"), "a -> w2");
        check(&format!("{STORES} cluster a store=tin"), "a waits NoDataStore");
        check(&format!("{STORES} cluster a store=default"), "a -> w1");
        check(&format!("{STORES} cluster a"), "a -> w1");
    }

    #[test]
    fn a_worker_has_a_store_with_the_labels() {
        check(&format!("{STORES} cluster a stored=tier:high"), "a -> w2");
        check(&format!("{STORES} cluster a stored=tier:none"), "a waits NoDataStore");
    }

    #[test]
    fn what_is_wanted_is_told() {
        let told = |choice: &str| refusals(&format!("{STORES} cluster a {choice}"), "a", "w1");
        assert_eq!(told("store=iron"), ["no data store iron"]);
        assert_eq!(told("stored=tier:high"), ["no data store tier=high"]);
    }

    #[test]
    fn a_store_that_goes_moves_nobody() {
        check("worker w1; worker w2 store:gold=tier:high; cluster a on=w1 store=gold", "a on w1");
    }
}
