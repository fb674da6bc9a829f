//! Machines in Azure have an identity. CAPZ gives one that has none a configuration with a client ID and no
//! secret, with which the cloud controller cannot begin: no load balancer, no endpoint, no disk
//! (`cluster-api-provider-azure`, `controllers/helpers.go`, `GetCloudProviderSecret`).

use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use crate::diag::{Code, Diagnostics};

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let machines = objects.iter().filter(|o| o.kind() == "AzureMachineTemplate");
    let without = machines.filter(|o| {
        let identity = at(&o.value, "/spec/template/spec/identity");
        identity.and_then(|i| i.as_str()).is_none_or(|identity| identity == "None")
    });
    without
        .map(|machine| {
            let message = format!("{machine} makes machines without an identity");
            let help = "write `identity: UserAssigned` and `userAssignedIdentities`, from \
                        `azure.nodeIdentity`";
            job.finding(Code::RenderedInvalid, &machine.file, &message, help)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    #[test]
    fn a_machine_has_an_identity() {
        let found = |spec: &str| {
            let text = format!(
                "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureMachineTemplate\n\
                 metadata: {{name: a-np0-1, namespace: a}}\nspec: {{template: {{spec: {spec}}}}}\n"
            );
            messages(check, &text, Code::RenderedInvalid)
        };
        for good in ["UserAssigned", "SystemAssigned"] {
            assert!(found(&format!("{{identity: {good}}}")).is_empty(), "{good}");
        }
        for bad in ["{vmSize: Standard_D4s_v5}", "{identity: None}"] {
            assert_eq!(found(bad).len(), 1, "{bad}");
        }
    }
}
