//! Machine taints need a feature gate of Cluster API: without it the webhooks refuse every MachineDeployment
//! that has one, and Flux, which tries all objects of a path before it applies any, applies none of them
//! (Cluster API, `internal/util/taints/validation.go` and `feature/feature.go`: alpha since v1.12, off by
//! default). The machines stand in other folders than the core provider does, so the provider has the gate
//! always: hosting pools of workers have taints.

use super::super::context::MACHINE_TAINTS;
use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use crate::diag::{Code, Diagnostics};

const KIND: &str = "CoreProvider";

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let core = |o: &&Object| o.kind() == KIND && o.group() == "operator.cluster.x-k8s.io";
    let without = objects.iter().filter(core).filter(|core| !has_gate(core));
    without
        .map(|core| {
            let message = format!(
                "{core} does not turn {MACHINE_TAINTS} on: Cluster API would refuse machines with taints"
            );
            let help = format!("write `spec.manager.featureGates: {{{MACHINE_TAINTS}: true}}`");
            job.finding(Code::RenderedInvalid, &core.file, &message, &help)
        })
        .collect()
}

fn has_gate(core: &Object) -> bool {
    let gates = at(&core.value, "/spec/manager/featureGates");
    gates.and_then(|gates| gates.get(MACHINE_TAINTS)) == Some(&true.into())
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    fn found(spec: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\n\
             metadata: {{name: cluster-api, namespace: capi-system}}\nspec: {spec}\n"
        );
        messages(check, &text, Code::RenderedInvalid)
    }

    #[test]
    fn the_core_provider_lets_machines_have_taints() {
        assert!(found("{manager: {featureGates: {MachineTaintPropagation: true}}}").is_empty());
        for spec in [
            "{version: v1.13.5}",
            "{manager: {featureGates: {MachineTaintPropagation: false}}}",
            "{manager: {featureGates: {MachinePool: true}}}",
        ] {
            let found = found(spec);
            assert_eq!(found.len(), 1, "{spec}");
            assert!(found[0].contains("CoreProvider cluster-api does not turn MachineTaint"));
        }
    }
}
