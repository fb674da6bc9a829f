//! The definitions of a fleet, from `crds/` to the commit: what they hold, what they leave as it is, and who is told.

use std::collections::BTreeMap;

use carp::diag::Code;
use carp::model::{GateReason, Proposal};

use crate::support::world::World;

const CLUSTERS: &str = "crds/clusters.cluster.x-k8s.io.yaml";
const POOLS: &str = "crds/capi/machinedeployments.cluster.x-k8s.io.yaml";

/// A definition of Cluster API's, whose spec is of this schema.
fn definition(plural: &str, kind: &str, spec: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
         {plural}.cluster.x-k8s.io}}\nspec:\n  group: cluster.x-k8s.io\n  names: {{kind: {kind}, plural: {plural}}}\n  \
         scope: Namespaced\n  versions:\n  - name: v1beta2\n    served: true\n    storage: true\n    schema:\n      \
         openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}\n"
    )
}

fn clusters(spec: &str) -> String {
    definition("clusters", "Cluster", spec)
}

/// What takes every Cluster.
const ANY: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
/// What takes none that carp makes.
const NONE: &str = "{type: object, properties: {other: {type: string}}}";

fn refused(proposal: &Proposal) -> Vec<(String, String)> {
    let found = proposal.diagnostics.iter().filter(|found| found.code == Code::SchemaRefused);
    let told = found.map(|found| {
        let place = found.place.as_ref().map(|place| place.file.clone());
        (place.unwrap_or_default(), found.message.clone())
    });
    told.collect()
}

/// The output without what only carp reads.
fn manifests(world: &World) -> BTreeMap<String, Vec<u8>> {
    let all = world.output_files().into_iter();
    all.filter(|(path, _)| path.ends_with(".yaml") && !path.ends_with("sentinel.yaml")).collect()
}

#[test]
fn what_they_find_right_stays_as_it_is_and_is_looked_at_once() {
    let mut world = World::small();
    let before = manifests(&world);
    world.write(CLUSTERS, &clusters(ANY));
    let proposal = world.settle_at(1);
    assert!(proposal.diagnostics.is_empty(), "{:?}", proposal.diagnostics);
    assert!(proposal.work.clusters_rendered > 0, "every folder is looked at");
    assert_eq!(manifests(&world), before, "the definitions change no manifest");
    let again = world.propose_afresh();
    assert_eq!(again.work.clusters_rendered, 0, "what stands was checked");
    world.write(CLUSTERS, &format!("# Another release.\n{}", clusters(ANY)));
    assert!(world.settle_at(2).work.clusters_rendered > 0, "other definitions look again");
    world.remove(CLUSTERS);
    world.settle_at(3);
    assert_eq!(world.output_files(), {
        let mut plain = World::small();
        plain.settle_at(3);
        plain.output_files()
    });
}

#[test]
fn an_unchanged_fleet_is_held_by_what_they_do_not_take_and_keeps_what_it_has() {
    let mut world = World::small();
    let before = manifests(&world);
    world.write(CLUSTERS, &clusters(NONE));
    let proposal = world.settle_at(1);
    let told = refused(&proposal);
    assert!(!told.is_empty());
    for (place, message) in &told {
        assert!(place.starts_with("templates/"), "{place}");
        assert!(
            message.starts_with("Cluster ") && message.contains("it has no field `spec."),
            "{message}"
        );
    }
    assert!(
        proposal.gates.iter().any(|gate| gate.reason == GateReason::CheckFailed),
        "{:?}",
        proposal.gates
    );
    assert_eq!(manifests(&world), before, "the last good output stays");
    world.write(CLUSTERS, &clusters(ANY));
    assert!(world.settle_at(2).diagnostics.is_empty());
}

#[test]
fn an_override_that_they_do_not_take_is_told_at_its_policy() {
    let mut world = World::small();
    let pools = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {minReadySeconds: {type: string}}}";
    world.write(POOLS, &definition("machinedeployments", "MachineDeployment", pools));
    assert!(world.settle_at(1).diagnostics.is_empty());
    let before = manifests(&world);
    world.write(
        "policies/o.yaml",
        "apiVersion: carp.dev/v1alpha1\nkind: OverridePolicy\nmetadata:\n  name: o\nspec:\n  clusterSelector: {names: \
         [alpha]}\n  objects:\n  - {apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment}\n  changes:\n  - \
         mergePatch: {spec: {minReadySeconds: 5}}\n",
    );
    let told = refused(&world.settle_at(2));
    assert!(!told.is_empty());
    for (place, message) in &told {
        assert_eq!(place, "policies/o.yaml");
        assert!(
            message
                .contains("`spec.minReadySeconds`: 5 is not of type \"string\", as `o` changes it"),
            "{message}"
        );
    }
    assert_eq!(manifests(&world), before);
}

#[test]
fn a_definition_that_cannot_be_read_holds_its_kind_and_no_other() {
    let mut world = World::small();
    let before = manifests(&world);
    world.write("crds/machinepools.cluster.x-k8s.io.yaml", "a: [");
    world.write("crds/README.md", "What is this?");
    assert!(world.settle_at(1).diagnostics.is_empty(), "nobody makes one");
    world.write(CLUSTERS, "a: [");
    let told = refused(&world.settle_at(2));
    assert!(
        told[0]
            .1
            .contains("its definition crds/clusters.cluster.x-k8s.io.yaml cannot be read: line 1"),
        "{told:?}"
    );
    assert_eq!(manifests(&world), before);
    world.remove(CLUSTERS).write("crds/clusters.yaml", &clusters(NONE));
    let proposal = world.settle_at(3);
    let codes: Vec<_> = proposal.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::CrdNotRead], "it holds nothing");
}

#[test]
fn definitions_that_would_take_for_ever_hold_what_is_theirs() {
    let mut world = World::small();
    let before = manifests(&world);
    let deep = (0..11).fold("1".to_owned(), |inner, n| format!("self.map(v{n}, {inner})"));
    let grown = (0..30).fold("x".to_owned(), |text, _| format!("[{text}].map(x, x + x)[0]"));
    for rule in [
        format!("{deep}.size() > 0"),
        "lists.range(2000000000).size() > 0".to_owned(),
        format!("['aaaaaaaa'].map(x, {grown}).size() > 0"),
        "self.kind.matches('([a-z]{1000}){1000}')".to_owned(),
        "self.kind.matches(self.kind)".to_owned(),
    ] {
        let rules = format!("x-kubernetes-validations: [{{rule: \"{rule}\"}}]");
        world.write(CLUSTERS, &clusters(&ANY.replace("{type", &format!("{{{rules}, type"))));
        let told = refused(&world.propose_afresh());
        assert!(
            !told.is_empty() && told.iter().all(|(_, said)| said.contains("longer")),
            "{rule}: {told:?}"
        );
    }
    assert_eq!(manifests(&world), before);
    let fetched =
        clusters("{$ref: \"file:///etc/passwd\", allOf: [{$ref: \"http://127.0.0.1:1/x\"}]}");
    world.write(CLUSTERS, &fetched);
    assert!(world.settle_at(1).diagnostics.is_empty(), "nothing is fetched");
}

#[test]
fn a_tenant_reaches_no_definition() {
    let mut world = World::small();
    world.write("fleet/crds/clusters.cluster.x-k8s.io.yaml", &clusters(NONE));
    assert!(refused(&world.propose_afresh()).is_empty(), "the folder is that of the fleet's root");
}
