//! Habits from Kubernetes: fields of pods and words of Helm that people write into a fleet, each with what
//! says the same here. They only make the help of an error better; nothing is found because of them.

use super::kind::Kind;

/// What the field of that name is called here, and where it stands; `None` for one that is nobody's habit.
pub(super) fn of_field(kind: &str, field: &str) -> Option<&'static str> {
    let is_placed = kind == Kind::ManagedCluster.name() || kind == Kind::PlacementPolicy.name();
    if !is_placed {
        return None;
    }
    let is_cluster = kind == Kind::ManagedCluster.name();
    Some(match (field, is_cluster) {
        ("nodeSelector", true) => {
            "workers are chosen by their labels: `placement: {affinity: {required: [{matchLabels: {...}}]}}`"
        }
        ("nodeSelector", false) => {
            "workers are chosen by their labels: `affinity: {required: [{matchLabels: {...}}]}`"
        }
        ("nodeName", _) => {
            "carp chooses the worker; a term of affinity with `names: [...]` pins it"
        }
        ("tolerations", true) => {
            "a PlacementPolicy tolerates taints for the clusters that it selects; a cluster cannot itself"
        }
        ("topologySpreadConstraints", true) => {
            "write `placement: {spread: [{topologyKey, maxSkew, whenUnsatisfiable}]}`"
        }
        ("topologySpreadConstraints", false) => {
            "write `spread: [{topologyKey, maxSkew, whenUnsatisfiable}]`"
        }
        ("podAffinity" | "nodeAffinity", _) => {
            "`affinity` is about workers: `required` and `preferred` stand in it"
        }
        ("podAntiAffinity", _) => "write `antiAffinity`, beside `affinity`",
        ("priorityClassName" | "priorityClass", _) => {
            "write `priority`, a number: the higher, the sooner; `maxPriority` of the tenant bounds it"
        }
        ("schedulerName", _) => {
            "there is one scheduler: carp; a PlacementPolicy is chosen by its `clusterSelector`"
        }
        ("resources" | "requests" | "limits", true) => {
            "what a cluster takes of its worker stands in its class: `demand` of a ManagedClusterClass"
        }
        _ => return None,
    })
}

/// Whether a text has the braces of a template: Helm's, Jinja's or Go's.
pub(super) fn is_templated(text: &str) -> bool {
    text.split_once("{{").is_some_and(|(_, after)| after.contains("}}"))
}

/// What to do about braces of a template.
pub(super) const TEMPLATED: &str = "carp renders no Helm here: write the value itself; a ManagedClusterClass keeps what many clusters share";

/// What to do about a Secret, which Git keeps for ever.
pub(super) const SECRET: &str = "rotate what is in it, for Git keeps what was pushed; a Secret is made on the \
     cluster that needs it, and `carp explain worker/NAME` prints the commands";

#[cfg(test)]
mod tests {
    use super::super::tests::{POLICY, cluster, files_find, finds};
    use super::*;
    use crate::diag::Code;

    fn help(text: String, code: Code, field: &str) -> String {
        finds(text, code, field).help.unwrap_or_default()
    }

    #[test]
    fn what_pods_have_is_told_as_clusters_have_it() {
        for (field, told) in [
            ("nodeSelector: {a: b}", "placement: {affinity:"),
            ("tolerations: []", "a PlacementPolicy tolerates taints"),
            ("topologySpreadConstraints: []", "placement: {spread:"),
            ("priorityClassName: high", "write `priority`, a number"),
            ("nodeName: we-1", "`names: [...]` pins it"),
            ("resources: {}", "`demand` of a ManagedClusterClass"),
        ] {
            let path = format!("spec.{}", field.split(':').next().unwrap_or_default());
            let help = help(cluster(&format!("{field}\n  ")), Code::UnknownField, &path);
            assert!(help.contains(told), "{field}: {help}");
        }
        let policy = POLICY.replace("spec:\n", "spec:\n  topologySpreadConstraints: []\n");
        let found = files_find(
            &[("policies/p.yaml", &policy)],
            Code::UnknownField,
            "spec.topologySpreadConstraints",
        );
        assert!(found.help.unwrap_or_default().starts_with("write `spread:"));
    }

    #[test]
    fn braces_of_a_template_are_told_as_such() {
        for version in ["{{ .Values.version }}", "\"{{ .Values.version }}\"", "{{.Values.version}}"]
        {
            let text = cluster("").replace("v1.34.2", version);
            let loaded = super::super::tests::load_fleet(&[("fleet/x.yaml", &text)]);
            let helps: Vec<_> = loaded.diagnostics.iter().map(|d| d.help.clone()).collect();
            assert_eq!(helps, [Some(TEMPLATED.to_owned())], "{version}: {:?}", loaded.diagnostics);
        }
        let block = format!("{{{{- if .Values.on }}}}\n{}", cluster(""));
        let loaded = super::super::tests::load_fleet(&[("fleet/x.yaml", &block)]);
        let first = loaded.diagnostics.iter().next().and_then(|d| d.help.clone());
        assert_eq!(first.as_deref(), Some(TEMPLATED), "{:?}", loaded.diagnostics);
    }

    #[test]
    fn a_secret_is_to_be_rotated() {
        let text =
            "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {password: aHVudGVyMg==}\n";
        let help = help(text.to_owned(), Code::UnknownKind, "kind");
        assert!(help.starts_with("rotate what is in it"), "{help}");
        let found = super::super::tests::load_fleet(&[("fleet/x.yaml", text)]).diagnostics;
        assert_eq!(
            found.iter().count(),
            1,
            "one cause is one error, and no line of the data is shown"
        );
    }
}
