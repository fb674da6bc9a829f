//! That a worker survives no loss of a zone.

use crate::model::{Nodes, Worker};

/// What an explanation says of a worker with a document of its own that names no zones where its location has some.
/// Those that pools make get them by default; a document says where its machines are, and to give it zones later
/// replaces them.
pub(super) fn note(worker: &Worker) -> Option<String> {
    let says = worker.made_by.is_none() && worker.nodes() == Nodes::Machines;
    let location = worker.catalogue.locations().get(&worker.spec.location)?;
    let none = says && worker.zones().is_empty() && !location.zones.is_empty();
    none.then(|| {
        format!(
            "its nodes are in no zone of {}, which has {}: `zones` of a node pool spreads it, the pool \
             system too; machines that are there are replaced by that",
            worker.spec.location,
            location.zones.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{NodePool, WorkerSpec};
    use crate::model::{Catalogue, Digest, Name, SharedMap};

    fn told(location: &str, flavor: &str, zones: &[&str]) -> Option<String> {
        let zones = zones.iter().map(|&zone| zone.to_owned()).collect();
        let pool = NodePool { name: "np0".into(), zones, ..NodePool::default() };
        note(&Worker {
            name: Name::parse("w1").unwrap(),
            labels: SharedMap::new(),
            facts: Digest::of(b""),
            file: String::new(),
            document: 0,
            spec: WorkerSpec {
                location: location.into(),
                flavor: Some(flavor.into()),
                node_pools: vec![pool].into(),
                ..WorkerSpec::default()
            }
            .into(),
            heartbeat_timeout_seconds: 3600,
            made_by: None,
            catalogue: Catalogue::default(),
        })
    }

    #[test]
    fn a_worker_without_zones_is_told_where_there_are_some() {
        let said = told("westeurope", "capz", &[]).unwrap();
        assert!(said.starts_with("its nodes are in no zone of westeurope, which has 1, 2, 3:"));
        assert!(told("westeurope", "aks", &[]).is_some());
        assert_eq!(told("westeurope", "capz", &["2"]), None, "it says where");
        assert_eq!(told("westus", "capz", &[]), None, "there are none");
        assert_eq!(told("westeurope", "attached", &[]), None, "carp makes no machines");
    }
}
