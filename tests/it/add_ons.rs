//! Which add-ons carp brings into clusters, and which the fleet does: what is left out, what comes instead, from where,
//! and what a change of either does.

use carp::diag::Code;
use carp::model::api::{Parameters, Sources};
use carp::model::{Fleet, GateReason, HoldKind};
use carp::render::{self, Templates};
use serde_json::{Value, json};

use crate::support::world::World;
use crate::support::{documents, fleet, small};

const CILIUM: &str = "{name: cilium, repoURL: 'https://helm.cilium.io', chartName: cilium, version: 1.18.2, \
                      namespace: kube-system}";
const CLUSTER: &str = "workers/wk-weu-1/clusters/pay-eu/";
const WORKER: &str = "control-plane/wk-weu-1/";

fn said(fleet: &mut Fleet, text: &str) {
    let said: Parameters = serde_saphyr::from_str(text).unwrap();
    fleet.clusters.values_mut().for_each(|c| c.spec.parameters = said.clone());
    fleet.workers.values_mut().for_each(|w| w.spec.parameters = said.clone());
}

/// The objects below a folder of a fleet that says this.
fn below(mut fleet: Fleet, text: &str, folder: &str) -> Vec<Value> {
    said(&mut fleet, text);
    let all = documents(&fleet::tree(&fleet, "")).into_iter();
    all.filter(|(path, _)| path.starts_with(folder)).map(|(_, object)| object).collect()
}

fn names(objects: &[Value], kind: &str) -> Vec<String> {
    let of_kind = objects.iter().filter(|object| object["kind"] == kind);
    let mut names: Vec<_> =
        of_kind.map(|o| o["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn what_is_the_fleets_own_is_left_out_and_nothing_else() {
    for (text, charts, labels) in [
        ("{}", vec!["azuredisk-csi", "calico", "cloud-provider-azure"], 3),
        ("{addOns: {cni: own}}", vec!["azuredisk-csi", "cloud-provider-azure"], 2),
        ("{addOns: {ccm: own}}", vec!["azuredisk-csi", "calico"], 2),
        ("{addOns: {csi: own}}", vec!["calico", "cloud-provider-azure"], 2),
        ("{addOns: {cni: own, ccm: own, csi: own}}", vec![], 0),
    ] {
        for folder in [CLUSTER, WORKER] {
            let objects = below(fleet::plain(), text, folder);
            assert_eq!(names(&objects, "HelmChartProxy"), charts, "{folder}: {text}");
            let cluster = objects
                .iter()
                .find(|o| o["kind"] == "Cluster")
                .unwrap_or_else(|| panic!("{folder}: {text}"));
            let own = cluster["metadata"]["labels"].as_object().unwrap();
            let own = own.keys().filter(|key| !key.starts_with("carp.dev/"));
            assert_eq!(own.count(), labels, "{folder}: {text}");
        }
        let own = text.contains("csi: own");
        let cluster = below(fleet::plain(), text, CLUSTER);
        let class = names(&cluster, "ConfigMap").contains(&"storage-class".to_owned());
        assert_eq!(class, !own, "{text}: the StorageClass comes with its driver");
        let layers = below(fleet::plain(), text, "workers/wk-weu-1/");
        assert_eq!(names(&layers, "StorageClass").is_empty(), own, "{text}: a worker's too");
    }
}

#[test]
fn aks_leaves_out_its_network() {
    let profile = |text: &str| {
        let objects = below(fleet::of("aks"), text, CLUSTER);
        let aks = objects.iter().find(|o| o["kind"] == "AzureASOManagedControlPlane").unwrap();
        let profile = aks["spec"]["resources"][0]["spec"]["networkProfile"].clone();
        let names = ["networkPlugin", "networkPluginMode", "networkDataplane", "networkPolicy"];
        names.map(|name| profile[name].clone())
    };
    assert_eq!(profile("{}"), [json!("azure"), json!("overlay"), json!("cilium"), json!("cilium")]);
    assert_eq!(
        profile("{addOns: {cni: own}}"),
        [json!("none"), Value::Null, Value::Null, Value::Null]
    );
}

#[test]
fn a_chart_is_a_release_of_its_name_in_this_cluster_alone() {
    let text = format!(
        "{{helmCharts: [{CILIUM}, {{name: ours, repoURL: 'oci://r.example.com/charts', chartName: app, version: 2.0.0, \
         namespace: team, credentials: {{name: registry, key: config.json}}, values: \"a: '{{{{ $x }}}}'\\n\"}}]}}"
    );
    for (base, folder, cluster) in [
        (fleet::plain(), CLUSTER, "pay-eu"),
        (fleet::plain(), WORKER, "wk-weu-1"),
        (fleet::of("aks"), CLUSTER, "pay-eu"),
        (fleet::of("aks"), WORKER, "wk-weu-1"),
    ] {
        let objects = below(base, &text, folder);
        let named = |name: &str| {
            let named = objects.iter().find(|o| o["metadata"]["name"] == name);
            named.cloned().unwrap_or_else(|| panic!("{folder}: {name}"))
        };
        let selector = json!({"matchLabels": {"carp.dev/cluster": cluster}});
        let cilium = named("cilium");
        assert_eq!(cilium["metadata"]["namespace"], cluster);
        assert_eq!(
            cilium["spec"],
            json!({"clusterSelector": selector, "repoURL": "https://helm.cilium.io", "chartName": "cilium",
                "version": "1.18.2", "releaseName": "cilium", "namespace": "kube-system"})
        );
        let own = named("ours");
        let secret =
            json!({"secret": {"name": "registry", "namespace": cluster}, "key": "config.json"});
        assert_eq!(own["spec"]["credentials"], secret);
        // The add-on provider takes the values for a template of Go's, which prints what opens one.
        assert_eq!(own["spec"]["valuesTemplate"], "a: '{{ \"{{\" }} $x }}'\n");
    }
}

#[test]
fn charts_come_from_behind_the_mirror_of_sources() {
    let text = format!(
        "{{helmCharts: [{CILIUM}, {{name: ours, repoURL: 'oci://mirror.example.com/ours', chartName: app, version: 2.0.0, \
         namespace: team}}]}}"
    );
    let repositories = |fleet: Fleet| {
        let objects = below(fleet, &text, CLUSTER);
        let of = |name: &str| {
            let object = objects.iter().find(|o| o["metadata"]["name"] == name).unwrap();
            object["spec"]["repoURL"].as_str().unwrap().to_owned()
        };
        [of("cilium"), of("ours")]
    };
    let there = "oci://mirror.example.com/ours".to_owned();
    let behind = "oci://mirror.example.com/helm.cilium.io".to_owned();
    assert_eq!(repositories(fleet::full()), [behind, there.clone()]);
    let mut images_alone = fleet::full();
    images_alone.spec.images.as_mut().unwrap().sources = Sources::Upstream;
    assert_eq!(repositories(images_alone), ["https://helm.cilium.io".to_owned(), there]);
}

#[test]
fn what_is_secret_is_not_in_values() {
    let mut fleet = fleet::plain();
    let key = "-----BEGIN PRIVATE KEY-----\\n  MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\\n  -----END PRIVATE KEY-----";
    let text = CILIUM.replace(
        "namespace: kube-system",
        &format!("namespace: kube-system, values: \"tls: |\\n  {key}\\n\""),
    );
    said(&mut fleet, &format!("{{helmCharts: [{text}]}}"));
    let (cluster, worker) = (&fleet.clusters["pay-eu"], &fleet.workers["wk-weu-1"]);
    let job = render::cluster_job(&fleet, cluster, &worker.name, &Templates::built_in());
    let found = job.render().unwrap_err();
    assert!(found.iter().any(|finding| finding.code == Code::SecretInOutput), "{found:?}");
}

const BY_FLUX: &str = "{name: ingress, repoURL: 'https://charts.example.com/stable', chartName: ingress-nginx, version: 4.13.3, \
                       namespace: ingress}";

fn flux_releases(mut fleet: Fleet) -> Fleet {
    fleet.spec.flux_releases = true;
    fleet.workers.values_mut().for_each(|w| w.spec.parameters = Parameters::default());
    fleet
}

/// The objects of a cluster that says this, where Flux may install charts.
fn by_flux(mut fleet: Fleet, text: &str) -> Vec<Value> {
    said(&mut fleet, text);
    let all = documents(&fleet::tree(&flux_releases(fleet), "")).into_iter();
    all.filter(|(path, _)| path.starts_with(CLUSTER)).map(|(_, object)| object).collect()
}

#[test]
fn flux_installs_a_chart_by_the_clusters_kubeconfig() {
    let more = BY_FLUX.replace(
        "namespace: ingress",
        "namespace: ingress, crds: CreateReplace, correctDrift: true, values: \"a:\\n  b: '{{ x }}'\\n\"",
    );
    let second = "{name: ours, repoURL: 'oci://r.example.com/charts', chartName: app, version: 2.0.0, namespace: team, \
                  dependsOn: [ingress]}";
    for base in [fleet::plain(), fleet::of("capz"), fleet::of("aks")] {
        let objects = by_flux(base, &format!("{{helmReleases: [{more}, {second}]}}"));
        let named = |kind: &str, name: &str| {
            let is_it = |o: &&Value| o["kind"] == kind && o["metadata"]["name"] == name;
            objects.iter().find(is_it).unwrap_or_else(|| panic!("{kind} {name}")).clone()
        };
        let release = named("HelmRelease", "ingress");
        assert_eq!(release["metadata"]["namespace"], "pay-eu");
        let spec = &release["spec"];
        assert_eq!(spec["kubeConfig"], json!({"secretRef": {"name": "pay-eu-kubeconfig"}}));
        assert_eq!(
            (&spec["targetNamespace"], &spec["storageNamespace"], &spec["releaseName"]),
            (&json!("ingress"), &json!("ingress"), &json!("ingress"))
        );
        assert_eq!(spec["values"], json!({"a": {"b": "{{ x }}"}}));
        assert_eq!(spec["driftDetection"], json!({"mode": "enabled"}));
        for action in ["install", "upgrade"] {
            let said = &spec[action];
            assert_eq!(
                said["strategy"]["name"], "RetryOnFailure",
                "nothing is taken out to try again"
            );
            assert_eq!(
                (&said["disableWait"], &said["crds"]),
                (&json!(true), &json!("CreateReplace"))
            );
        }
        let source = named("HelmRepository", "ingress");
        assert_eq!(
            source["spec"],
            json!({"interval": "1h", "url": "https://charts.example.com/stable"})
        );
        let ours = named("HelmRelease", "ours");
        assert_eq!(ours["spec"]["dependsOn"], json!([{"name": "ingress"}]));
        assert!(
            ours["spec"].get("driftDetection").is_none()
                && ours["spec"]["install"].get("crds").is_none()
        );
        assert_eq!(named("HelmRepository", "ours")["spec"]["type"], "oci");
    }
}

#[test]
fn charts_that_flux_installs_come_from_behind_the_mirror() {
    let objects = by_flux(fleet::full(), &format!("{{helmReleases: [{BY_FLUX}]}}"));
    let source = objects.iter().find(|o| o["kind"] == "HelmRepository").unwrap();
    assert_eq!(
        source["spec"],
        json!({"interval": "1h", "type": "oci", "url": "oci://mirror.example.com/charts.example.com/stable"})
    );
}

#[test]
fn without_the_fleets_word_flux_installs_nothing() {
    let mut fleet = fleet::plain();
    said(&mut fleet, &format!("{{helmReleases: [{BY_FLUX}]}}"));
    let refused = |fleet: &Fleet| {
        let (cluster, worker) = (&fleet.clusters["pay-eu"], &fleet.workers["wk-weu-1"]);
        let job = render::cluster_job(fleet, cluster, &worker.name, &Templates::built_in());
        job.render().err().map(|all| all.into_iter().map(|d| d.message).collect::<Vec<_>>())
    };
    let told =
        "HelmRelease ingress is Flux's to install, which wants `fluxReleases: true` in carp.yaml";
    assert_eq!(refused(&fleet), Some(vec![told.to_owned()]));
    assert_eq!(refused(&flux_releases(fleet)), None);
}

#[test]
fn a_release_of_flux_that_a_class_leaves_out_is_held_and_goes_by_its_own_document() {
    let mut files = small::files();
    let fleet = files.get_mut("carp.yaml").unwrap();
    *fleet = fleet.replacen("spec:\n", "spec:\n  fluxReleases: true\n", 1);
    let releases = |world: &World| {
        let worker = world.worker_of("alpha").unwrap();
        let path = format!("workers/{worker}/clusters/alpha/cluster.yaml");
        world.output_text(&path).unwrap().matches("\nkind: HelmRelease\n").count()
    };
    let class = |charts: &str| class(charts).replace("helmCharts", "helmReleases");
    let mut world = World::new(files.clone());
    world.write("fleet/classes.yaml", &class(BY_FLUX));
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", "spec:\n  class: small\n");
    world.run();
    assert_eq!(releases(&world), 1);
    world.write("fleet/classes.yaml", &class(""));
    let proposal = world.run();
    let held = proposal.plan.holds.iter().find(|hold| hold.kind == HoldKind::ObjectsRemoved);
    assert_eq!(held.expect("it is held").names, ["HelmRelease alpha/ingress"]);
    let mut world = World::new(files);
    let own = format!("spec:\n  parameters: {{helmReleases: [{BY_FLUX}]}}\n");
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", &own);
    world.run();
    assert_eq!(releases(&world), 1);
    world.edit("fleet/clusters/alpha.yaml", BY_FLUX, "");
    let proposal = world.run();
    assert!(proposal.plan.holds.is_empty(), "{:?}", proposal.plan.holds);
    assert_eq!(releases(&world), 0);
}

fn world(parameters: &str) -> World {
    let mut world = World::new(small::files());
    world.edit(
        "fleet/clusters/alpha.yaml",
        "spec:\n",
        &format!("spec:\n  parameters: {parameters}\n"),
    );
    let proposal = world.run();
    assert!(proposal.gates.is_empty(), "{:?}", proposal.diagnostics);
    world
}

/// Which charts alpha's folder has of the fleet's own.
fn charts(world: &World) -> usize {
    let worker = world.worker_of("alpha").unwrap();
    let text = world.output_text(&format!("workers/{worker}/clusters/alpha/cluster.yaml")).unwrap();
    // The ManagedCluster beside it says the chart, and no release.
    text.matches("releaseName: \"cilium\"").count() + text.matches("releaseName: cilium").count()
}

#[test]
fn a_chart_that_its_own_document_leaves_out_goes() {
    let mut world = world(&format!("{{helmCharts: [{CILIUM}]}}"));
    assert_eq!(charts(&world), 1);
    world.edit("fleet/clusters/alpha.yaml", CILIUM, "");
    let proposal = world.run();
    assert!(
        proposal.plan.holds.is_empty() && proposal.gates.is_empty(),
        "{:?}",
        proposal.plan.holds
    );
    assert_eq!(charts(&world), 0);
}

/// The class `small` with these charts.
fn class(charts: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata: {{name: small}}\nspec:\n  \
         parameters: {{helmCharts: [{charts}]}}\n"
    )
}

/// A fleet in which one cluster runs the chart of its class.
fn with_a_chart_by_class() -> World {
    let mut world = World::new(small::files());
    world.write("fleet/classes.yaml", &class(CILIUM));
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", "spec:\n  class: small\n");
    world.run();
    assert_eq!(charts(&world), 1);
    world
}

#[test]
fn a_chart_that_a_class_leaves_out_is_held() {
    let mut world = with_a_chart_by_class();
    world.write("fleet/classes.yaml", &class(""));
    // What the document says meanwhile of something else is no wish for it.
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", "spec:\n  parameters: {maxPods: 60}\n");
    let proposal = world.run();
    let held = proposal.plan.holds.iter().find(|hold| hold.kind == HoldKind::ObjectsRemoved);
    assert_eq!(held.expect("it is held").names, ["HelmChartProxy alpha/cilium"]);
    assert_eq!(charts(&world), 1);
}

#[test]
fn a_chart_that_a_class_installs_from_elsewhere_is_held() {
    let mut world = with_a_chart_by_class();
    let other = CILIUM.replace("kube-system", "cilium");
    assert_ne!(other, CILIUM);
    world.write("fleet/classes.yaml", &class(&other));
    let proposal = world.run();
    let held = proposal.plan.holds.iter().find(|hold| hold.kind == HoldKind::ObjectsRemoved);
    let names = &held.expect("it is held").names;
    assert_eq!(names, &["HelmChartProxy alpha/cilium, to be installed anew"]);
}

#[test]
fn the_network_of_pods_stays_whose_it_is() {
    let mut world = world("{}");
    world.edit("fleet/clusters/alpha.yaml", "parameters: {}", "parameters: {addOns: {cni: own}}");
    let proposal = world.run();
    assert!(proposal.gates.iter().any(|gate| gate.reason == GateReason::ForbiddenChange));
    let found = proposal.diagnostics.iter().find(|d| d.code == Code::ImmutableField).unwrap();
    let field = found.place.as_ref().and_then(|place| place.field.as_ref()).unwrap();
    assert_eq!(field.to_string(), "spec.parameters.addOns.cni");
    // Something else may be said beside.
    let charts_too = format!("parameters: {{addOns: {{csi: own}}, helmCharts: [{CILIUM}]}}");
    world.edit("fleet/clusters/alpha.yaml", "parameters: {addOns: {cni: own}}", &charts_too);
    let proposal = world.run();
    assert!(proposal.gates.is_empty(), "{:?}", proposal.diagnostics);
    assert!(proposal.plan.holds.is_empty(), "{:?}", proposal.plan.holds);
    assert_eq!(charts(&world), 1);
}
