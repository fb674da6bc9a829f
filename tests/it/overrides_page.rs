//! `docs/overrides.md`: every YAML block on it loads without a finding, and changes what it says, in a fleet of two clusters.
//! A block after `<!-- finds: CODE -->` is one that is refused.

use std::collections::BTreeMap;

use carp::model::Proposal;

use crate::support::small;
use crate::support::world::World;

const PAGE: &str = include_str!("../../docs/overrides.md");

/// What each block is there to show in the folder of the cluster `alpha`, or in those of its worker, by the name of its last
/// policy.
const SHOWN: &[(&str, &[&str])] = &[
    ("quick-scale-down", &["--scale-down-unneeded-time=2m"]),
    ("mirror-of-one-cluster", &["mirror.test.example.com/autoscaling/cluster-autoscaler"]),
    ("slow-drain", &["nodeDrainTimeoutSeconds: 3600", "drain: slow"]),
    ("large-disks", &["diskSizeGB: 512"]),
    ("patched-autoscaler", &["registry.k8s.io/platform/cluster-autoscaler:v1.34.1-patched"]),
    ("loud-autoscaler", &["- /debug", "--v=4"]),
    ("cost-centre", &["example.com/cost-centre: \"4711\"", "the data team, room 12"]),
    ("fast-volumes", &["Premium_LRS"]),
    ("many-clusters", &["maxConcurrentReconciles: 50"]),
    ("webhooks-that-survive-a-zone", &["replicaCount: 3"]),
];

/// The blocks, each with the finding that it is there to show.
fn blocks() -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    let mut finds = None;
    for part in PAGE.split("\n```yaml\n").collect::<Vec<_>>().windows(2) {
        let before = part[0].lines().last().unwrap_or_default();
        if let Some(code) = before.strip_prefix("<!-- finds: ") {
            finds = code.strip_suffix(" -->").map(str::to_owned);
        }
        let text = part[1].split("\n```").next().unwrap();
        blocks.push((finds.take(), format!("{text}\n")));
    }
    blocks
}

/// Two clusters with an autoscaler, on a worker of the region `eu`.
fn fleet() -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("carp.yaml".to_owned(), small::FLEET.to_owned())]);
    let worker = small::worker("w-eu", "westeurope", 9);
    let worker = worker.replace("  name: w-eu\n", "  name: w-eu\n  labels: {region: eu}\n");
    files.insert("fleet/w.yaml".to_owned(), worker);
    for name in ["alpha", "bravo"] {
        let text = small::cluster(name, "westeurope")
            .replace("  replicas: 2\n", "  nodePools: [{name: np0, autoscale: {min: 1, max: 3}}]\n")
            .replace("  namespace:", "  labels: {env: dev, team: data}\n  namespace:");
        files.insert(format!("fleet/{name}.yaml"), text);
    }
    files
}

/// The text in which a block has its effect.
fn shown_in(world: &World, block: &str) -> String {
    if !block.contains("target: Worker") {
        return world.output_text("workers/w-eu/clusters/alpha/cluster.yaml").unwrap();
    }
    let mut files = world.output_files();
    files.retain(|path, _| !path.contains("/clusters/") && !path.ends_with(".lock"));
    files.into_values().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

fn name_of(block: &str) -> String {
    let name = block.split("name: ").nth(1).unwrap();
    name.split(['}', '\n']).next().unwrap().trim().to_owned()
}

fn codes(proposal: &Proposal) -> Vec<&'static str> {
    proposal.diagnostics.iter().map(|finding| finding.code.name()).collect()
}

#[test]
fn every_example_on_the_page_does_what_it_says() {
    let mut shown = Vec::new();
    for (finds, text) in blocks() {
        let mut world = World::new(fleet());
        let plain = world.run();
        assert!(plain.diagnostics.is_empty(), "{:#?}", plain.diagnostics);
        let before = shown_in(&world, &text);
        world.write("policies/overrides.yaml", &text);
        let proposal = world.run();
        if let Some(code) = finds {
            assert!(codes(&proposal).contains(&code.as_str()), "{text}: {:?}", codes(&proposal));
            let after = shown_in(&world, &text);
            assert_eq!(before, after, "what does not load changes nothing");
            shown.push(code);
            continue;
        }
        let input = world.snapshot().input;
        let verified = carp::verify::policies(&input, &world.store, &proposal.fleet).unwrap();
        let found: Vec<_> = proposal.diagnostics.iter().chain(&verified.diagnostics).collect();
        assert!(found.is_empty(), "{text}: {found:#?}");
        let after = shown_in(&world, &text);
        let name = text.split("---\n").last().map(name_of).unwrap();
        let (_, expected) =
            SHOWN.iter().find(|(of, _)| *of == name).unwrap_or_else(|| panic!("{name}"));
        for part in *expected {
            assert!(after.contains(part) && !before.contains(part), "{name}: {part}");
        }
        assert!(after.contains("carp.dev/overridden-by:"), "{name}");
        shown.push(name);
    }
    assert_eq!(shown.len(), SHOWN.len() + 3, "{shown:?}");
}
