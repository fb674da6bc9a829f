//! Secrets that parameters of a flavor name (`x-carp-secret`): people make them beside the objects of the cluster, and
//! before these.

use super::preparation::Where;
use super::secrets::SecretWanted;
use crate::diag::FieldPath;
use crate::model::api::{NodePool, Parameters};
use crate::model::parameters::NamedSecrets;
use crate::model::{Cluster, Flavor, Name, Worker};

/// The Secrets that a cluster's parameters name, in its namespace on its worker.
#[must_use]
pub fn secrets_named_by_cluster(cluster: &Cluster) -> Vec<SecretWanted> {
    let spec = &cluster.spec;
    named(cluster.manifest(), (&spec.parameters, &spec.node_pools), &cluster.name, &Where::Worker)
}

/// The Secrets that a worker's own parameters name, in its namespace on the cluster that makes it.
#[must_use]
pub fn secrets_named_by_worker(worker: &Worker) -> Vec<SecretWanted> {
    let (spec, place) = (&worker.spec, Where::ControlPlane);
    named(worker.manifest(), (&spec.parameters, &spec.node_pools), &worker.name, &place)
}

fn named(
    flavor: Option<&Flavor>,
    (own, pools): (&Parameters, &[NodePool]),
    name: &Name,
    cluster: &Where,
) -> Vec<SecretWanted> {
    let Some(flavor) = flavor else { return Vec::new() };
    let (schema, mut all) = (&flavor.parameters.schema, NamedSecrets::new());
    schema.secrets(&schema.filled(&own.value()), &FieldPath::keys("parameters"), &mut all);
    for pool in pools {
        let at = FieldPath::keys("nodePools").key(&pool.name).key("parameters");
        schema.secrets(&pool.parameters.value(), &at, &mut all);
    }
    let wanted = all.into_iter().map(|(secret, keys)| {
        let files = keys.keys().map(|key| format!(" --from-file={key}=FILE"));
        let files: String = files.collect();
        let paths = keys.values().flatten().map(|path| format!("`{path}`"));
        let paths = paths.collect::<Vec<_>>().join(", ");
        SecretWanted {
            command: format!("kubectl -n {name} create secret generic {secret}{files}"),
            name: secret,
            namespace: name.to_string(),
            cluster: cluster.clone(),
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
        let all = secrets_named_by_worker(worker);
        assert_eq!(all.len(), 1);
        assert_eq!((&all[0].cluster, all[0].namespace.as_str()), (&Where::ControlPlane, "wk-1"));
    }
}
