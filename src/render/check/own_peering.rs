//! Networks are peered by Azure Service Operator only in a fleet that says so (`vnetPeerings` in `carp.yaml`): without it no
//! server knows the kind, and Cluster API's provider for Azure has no right on it, so that it would stop at the cluster
//! (cluster-api-provider-azure v1.26.0, `config/aso/kustomization.yaml` and `config/rbac/role.yaml`).

use serde_json::Value;

use super::super::job::{Job, Scope};
use super::super::object::Object;
use super::super::path::at;
use super::field::ObjectField;
use crate::diag::{Code, Diagnostics};

/// The kind, as an object of a folder or among those that CAPZ makes of one.
const PEERING: &str = "VirtualNetworksVirtualNetworkPeering";

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let is_asked = matches!(job.scope, Scope::Cluster { .. });
    if !is_asked || at(&job.context, "/vnetPeerings").is_some() {
        return Diagnostics::default();
    }
    let peered = objects.iter().filter(|object| is_peered(object));
    let finding = |object: &Object| {
        let message = format!(
            "{object} peers networks by Azure Service Operator, which wants `vnetPeerings: true` in carp.yaml"
        );
        let help = "write `vnetPeerings: true` into carp.yaml, or leave `peerings` out";
        job.finding(Code::RenderedRefused, &object.file, &message, help)
    };
    peered.map(finding).collect()
}

fn is_peered(object: &Object) -> bool {
    let inner = ObjectField::Resources.of(object).and_then(Value::as_array);
    let of_kind = |resource: &Value| at(resource, "/kind").is_some_and(|kind| kind == PEERING);
    object.kind() == PEERING || inner.into_iter().flatten().any(of_kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{job, read};
    use super::*;

    fn found(kind: &str, spec: &str, allowed: bool) -> Vec<String> {
        let text = format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: {kind}\nmetadata: {{name: a, namespace: a}}\n\
             spec: {spec}\n"
        );
        let mut job = job();
        job.context = if allowed { json!({"vnetPeerings": true}) } else { json!({}) };
        let findings = check(&read(&text), &job);
        assert!(findings.iter().all(|d| d.code == Code::RenderedRefused), "{findings:?}");
        findings.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn networks_are_peered_where_the_fleet_says_so() {
        let inner = format!("{{resources: [{{kind: ResourceGroup}}, {{kind: {PEERING}}}]}}");
        for (kind, spec) in [("AzureASOManagedCluster", &*inner), (PEERING, "{}")] {
            let told = found(kind, spec, false);
            let says = "peers networks by Azure Service Operator, which wants `vnetPeerings: true` in carp.yaml";
            assert_eq!(told, [format!("{kind} a {says}")]);
            assert_eq!(found(kind, spec, true), Vec::<String>::new());
        }
        let without = "{resources: [{kind: VirtualNetwork}]}";
        assert_eq!(found("AzureASOManagedCluster", without, false), Vec::<String>::new());
    }
}
