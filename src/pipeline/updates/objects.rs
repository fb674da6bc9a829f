//! What a difference of manifests does to what runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Update, fields};
use crate::load::read_yaml;
use crate::model::{Name, OVERRIDDEN_BY};
use crate::render;

/// The group of Cluster API's own kinds: what it does with them holds for every provider.
const CORE: &str = "cluster.x-k8s.io/";

/// An object, by its kind and name.
type Objects = BTreeMap<(String, String), Value>;

/// Compares the manifests of a cluster.
pub(super) fn compare(cluster: &Name, before: &str, after: &str) -> Update {
    let (old, new) = (documents(before), documents(after));
    let differ = |text: &&str, others: &[&str]| !others.contains(text);
    let gone = old.iter().filter(|text| differ(text, &new)).copied();
    let come = new.iter().filter(|text| differ(text, &old)).copied();
    let (gone, come) = (parsed(gone), parsed(come));
    let mut update = Update::default();
    for (key, after) in &come {
        let before = gone.get(key).unwrap_or(&Value::Null);
        look(cluster, key, before, after, &new, &mut update);
    }
    if update.fields.is_empty() && update.replaced.is_empty() && !update.control_plane {
        update.objects =
            gone.keys().chain(come.keys()).map(|object| without_cluster(cluster, object)).collect();
        update.objects.sort();
        update.objects.dedup();
        update.objects.retain(|object| object != "ManagedCluster");
    }
    update.overrides = overrides(&gone, &come, update.fields.is_empty());
    update
}

/// The override policies of objects that change: those that come or go, and where nobody's document changed, all.
fn overrides(gone: &Objects, come: &Objects, all: bool) -> Vec<String> {
    let named = |objects: &Objects| -> BTreeSet<String> {
        let by = objects.values().filter_map(|object| {
            object["metadata"]["annotations"][OVERRIDDEN_BY].as_str().map(str::to_owned)
        });
        by.flat_map(|by| by.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let (before, after) = (named(gone), named(come));
    let counts = |name: &&String| all || before.contains(*name) != after.contains(*name);
    before.union(&after).filter(counts).cloned().collect()
}

/// An object by what tells it from others of the cluster: the same change in two clusters reads the same.
fn without_cluster(cluster: &Name, (kind, name): &(String, String)) -> String {
    match name.strip_prefix(cluster.as_str()).map(|rest| rest.trim_start_matches('-')) {
        Some("") => kind.clone(),
        Some(rest) => format!("{kind}/{rest}"),
        None => format!("{kind}/{name}"),
    }
}

fn look(
    cluster: &Name,
    (kind, name): &(String, String),
    before: &Value,
    after: &Value,
    all: &[&str],
    update: &mut Update,
) {
    if kind == "ManagedCluster" {
        update.fields = fields::changed(before, after);
        update.nodes = fields::nodes(after) - fields::nodes(before);
        return;
    }
    if before.is_null() {
        return;
    }
    if is_core(after) && after["spec"]["template"]["spec"].is_object() {
        let pool = name.strip_prefix(&format!("{cluster}-")).unwrap_or(name);
        if machines(before) != machines(after) {
            let machines = before["spec"]["replicas"].as_u64();
            update.replaced.insert(pool.to_owned(), machines);
        }
    } else if is_control_plane(kind, name, all)
        && without_replicas(before) != without_replicas(after)
    {
        update.control_plane = true;
    }
}

fn is_core(object: &Value) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.starts_with(CORE))
}

/// What the machines of an object are made of: by the same the guards tell what replaces them.
fn machines(object: &Value) -> Vec<Value> {
    render::machine_groups(object).into_iter().map(|group| group.template).collect()
}

/// More or fewer replicas restart none of those that stay.
fn without_replicas(object: &Value) -> Value {
    let mut spec = object["spec"].clone();
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("replicas");
    }
    spec
}

/// Whether an object is what the Cluster names as its control plane.
fn is_control_plane(kind: &str, name: &str, all: &[&str]) -> bool {
    let clusters = all
        .iter()
        .filter(|text| text.contains("\nkind: Cluster\n") || text.starts_with("kind: Cluster\n"));
    parsed(clusters.copied()).values().filter(|object| is_core(object)).any(|object| {
        let named = &object["spec"]["controlPlaneRef"];
        named["kind"] == kind && named["name"] == name
    })
}

/// The documents of a file, as text. The separator never stands in a block of text: that is indented.
fn documents(text: &str) -> Vec<&str> {
    text.split("\n---\n").map(|text| text.trim_end_matches('\n')).collect()
}

fn parsed<'t>(texts: impl Iterator<Item = &'t str>) -> Objects {
    let object = |text: &str| {
        let value: Value = read_yaml(text.as_bytes()).ok()?;
        let kind = value["kind"].as_str()?.to_owned();
        let name = value["metadata"]["name"].as_str()?.to_owned();
        Some(((kind, name), value))
    };
    texts.filter_map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFESTS: &str = "\
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: pay}
spec: {controlPlaneRef: {kind: HostedControlPlane, name: pay}}
---
apiVersion: controlplane.example.com/v1
kind: HostedControlPlane
metadata: {name: pay}
spec: {replicas: 2, version: v1.33.5}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: pay-np0}
spec:
  replicas: 3
  template: {spec: {version: v1.33.5, deletion: {nodeDrainTimeoutSeconds: 600}}}
---
apiVersion: carp.dev/v1alpha1
kind: ManagedCluster
metadata: {name: pay}
spec: {version: v1.33.5}
";

    fn of(edit: impl Fn(&str) -> String) -> String {
        compare(&Name::parse("pay").unwrap(), MANIFESTS, &edit(MANIFESTS)).words()
    }

    #[test]
    fn a_version_replaces_the_machines_and_restarts_the_control_plane() {
        assert_eq!(
            of(|text| text.replace("v1.33.5", "v1.34.2")),
            "version v1.33.5 → v1.34.2; np0: replaces 3 machines; the control plane restarts"
        );
    }

    #[test]
    fn what_is_changed_in_place_replaces_nothing() {
        assert_eq!(
            of(|text| text.replace("replicas: 2", "replicas: 3").replace("600", "900")),
            "changes HostedControlPlane, MachineDeployment/np0"
        );
    }

    #[test]
    fn an_override_is_named_where_it_comes_or_goes_or_is_all_that_changes() {
        let overridden = |text: &str, by: &str| {
            let annotation =
                format!("metadata: {{name: pay-np0, annotations: {{{OVERRIDDEN_BY}: \"{by}\"}}}}");
            text.replace("metadata: {name: pay-np0}", &annotation)
        };
        let words = |before: &str, after: &str| {
            compare(&Name::parse("pay").unwrap(), before, after).words()
        };
        let one = overridden(MANIFESTS, "drain");
        let drain = "changes MachineDeployment/np0; overrides: drain";
        assert_eq!(words(MANIFESTS, &one), drain);
        assert_eq!(words(&one, MANIFESTS), drain);
        assert_eq!(words(&one, &one.replace("600", "900")), drain, "what it says is another thing");
        let newer = one.replace("v1.33.5", "v1.34.2");
        let version =
            "version v1.33.5 → v1.34.2; np0: replaces 3 machines; the control plane restarts";
        assert_eq!(words(&one, &newer), version);
        assert_eq!(
            words(&one, &overridden(MANIFESTS, "drain, other").replace("v1.33.5", "v1.34.2")),
            format!("{version}; overrides: other")
        );
    }

    #[test]
    fn machines_of_clusters_alike_are_added_up() {
        let replaced = |machines| BTreeMap::from([("np0".to_owned(), machines)]);
        let mut one = Update { replaced: replaced(Some(3)), ..Update::default() };
        let other = Update { replaced: replaced(Some(5)), ..Update::default() };
        assert_eq!(one.kind(), other.kind());
        one.add(&other);
        assert_eq!(one.words(), "np0: replaces 8 machines");
        one.add(&Update { replaced: replaced(None), ..Update::default() });
        assert_eq!(one.words(), "np0: replaces its machines");
    }
}
