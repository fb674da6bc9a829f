//! Override policies from the fleet to the commit: whom they touch, what holds them, and what they never do.

use carp::diag::Code;
use carp::model::{Digest, GateReason, HoldKind, Proposal};

use crate::support::people::{carp, printed};
use crate::support::reconciled::Reconciled;
use crate::support::small;
use crate::support::world::World;
use crate::support::write;

/// A policy of one change of objects of a kind; `more` stands in its spec.
fn policy(name: &str, more: &str, object: &str, change: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: OverridePolicy\nmetadata:\n  name: {name}\nspec:\n{more}  objects:\n  - \
         {object}\n  changes:\n  - {change}\n"
    )
}

const MACHINES: &str =
    "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureMachineTemplate}";
const POOLS: &str = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment}";
const CLUSTERS: &str = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster}";
const NETWORK: &str = "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy}";

/// A policy that labels every `NetworkPolicy` of the clusters that `more` selects.
fn label(name: &str, more: &str, value: &str) -> String {
    policy(name, more, NETWORK, &format!("{{labels: {{set: {{by: {value}}}}}}}"))
}

fn named(clusters: &str) -> String {
    format!("  clusterSelector: {{names: [{clusters}]}}\n")
}

fn file(cluster: &str) -> String {
    let worker = if ["alpha", "bravo", "echo"].contains(&cluster) { "w-weu" } else { "w-eus" };
    format!("workers/{worker}/clusters/{cluster}/cluster.yaml")
}

fn text(world: &World, cluster: &str) -> String {
    world.output_text(&file(cluster)).unwrap()
}

/// The clusters whose manifests a run changes.
fn changed(proposal: &Proposal) -> Vec<&str> {
    let all = proposal.changes.iter();
    let folders = all.filter_map(|change| change.path.strip_suffix("/cluster.yaml"));
    folders.filter_map(|folder| folder.rsplit('/').next()).collect()
}

fn codes(proposal: &Proposal) -> Vec<Code> {
    proposal.diagnostics.iter().map(|finding| finding.code).collect()
}

#[test]
fn only_the_clusters_that_a_policy_selects_are_rendered_again() {
    let mut world = World::small();
    let before = world.output_files();
    world.write("policies/o.yaml", &label("o", &named("alpha, delta"), "me"));
    let proposal = world.run();
    assert_eq!(changed(&proposal), ["delta", "alpha"]);
    assert_eq!(proposal.work.clusters_rendered, 2);
    for cluster in ["bravo", "charlie", "echo", "foxtrot"] {
        assert_eq!(before[&file(cluster)], text(&world, cluster).into_bytes());
    }
    assert_eq!(world.run().work.clusters_rendered, 0, "and it stands");
    // On a worker, and not on the other.
    let on = "  workerSelector: {names: [w-eus]}\n";
    world.write("policies/o.yaml", &label("o", on, "me"));
    assert_eq!(changed(&world.run()), ["charlie", "foxtrot", "alpha"], "delta has it already");
    world.remove("policies/o.yaml");
    assert_eq!(changed(&world.run()), ["charlie", "delta", "foxtrot"]);
    assert_eq!(world.output_files(), before, "without it all is as it was");
}

#[test]
fn whom_it_selects_is_no_part_of_what_it_does() {
    let mut world = World::small();
    world.write("policies/o.yaml", &label("o", &named("alpha"), "me"));
    world.run();
    world.write("policies/o.yaml", &label("o", &named("alpha, bravo"), "me"));
    let proposal = world.run();
    assert_eq!(changed(&proposal), ["bravo"]);
    assert_eq!(proposal.work.clusters_rendered, 1);
}

#[test]
fn one_that_fails_is_one_and_keeps_its_last_good_folder() {
    let mut world = World::small();
    let before = text(&world, "alpha");
    let test = "{jsonPatch: [{op: test, path: /metadata/name, value: bravo}, {op: add, path: /spec/x, value: {}}]}";
    world.write("policies/o.yaml", &policy("o", &named("alpha, bravo"), NETWORK, test));
    let proposal = world.run();
    assert_eq!(text(&world, "alpha"), before);
    assert!(text(&world, "bravo").contains("overridden-by: o"));
    assert_eq!(codes(&proposal), [Code::OverrideFailed]);
    let finding = proposal.diagnostics.iter().next().unwrap();
    let place = finding.place.as_ref().unwrap();
    assert_eq!(place.file, "policies/o.yaml");
    assert_eq!(place.field.as_ref().unwrap().to_string(), "spec.changes[0].jsonPatch[0].value");
    assert!(finding.message.ends_with("(cluster alpha)"), "{}", finding.message);
    let gates: Vec<_> =
        proposal.gates.iter().map(|gate| (gate.name.as_str(), gate.reason)).collect();
    assert_eq!(gates, [("alpha", GateReason::CheckFailed)]);
}

#[test]
fn what_may_not_change_is_told_at_the_policy_that_changes_it() {
    let mut world = World::small();
    let object = "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureCluster}";
    let quiet = policy("early", &named("alpha"), object, "{labels: {set: {by: me}}}");
    world.write("policies/early.yaml", &quiet);
    let moved = "{mergePatch: {spec: {location: northeurope}}}";
    world.write("policies/late.yaml", &policy("late", &named("alpha"), object, moved));
    let before = text(&world, "alpha");
    let proposal = world.run();
    assert_eq!(codes(&proposal), [Code::ImmutableField]);
    let finding = proposal.diagnostics.iter().next().unwrap();
    assert_eq!(finding.place.as_ref().unwrap().file, "policies/late.yaml");
    assert!(finding.message.contains("as `late` changes it"), "{}", finding.message);
    assert_eq!(text(&world, "alpha"), before);
}

#[test]
fn what_many_clusters_have_in_common_is_told_once() {
    let mut world = World::small();
    let remove = "{jsonPatch: [{op: remove, path: /spec/absent}]}";
    world.write("policies/o.yaml", &policy("o", "", NETWORK, remove));
    let proposal = world.run();
    let told: Vec<_> = proposal.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`o` cannot change NetworkPolicy alpha: there is no `/spec/absent` (cluster alpha and 5 more)"
        ]
    );
    assert_eq!(changed(&proposal), [] as [&str; 0]);
}

#[test]
fn an_override_escapes_nowhere() {
    let world = World::small();
    let before = world.output_files();
    for (object, change, code) in [
        (
            CLUSTERS,
            "{jsonPatch: [{op: copy, from: /spec, path: /metadata/labels/x}]}",
            Code::OverrideRefused,
        ),
        (
            POOLS,
            "{mergePatch: {spec: {template: {spec: {version: v1.35.0}}}}}",
            Code::OverrideRefused,
        ),
        (POOLS, "{mergePatch: {spec: {clusterName: bravo}}}", Code::RenderedInvalid),
        (
            MACHINES,
            "{mergePatch: {spec: {template: {spec: {identity: None}}}}}",
            Code::RenderedInvalid,
        ),
        (
            "{apiVersion: v1, kind: ConfigMap}",
            "{mergePatch: {data: {key: \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\"}}}",
            Code::SecretInOutput,
        ),
    ] {
        let mut world = world.clone();
        world.write("policies/o.yaml", &policy("o", "", object, change));
        let proposal = world.run();
        assert!(codes(&proposal).contains(&code), "{change}: {:#?}", proposal.diagnostics);
        let after = world.output_files();
        let same = |path: &str| before.get(path) == after.get(path);
        assert!(
            before.keys().filter(|path| path.contains("/clusters/")).all(|path| same(path)),
            "{change}"
        );
        let placed = proposal
            .diagnostics
            .iter()
            .all(|d| d.place.as_ref().is_some_and(|place| place.file == "policies/o.yaml"));
        assert!(placed, "{:#?}", proposal.diagnostics);
    }
}

#[test]
fn machines_that_an_override_replaces_are_counted() {
    let mut world = World::small();
    let large = "{mergePatch: {spec: {template: {spec: {osDisk: {diskSizeGB: 512}}}}}}";
    world.write("policies/o.yaml", &policy("o", "", MACHINES, large));
    let proposal = world.run();
    let held = proposal.plan.holds.iter().find(|hold| hold.kind == HoldKind::MachinesReplaced);
    let held = held.expect("12 machines are too many at once");
    assert_eq!(held.names.len(), 6);
    assert_eq!(changed(&proposal), [] as [&str; 0]);
    // Of one cluster they are few enough: its machines get templates of another name.
    let mut world = World::small();
    let machine = |text: &str| {
        let at = text.split("kind: AzureMachineTemplate\n").nth(1).unwrap();
        at.split("name: ").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    let before = machine(&text(&world, "alpha"));
    world.write("policies/o.yaml", &policy("o", &named("alpha"), MACHINES, large));
    assert_eq!(changed(&world.run()), ["alpha"]);
    let after = text(&world, "alpha");
    assert!(after.contains("diskSizeGB: 512") && !after.contains(&before), "{after}");
    assert_ne!(machine(&after), before);
}

#[test]
fn a_policy_that_breaks_is_not_a_policy_that_is_gone() {
    let mut world = World::small();
    let sound = label("o", &named("alpha"), "me");
    world.write("policies/o.yaml", &sound);
    world.run();
    let before = text(&world, "alpha");
    for (how, broken) in [
        ("a field is unknown", sound.replace("changes:", "chnages:")),
        ("it is no YAML", sound.replace("spec:", "spec: [")),
        ("its kind has a slip", sound.replace("OverridePolicy", "OverridePolcy")),
        ("its kind is nonsense", sound.replace("OverridePolicy", "Nonsense")),
        ("it has no kind", sound.replace("kind: OverridePolicy\n", "")),
        ("it has no name", sound.replace("  name: o\n", "")),
        ("it is another API", sound.replace("carp.dev/v1alpha1", "carp.dev/v9")),
        ("it is a list", "- a\n".to_owned()),
        ("it is empty", "\n".to_owned()),
        ("it is an unresolved merge", format!("<<<<<<< mine\n{sound}>>>>>>> theirs\n")),
        ("it is in an encoding of its own", format!("\u{0}{sound}")),
        ("it is about another kind", sound.replace("NetworkPolicy", "NetworkPolicies")),
        ("it is there twice", format!("{sound}---\n{sound}")),
    ] {
        let mut world = world.clone();
        world.write("policies/o.yaml", &broken);
        let paused = small::cluster("alpha", "westeurope") + "  paused: true\n";
        world.write("fleet/clusters/alpha.yaml", &paused);
        let proposal = world.run();
        assert!(proposal.diagnostics.has_errors(), "{how}");
        assert_eq!(text(&world, "alpha"), before, "{how}");
        let reason = proposal
            .gates
            .iter()
            .find(|gate| gate.name.as_str() == "alpha")
            .map(|gate| gate.reason);
        assert_eq!(reason, Some(GateReason::OverridesNotLoaded), "{how}");
        // And once it loads again, all that waited comes.
        world.write("policies/o.yaml", &sound);
        world.run();
        let after = text(&world, "alpha");
        assert!(after.contains("paused: true") && after.contains("overridden-by: o"), "{how}");
    }
    // Whom it cannot select goes on.
    world.write("policies/o.yaml", &sound.replace("changes:\n", "changes:\n  - {}\n"));
    let paused = small::cluster("bravo", "westeurope") + "  paused: true\n";
    world.write("fleet/clusters/bravo.yaml", &paused);
    assert_eq!(changed(&world.run()), ["bravo"]);
}

#[test]
fn a_new_cluster_waits_for_a_policy_that_does_not_load() {
    let mut world = World::small();
    world.write("policies/o.yaml", &label("o", "", "me").replace("labels:", "lables:"));
    world.write("fleet/clusters/golf.yaml", &small::cluster("golf", "eastus"));
    let proposal = world.run();
    assert_eq!(world.worker_of("golf").as_deref(), Some("w-eus"), "it has its place");
    assert!(world.output_text(&file("golf")).is_none(), "and nothing is applied yet");
    assert!(proposal.gates.iter().any(|gate| gate.name.as_str() == "golf"));
    world.write("policies/o.yaml", &label("o", "", "me"));
    world.run();
    assert!(text(&world, "golf").contains("overridden-by: o"));
}

#[test]
fn labels_of_a_worker_that_does_not_load_are_not_guessed() {
    let mut world = World::small();
    let east = small::worker("w-eus", "eastus", 4)
        .replace("  name: w-eus\n", "  name: w-eus\n  labels: {zone: a}\n");
    world.write("fleet/workers/w-eus.yaml", &east);
    world.run();
    world.write(
        "policies/o.yaml",
        &label("o", "  workerSelector: {matchLabels: {zone: a}}\n", "me"),
    );
    assert_eq!(changed(&world.run()), ["charlie", "delta", "foxtrot"]);
    let before = text(&world, "charlie");
    world.write("fleet/workers/w-eus.yaml", &east.replace("spec:", "spec: ["));
    let proposal = world.run();
    assert_eq!(text(&world, "charlie"), before);
    let reasons: Vec<_> =
        proposal.gates.iter().filter(|gate| gate.name.as_str() == "charlie").collect();
    assert!(
        reasons.iter().all(|gate| gate.reason == GateReason::OverridesNotLoaded),
        "{reasons:?}"
    );
    assert!(!reasons.is_empty());
}

#[test]
fn a_lost_lock_is_rebuilt_with_its_overrides() {
    let mut world = World::small();
    world.write("policies/o.yaml", &label("o", "", "me"));
    world.run();
    let before = world.output_files();
    world.remove_by_hand("workers/w-weu/carp.lock");
    world.run();
    world.run();
    let after = world.output_files();
    for (path, text) in before.iter().filter(|(path, _)| path.contains("/clusters/")) {
        assert_eq!(after.get(path), Some(text), "{path}");
    }
}

#[test]
fn what_plan_says_of_overrides_is_what_reconcile_commits() {
    let fleet = Reconciled::of(&small::files());
    fleet.write("policies/o.yaml", label("o", "", "me").as_bytes());
    fleet.commit("an override");
    let planned = fleet.carp(&["plan"]);
    assert!(planned.out.contains("changes NetworkPolicy; overrides: o"), "{}", planned.out);
    let json: serde_json::Value =
        serde_json::from_str(&fleet.carp(&["plan", "--output", "json"]).out).unwrap();
    assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
    assert_eq!(json["tree"], fleet.output_tree());
    let explained = fleet.carp(&["explain", "cluster/alpha"]).out;
    assert!(
        explained.contains("override: o (policies/o.yaml) changes NetworkPolicy alpha"),
        "{explained}"
    );
}

#[test]
fn what_selects_or_changes_nothing_is_told_by_validate() {
    let fleet = Reconciled::of(&small::files());
    let told = |text: &str| {
        fleet.write("policies/o.yaml", text.as_bytes());
        let ran = fleet.carp(&["validate"]);
        assert_eq!(ran.exit, 0, "{}", ran.out);
        ran.out
    };
    assert!(told(&label("o", "", "me")).contains("no errors, no warnings"));
    assert!(told(&label("o", &named("alpa"), "me")).contains("did you mean the cluster `alpha`?"));
    let elsewhere = "  workerSelector: {names: [w-north]}\n";
    assert!(told(&label("o", elsewhere, "me")).contains("`o` selects no worker"));
    let other = label("o", "", "me").replace("NetworkPolicy}", "NetworkPolicy, name: other}");
    let other = told(&other);
    assert!(
        other.contains("policies/o.yaml:7:6")
            && other.contains("selects no object of the 6 clusters"),
        "{other}"
    );
    let same = policy("o", "", POOLS, "{mergePatch: {spec: {replicas: 2}}}");
    assert!(told(&same).contains("this changes nothing of the 6 clusters"));
}

#[test]
fn a_key_without_overrides_is_the_key_of_before() {
    // What is rendered of a fleet without overrides is not rendered again by a carp that knows of them.
    let mut world = World::small();
    let key = |world: &World| {
        let lock = world.output_text("workers/w-weu/carp.lock").unwrap();
        let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
        lock["clusters"]["alpha"]["renderKey"].as_str().unwrap().parse::<Digest>().unwrap()
    };
    let before = key(&world);
    world.write("policies/o.yaml", &label("o", &named("bravo"), "me"));
    world.run();
    assert_eq!(key(&world), before);
    world.write("policies/o.yaml", &label("o", &named("alpha"), "me"));
    world.run();
    assert_ne!(key(&world), before);
}

/// The picture of what brings a worker and its clusters up is one of what is committed: a link that a policy breaks is missing.
#[test]
fn what_a_policy_changes_is_shown_in_what_brings_clusters_up() {
    let dir = tempfile::tempdir().unwrap();
    let picture = |selector: &str| {
        let mut world = World::new(small::files());
        let chart = "{apiVersion: addons.cluster.x-k8s.io/v1alpha1, kind: HelmChartProxy}";
        let change = format!("{{mergePatch: {{spec: {{{selector}}}}}}}");
        world.write("policies/o.yaml", &policy("o", &named("alpha"), chart, &change));
        let files =
            world.files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes()));
        write(&files.collect(), dir.path());
        let said = carp(dir.path(), &["explain", "worker/w-weu", "--bootstrap"]).output().unwrap();
        (said.status.success(), printed(&said))
    };
    let missing = "missing: its clusterSelector selects no Cluster";
    let (comes_up, whole) = picture("reconcileStrategy: InstallOnce");
    assert!(
        comes_up && whole.contains("alpha: pod network") && !whole.contains("missing: "),
        "{whole}"
    );
    let (comes_up, broken) = picture("clusterSelector: {matchLabels: {no: one}}");
    assert!(!comes_up && broken.contains(missing), "{broken}");
}
