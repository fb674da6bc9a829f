//! What objects of a folder say of each other holds: a CRD's schema cannot see it, and Cluster API would
//! find it out late or never (machines that wait for a Secret that nobody writes).

use serde_json::Value;

use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use super::field::ObjectField;
use crate::diag::{Code, Diagnostics};

/// Where references to objects of the same folder stand.
const REFERENCES: &[ObjectField] = &[
    ObjectField::ControlPlaneRef,
    ObjectField::InfrastructureRef,
    ObjectField::IdentityRef,
    ObjectField::TemplateConfigRef,
    ObjectField::TemplateInfrastructureRef,
    ObjectField::MachineInfrastructureRef,
];
/// What CAPZ appends to a machine template's name for the Secret with the cloud's configuration
/// (cluster-api-provider-azure, controllers/helpers.go).
const AZURE_JSON: &str = "-azure-json";

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let mut problems: Vec<(&Object, String)> = Vec::new();
    let all: Vec<_> = objects.iter().map(NamedObject::of).collect();
    for named in &all {
        let object = named.object;
        problems.extend(dangling(named, &all).map(|p| (object, p)));
        problems.extend(other_cluster(named, &all).map(|p| (object, p)));
        problems.extend(other_machine(named, &all).map(|p| (object, p)));
    }
    let help = "give both sides the same name; with a hashed name, set it once and print it twice";
    let finding = |(o, p): (&Object, String)| {
        job.finding(Code::RenderedInvalid, &o.file, &format!("{o} {p}"), help)
    };
    problems.into_iter().map(finding).collect()
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    at(value, pointer).and_then(Value::as_str)
}

/// An object with what others name it by. All of them look for it, so that is read off once.
struct NamedObject<'a> {
    object: &'a Object,
    kind: &'a str,
    name: &'a str,
    namespace: &'a str,
    spec: &'a Value,
}

impl<'a> NamedObject<'a> {
    fn of(object: &'a Object) -> Self {
        Self {
            object,
            kind: object.kind(),
            name: object.name(),
            namespace: object.namespace(),
            spec: object.value.get("spec").unwrap_or(&Value::Null),
        }
    }

    /// The object of this kind and name in its namespace.
    fn beside<'b>(
        &self,
        all: &'b [NamedObject<'a>],
        kind: &str,
        name: &str,
    ) -> Option<&'b NamedObject<'a>> {
        let is_it = |o: &&NamedObject<'_>| {
            o.kind == kind && o.name == name && o.namespace == self.namespace
        };
        all.iter().find(is_it)
    }
}

/// References to what is not there.
fn dangling<'a>(
    named: &'a NamedObject<'a>,
    all: &'a [NamedObject<'a>],
) -> impl Iterator<Item = String> + 'a {
    REFERENCES.iter().filter_map(|field| field.of(named.object)).filter_map(|reference| {
        let (kind, name) = (text(reference, "/kind")?, text(reference, "/name")?);
        let there = named.beside(all, kind, name);
        there.is_none().then(|| format!("refers to {kind} {name}, which is not in the folder"))
    })
}

/// `clusterName` in both places is a Cluster of the folder.
fn other_cluster(named: &NamedObject<'_>, all: &[NamedObject<'_>]) -> Option<String> {
    let outer = ObjectField::ClusterName.text(named.object)?;
    if named.beside(all, "Cluster", outer).is_none() {
        return Some(format!("says clusterName `{outer}`, which is no Cluster of the folder"));
    }
    let inner = text(named.spec, "/template/spec/clusterName")?;
    (inner != outer).then(|| format!("says clusterName `{outer}` and, in its template, `{inner}`"))
}

/// The nodes' files come from the Secret of the very machine template that the nodes are made from.
fn other_machine(named: &NamedObject<'_>, all: &[NamedObject<'_>]) -> Option<String> {
    let spec = named.spec;
    let (machine, files) = if named.kind == "MachineDeployment" {
        let config = text(spec, "/template/spec/bootstrap/configRef/name")?;
        let config = named.beside(all, "KubeadmConfigTemplate", config)?;
        let machine = text(spec, "/template/spec/infrastructureRef/name")?;
        (machine, at(config.spec, "/template/spec/files")?)
    } else {
        let machine = ObjectField::MachineInfrastructureRef.of(named.object)?;
        let machine = text(machine, "/name")?;
        (machine, at(spec, "/kubeadmConfigSpec/files")?)
    };
    let secrets = files.as_array()?.iter().filter_map(|f| text(f, "/contentFrom/secret/name"));
    let wanted = format!("{machine}{AZURE_JSON}");
    let wrong = secrets.filter(|s| s.ends_with(AZURE_JSON)).find(|s| *s != wanted)?;
    Some(format!("makes machines from {machine} whose files come from the Secret {wrong}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    const BUNDLE: &str = r"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: a, namespace: a}
spec: {infrastructureRef: {apiGroup: g, kind: AzureCluster, name: a}}
---
apiVersion: g/v1
kind: AzureCluster
metadata: {name: a, namespace: a}
---
apiVersion: g/v1
kind: AzureMachineTemplate
metadata: {name: a-np0-1, namespace: a}
---
apiVersion: b/v1
kind: KubeadmConfigTemplate
metadata: {name: a-np0-2, namespace: a}
spec: {template: {spec: {files: [{contentFrom: {secret: {name: a-np0-1-azure-json, key: k}}}]}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: a-np0, namespace: a}
spec:
  clusterName: a
  template:
    spec:
      clusterName: a
      bootstrap: {configRef: {apiGroup: b, kind: KubeadmConfigTemplate, name: a-np0-2}}
      infrastructureRef: {apiGroup: g, kind: AzureMachineTemplate, name: a-np0-1}
";

    const CONTROL_PLANE: &str = r"
apiVersion: g/v1
kind: AzureMachineTemplate
metadata: {name: a-cp-1, namespace: a}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: a, namespace: a}
spec:
  machineTemplate:
    spec: {infrastructureRef: {apiGroup: g, kind: AzureMachineTemplate, name: a-cp-1}}
  kubeadmConfigSpec:
    files: [{contentFrom: {secret: {name: a-cp-1-azure-json, key: k}}}]
";

    fn one(from: &str, to: &str) -> String {
        assert!(BUNDLE.contains(from), "{from}");
        let found = messages(check, &BUNDLE.replacen(from, to, 1), Code::RenderedInvalid);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn a_bundle_that_agrees_with_itself_passes() {
        assert_eq!(messages(check, BUNDLE, Code::RenderedInvalid), Vec::<String>::new());
    }

    #[test]
    fn every_reference_has_its_object() {
        assert!(
            one("kind: AzureCluster, name: a", "kind: AzureCluster, name: b").contains("refers to")
        );
        assert!(
            one("name: a-np0-2}}", "name: a-np0-3}}").contains("KubeadmConfigTemplate a-np0-3")
        );
    }

    #[test]
    fn the_cluster_is_the_same_in_both_places() {
        assert!(
            one("      clusterName: a", "      clusterName: b").contains("in its template, `b`")
        );
        assert!(
            one("  clusterName: a\n  template", "  clusterName: b\n  template")
                .contains("no Cluster")
        );
    }

    #[test]
    fn the_nodes_read_the_secret_of_their_own_machine_template() {
        let found = one("name: a-np0-1-azure-json", "name: a-np0-azure-json");
        assert!(found.contains("Secret a-np0-azure-json"), "{found}");
    }

    #[test]
    fn a_control_plane_reads_the_secret_of_its_own_machine_template() {
        let found = |text: &str| messages(check, text, Code::RenderedInvalid);
        assert_eq!(found(CONTROL_PLANE), Vec::<String>::new());
        let wrong = CONTROL_PLANE.replace("a-cp-1-azure-json", "a-cp-azure-json");
        let found = found(&wrong);
        assert!(found.len() == 1 && found[0].contains("Secret a-cp-azure-json"), "{found:?}");
    }
}
