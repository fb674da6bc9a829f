//! A cluster of AKS has a pool for its system: one of mode `System`, with nodes. Azure makes no cluster without
//! (`Microsoft.ContainerService/managedClusters`, "at least one system pool"), and Cluster API's provider makes it with the
//! pools that there are (cluster-api-provider-azure, `pkg/mutators/azureasomanagedcontrolplane.go`).

use serde_json::Value;

use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use super::field::ObjectField;
use crate::diag::{Code, Diagnostics};

const CONTROL_PLANE: &str = "AzureASOManagedControlPlane";
const POOL: &str = "AzureASOManagedMachinePool";

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let planes = objects.iter().filter(|o| o.kind() == CONTROL_PLANE);
    let without = planes.filter(|plane| {
        let mut pools =
            objects.iter().filter(|o| o.kind() == POOL && o.namespace() == plane.namespace());
        !pools.any(|pool| is_for_the_system(pool) && has_nodes(pool, objects))
    });
    without
        .map(|plane| {
            let message = format!("{plane} has no pool that AKS can run its system on");
            let help = "give the cluster a pool of at least one node that is no spot pool and has no taints that \
                        keep pods out";
            job.finding(Code::RenderedInvalid, &plane.file, &message, help)
        })
        .collect()
}

fn is_for_the_system(pool: &Object) -> bool {
    let resources = ObjectField::Resources.of(pool).and_then(Value::as_array);
    let mode = |resource: &Value| at(resource, "/spec/mode").is_some_and(|mode| mode == "System");
    resources.into_iter().flatten().any(mode)
}

/// Whether the `MachinePool` has nodes from the beginning; one that names no number gets some.
fn has_nodes(pool: &Object, objects: &[Object]) -> bool {
    let named = |o: &&Object| {
        let machines = ObjectField::TemplateInfrastructureRef.of(o);
        let name = machines.and_then(|machines| at(machines, "/name"));
        o.kind() == "MachinePool" && name.is_some_and(|name| name == pool.name())
    };
    let owner = objects.iter().find(named);
    owner.is_some_and(|owner| at(&owner.value, "/spec/replicas").is_none_or(|n| n != 0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    fn found(mode: &str, replicas: &str) -> Vec<String> {
        let of = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n";
        let text = format!(
            "{of}kind: {CONTROL_PLANE}\nmetadata: {{name: a, namespace: a}}\nspec: {{}}\n---\n\
             {of}kind: {POOL}\nmetadata: {{name: a-np0, namespace: a}}\n\
             spec: {{resources: [{{spec: {{mode: {mode}}}}}]}}\n---\n\
             apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachinePool\n\
             metadata: {{name: a-np0, namespace: a}}\n\
             spec: {{{replicas}template: {{spec: {{infrastructureRef: {{name: a-np0}}}}}}}}\n"
        );
        messages(check, &text, Code::RenderedInvalid)
    }

    #[test]
    fn a_cluster_of_aks_has_nodes_for_its_system() {
        assert_eq!(found("System", "replicas: 1, "), Vec::<String>::new());
        assert_eq!(
            found("System", ""),
            Vec::<String>::new(),
            "its autoscaler begins with the fewest"
        );
        for (mode, replicas) in [("User", "replicas: 1, "), ("System", "replicas: 0, ")] {
            let found = found(mode, replicas);
            assert!(found[0].contains("can run its system on"), "{mode} {replicas}: {found:?}");
        }
    }
}
