//! Override policies about workers themselves, from the fleet to the commit: whom they touch, what holds them, and what
//! they never reach.

use std::collections::BTreeMap;

use carp::diag::Code;
use carp::model::{GateReason, HoldKind, Proposal};

use crate::support::reconciled::Reconciled;
use crate::support::small;
use crate::support::world::World;

/// A policy about workers; `more` stands in its spec.
pub(crate) fn policy(name: &str, more: &str, object: &str, change: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: OverridePolicy\nmetadata:\n  name: {name}\nspec:\n  target: Worker\n{more}  \
         objects:\n  - {object}\n  changes:\n  - {change}\n"
    )
}

const RELEASE: &str =
    "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: cert-manager}";
const MACHINES: &str =
    "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureMachineTemplate}";
const CONTROL_PLANE: &str =
    "{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlane}";
const REPLICAS: &str = "{mergePatch: {spec: {values: {webhook: {replicaCount: 3}}}}}";
const WEU: &str = "  workerSelector: {names: [w-weu]}\n";

/// A policy that runs more webhooks of cert-manager.
fn webhooks(name: &str, more: &str) -> String {
    policy(name, more, RELEASE, REPLICAS)
}

const LAYER: &str = "workers/w-weu/cert-manager/cert-manager.yaml";
const MADE: &str = "control-plane/w-weu/cluster.yaml";

fn text(world: &World, path: &str) -> String {
    world.output_text(path).unwrap()
}

/// What workers are made of: all but the clusters' folders, and what lists and locks them.
pub(crate) fn of_workers(world: &World) -> BTreeMap<String, Vec<u8>> {
    let mut files = world.output_files();
    files.retain(|path, _| {
        !path.contains("/clusters/") && !path.ends_with(".lock") && !path.ends_with("sentinel.yaml")
    });
    files
}

/// The files of workers' own that a run changes.
fn changed(proposal: &Proposal) -> Vec<&str> {
    let all = proposal.changes.iter().map(|change| change.path.as_str());
    all.filter(|path| !path.ends_with(".lock") && !path.ends_with("sentinel.yaml")).collect()
}

fn codes(proposal: &Proposal) -> Vec<Code> {
    proposal.diagnostics.iter().map(|finding| finding.code).collect()
}

#[test]
fn only_the_layers_of_workers_that_a_policy_selects_are_rendered_again() {
    let mut world = World::small();
    let before = world.output_files();
    world.write("policies/o.yaml", &webhooks("o", WEU));
    let proposal = world.run();
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    assert_eq!(changed(&proposal), [LAYER]);
    assert_eq!(proposal.work.clusters_rendered, 0, "no cluster has to do with it");
    let after = text(&world, LAYER);
    assert!(after.contains("replicaCount: 3") && after.contains("carp.dev/overridden-by: o"));
    assert_eq!(after.matches("carp.dev/overridden-by").count(), 1);
    assert_eq!(changed(&world.run()), [] as [&str; 0], "and it stands");
    world.write("policies/o.yaml", &webhooks("o", ""));
    assert_eq!(changed(&world.run()), ["workers/w-eus/cert-manager/cert-manager.yaml"]);
    world.remove("policies/o.yaml");
    world.run();
    assert_eq!(world.output_files(), before, "without it all is as it was");
}

#[test]
fn the_cluster_that_a_worker_is_may_be_overridden_and_no_other() {
    let mut world = World::small();
    let clusters: BTreeMap<_, _> = world.output_files();
    let label = "{labels: {set: {cost-centre: platform}}}";
    world.write("policies/o.yaml", &policy("o", WEU, CONTROL_PLANE, label));
    assert_eq!(changed(&world.run()), [MADE]);
    assert!(text(&world, MADE).contains("cost-centre: platform"));
    // A policy about clusters never reaches a worker, and the other way round.
    let all = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment}";
    let clusters_only = policy("o", "", all, label).replace("  target: Worker\n", "");
    world.write("policies/o.yaml", &clusters_only);
    let proposal = world.run();
    assert!(changed(&proposal).iter().all(|path| path.contains("/clusters/") || *path == MADE));
    assert!(!text(&world, MADE).contains("overridden-by"));
    world.write("policies/o.yaml", &policy("o", "", all, label));
    world.run();
    for (path, before) in clusters.iter().filter(|(path, _)| path.contains("/clusters/")) {
        assert_eq!(world.output_files().get(path), Some(before), "{path}");
    }
    assert!(text(&world, MADE).contains("overridden-by: o"));
}

#[test]
fn what_fails_on_a_worker_keeps_its_last_good_layers() {
    let mut world = World::small();
    let before = of_workers(&world);
    let test = "{jsonPatch: [{op: test, path: /spec/interval, value: 7h}]}";
    world.write("policies/o.yaml", &policy("o", WEU, RELEASE, test));
    let proposal = world.run();
    assert_eq!(codes(&proposal), [Code::OverrideFailed]);
    let finding = proposal.diagnostics.iter().next().unwrap();
    let place = finding.place.as_ref().unwrap();
    assert_eq!(place.file, "policies/o.yaml");
    assert_eq!(place.field.as_ref().unwrap().to_string(), "spec.changes[0].jsonPatch[0].value");
    assert!(finding.message.ends_with("(worker w-weu)"), "{}", finding.message);
    let gates: Vec<_> =
        proposal.gates.iter().map(|gate| (gate.name.as_str(), gate.reason)).collect();
    assert_eq!(gates, [("w-weu", GateReason::CheckFailed)]);
    assert_eq!(of_workers(&world), before);
}

#[test]
fn a_policy_about_workers_that_breaks_is_not_one_that_is_gone() {
    let mut world = World::small();
    let sound = webhooks("o", WEU);
    world.write("policies/o.yaml", &sound);
    world.run();
    let before = text(&world, LAYER);
    let pinned =
        small::worker("w-weu", "westeurope", 4) + "  components: {cert-manager: v1.18.0}\n";
    for (how, broken) in [
        ("a field is unknown", sound.replace("changes:", "chnages:")),
        ("its target has a slip", sound.replace("target: Worker", "target: Wroker")),
        ("its target is called otherwise", sound.replace("target:", "tarrget:")),
        ("it is no YAML", sound.replace("spec:", "spec: [")),
        ("its kind has a slip", sound.replace("OverridePolicy", "OverridePolcy")),
        ("it is empty", "\n".to_owned()),
        (
            "it selects clusters, too",
            sound.replace("  objects:", "  clusterSelector: {names: [alpha]}\n  objects:"),
        ),
        ("its object has rights", sound.replace(RELEASE, "{apiVersion: v1, kind: Secret}")),
        ("it is there twice", format!("{sound}---\n{sound}")),
    ] {
        let mut world = world.clone();
        world.write("policies/o.yaml", &broken);
        world.write("fleet/workers/w-weu.yaml", &pinned);
        let proposal = world.run();
        assert!(proposal.diagnostics.has_errors(), "{how}");
        assert_eq!(text(&world, LAYER), before, "{how}");
        let held = |gate: &&carp::model::Gate| gate.name.as_str() == "w-weu";
        let reasons: Vec<_> = proposal.gates.iter().filter(held).map(|gate| gate.reason).collect();
        assert_eq!(reasons, [GateReason::OverridesNotLoaded], "{how}");
        world.write("policies/o.yaml", &sound);
        world.run();
        let after = text(&world, LAYER);
        assert!(after.contains("v1.18.0") && after.contains("overridden-by: o"), "{how}");
    }
    // Which workers it cannot select go on, and so do clusters.
    world.write("policies/o.yaml", &sound.replace("changes:\n", "changes:\n  - {}\n"));
    let other = small::worker("w-eus", "eastus", 4) + "  components: {cert-manager: v1.18.0}\n";
    world.write("fleet/workers/w-eus.yaml", &other);
    let paused = small::cluster("alpha", "westeurope") + "  paused: true\n";
    world.write("fleet/clusters/alpha.yaml", &paused);
    let proposal = world.run();
    assert!(
        proposal.gates.iter().all(|gate| gate.name.as_str() == "w-weu"),
        "{:?}",
        proposal.gates
    );
    let files = changed(&proposal);
    assert!(files.contains(&"workers/w-eus/cert-manager/cert-manager.yaml"), "{files:?}");
    assert!(files.contains(&"workers/w-weu/clusters/alpha/cluster.yaml"), "{files:?}");
}

#[test]
fn a_new_worker_waits_for_a_policy_that_does_not_load() {
    let mut world = World::small();
    world.write("policies/o.yaml", &webhooks("o", "").replace("mergePatch", "mergPatch"));
    world.write("fleet/workers/w-neu.yaml", &small::worker("w-neu", "northeurope", 4));
    let proposal = world.run();
    assert!(world.output_text("control-plane/w-neu/cluster.yaml").is_none(), "it is not made yet");
    assert!(world.output_text("workers/w-neu/cert-manager/cert-manager.yaml").is_none());
    assert_eq!(proposal.gates.len(), 1, "it is told once: {:?}", proposal.gates);
    world.write("policies/o.yaml", &webhooks("o", ""));
    world.run();
    assert!(world.output_text("control-plane/w-neu/cluster.yaml").is_some());
    let layer = text(&world, "workers/w-neu/cert-manager/cert-manager.yaml");
    assert!(layer.contains("overridden-by: o"));
}

#[test]
fn what_carp_makes_itself_is_not_seen_by_any_override() {
    let mut world = World::small();
    // Sources of the components are seen; that of the fleet stands beside what carp makes, and is not.
    let source = "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository}";
    let spaces = "{apiVersion: v1, kind: Namespace}";
    let label = "{labels: {set: {cost-centre: platform}}}";
    let both = policy("o", "", source, label) + "---\n" + &policy("p", "", spaces, label);
    world.write("policies/o.yaml", &both);
    let proposal = world.run();
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    assert!(text(&world, "workers/w-weu/providers/providers.yaml").contains("overridden-by: o"));
    for (path, bytes) in of_workers(&world) {
        let name = path.rsplit('/').next().unwrap();
        let is_carps =
            name == "layers.yaml" || name == "bootstrap.yaml" || path.contains("/agent/");
        let text = String::from_utf8(bytes).unwrap();
        assert!(!is_carps || !text.contains("overridden-by"), "{path}");
    }
}

#[test]
fn machines_of_a_worker_that_an_override_replaces_are_counted() {
    let mut world = World::small();
    world.edit("carp.yaml", "spec:\n", "spec:\n  guards: {maxReplacedMachines: 1}\n");
    world.run();
    let large = "{mergePatch: {spec: {template: {spec: {osDisk: {diskSizeGB: 512}}}}}}";
    let before = of_workers(&world);
    world.write("policies/o.yaml", &policy("o", WEU, MACHINES, large));
    let proposal = world.run();
    let held = proposal.plan.holds.iter().find(|hold| hold.kind == HoldKind::MachinesReplaced);
    assert!(held.is_some(), "{:?}", proposal.plan.holds);
    assert_eq!(of_workers(&world), before);
}

#[test]
fn a_lost_lock_of_a_worker_is_rebuilt_with_its_overrides() {
    let mut world = World::small();
    let label = "{labels: {set: {a: b}}}";
    let both = webhooks("o", "") + "---\n" + &policy("p", "", CONTROL_PLANE, label);
    world.write("policies/o.yaml", &both);
    world.run();
    let before = of_workers(&world);
    world.remove_by_hand("workers/w-weu/carp.lock");
    world.remove_by_hand("control-plane/fleet.lock");
    world.run();
    world.run();
    assert_eq!(of_workers(&world), before);
}

#[test]
fn what_plan_says_of_a_workers_overrides_is_what_reconcile_commits() {
    let fleet = Reconciled::of(&small::files());
    fleet.write("policies/o.yaml", webhooks("o", WEU).as_bytes());
    fleet.commit("an override");
    let json: serde_json::Value =
        serde_json::from_str(&fleet.carp(&["plan", "--output", "json"]).out).unwrap();
    assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
    assert_eq!(json["tree"], fleet.output_tree());
    let explained = fleet.carp(&["explain", "worker/w-weu"]).out;
    let line = "override: o (policies/o.yaml) changes HelmRelease cert-manager";
    assert!(explained.contains(line), "{explained}");
    assert!(!fleet.carp(&["explain", "worker/w-eus"]).out.contains("override:"));
}

#[test]
fn what_selects_or_changes_nothing_of_workers_is_told_by_validate() {
    let fleet = Reconciled::of(&small::files());
    let told = |text: &str| {
        fleet.write("policies/o.yaml", text.as_bytes());
        let ran = fleet.carp(&["validate"]);
        assert_eq!(ran.exit, 0, "{}", ran.out);
        ran.out
    };
    assert!(told(&webhooks("o", "")).contains("no errors, no warnings"));
    let slip = told(&webhooks("o", "  workerSelector: {names: [w-wee]}\n"));
    assert!(slip.contains("`o` selects no worker"), "{slip}");
    assert!(slip.contains("did you mean the worker `w-weu`?"), "{slip}");
    let other = told(&webhooks("o", "").replace("name: cert-manager", "name: cert-manger"));
    assert!(other.contains("policies/o.yaml:8:6"), "{other}");
    assert!(other.contains("selects no object of the 2 workers"), "{other}");
    let same = policy("o", "", RELEASE, "{mergePatch: {spec: {interval: 1h}}}");
    assert!(told(&same).contains("this changes nothing of the 2 workers"));
    let both = webhooks("o", "") + "---\n" + &webhooks("p", WEU);
    let both = told(&both);
    assert!(both.contains("`o` and `p` both change") && both.contains("for `w-weu`"), "{both}");
}
