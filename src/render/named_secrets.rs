//! Secrets that parameters of a flavor name (`x-carp-secret`): people make them beside the objects of the cluster, and
//! before these.

use super::preparation::{Once, Where};
use super::wanted::{NeededSecret, SecretFields, SecretWanted};
use super::worker_secrets::is_bootstrapped;
use crate::diag::FieldPath;
use crate::model::api::{NodePool, Parameters};
use crate::model::parameters::NamedSecrets;
use crate::model::{Cluster, Flavor, Fleet, Name, Worker};

/// The Secrets that a cluster's parameters name, in its namespace on its worker.
#[must_use]
pub fn secrets_named_by_cluster(cluster: &Cluster) -> Vec<SecretWanted> {
    let spec = &cluster.spec;
    let all = named(cluster.manifest(), (&spec.parameters, &spec.node_pools), &cluster.name);
    all.into_iter().map(|wanted| wanted.by_hand(Where::Worker, Once::Cluster)).collect()
}

/// The Secrets that a worker's own parameters name, in its namespace on the cluster that makes it. Those that an
/// operator makes are [`secrets_wanted`](super::secrets_wanted).
#[must_use]
pub fn secrets_named_by_worker(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    if fleet.spec.external_secrets().is_some() && is_bootstrapped(fleet, worker) {
        return Vec::new();
    }
    let all = of_worker(worker).into_iter();
    all.map(|wanted| wanted.by_hand(Where::ControlPlane, Once::Worker)).collect()
}

/// The Secrets that a worker's own parameters name, as what uses them wants them.
pub(super) fn of_worker(worker: &Worker) -> Vec<NeededSecret> {
    let spec = &worker.spec;
    named(worker.manifest(), (&spec.parameters, &spec.node_pools), &worker.name)
}

fn named(
    flavor: Option<&Flavor>,
    (own, pools): (&Parameters, &[NodePool]),
    name: &Name,
) -> Vec<NeededSecret> {
    let Some(flavor) = flavor else { return Vec::new() };
    let (schema, mut all) = (&flavor.parameters.schema, NamedSecrets::new());
    schema.secrets(&schema.filled(&own.value()), &FieldPath::keys("parameters"), &mut all);
    for pool in pools {
        let at = FieldPath::keys("nodePools").key(&pool.name).key("parameters");
        schema.secrets(&pool.parameters.value(), &at, &mut all);
    }
    let wanted = all.into_iter().map(|(secret, keys)| {
        let fields = keys.keys();
        let fields = fields.fold(SecretFields::default(), |all, key| all.file(key, "FILE"));
        let paths = keys.values().flatten().map(|path| format!("`{path}`"));
        let paths = paths.collect::<Vec<_>>().join(", ");
        NeededSecret {
            name: secret,
            namespace: name.to_string(),
            fields,
            why: format!("{name} names it in {paths}, and is made only once it is there"),
        }
    });
    wanted.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::fleet;
    use super::*;

    fn said(value: serde_json::Value) -> Parameters {
        serde_json::from_value(value).unwrap()
    }

    fn file(secret: &str) -> serde_json::Value {
        json!([{"path": "/a", "contentFrom": {"secret": {"name": secret, "key": "token"}}}])
    }

    #[test]
    fn a_clusters_secrets_are_on_its_worker() {
        let mut fleet = fleet();
        let cluster = fleet.clusters.values_mut().next().unwrap();
        assert_eq!(secrets_named_by_cluster(cluster), []);
        cluster.spec.parameters =
            said(json!({"encryptionConfigSecret": "keys", "files": file("shared")}));
        cluster.spec.node_pools[0].parameters = said(json!({"files": file("of-pool")}));
        let all = secrets_named_by_cluster(cluster);
        let commands: Vec<_> = all.iter().map(|secret| secret.command.as_str()).collect();
        assert_eq!(
            commands,
            [
                "kubectl -n pay-eu create secret generic keys --from-file=encryption.yaml=FILE",
                "kubectl -n pay-eu create secret generic of-pool --from-file=token=FILE",
                "kubectl -n pay-eu create secret generic shared --from-file=token=FILE",
            ]
        );
        assert!(all.iter().all(|s| s.cluster == Where::Worker && s.namespace == "pay-eu"));
        assert!(all[1].why.contains("`nodePools.np0.parameters.files[0].contentFrom.secret`"));
    }

    #[test]
    fn a_workers_secrets_are_where_it_is_made() {
        let mut fleet = fleet();
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.parameters = said(json!({"encryptionConfigSecret": "keys"}));
        let worker = worker.clone();
        let all = secrets_named_by_worker(&fleet, &worker);
        assert_eq!(all.len(), 1);
        assert_eq!((&all[0].cluster, all[0].namespace.as_str()), (&Where::ControlPlane, "wk-1"));
    }
}
