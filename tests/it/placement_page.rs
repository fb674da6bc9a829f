//! `docs/placement.md`: every YAML block on it loads without a finding, as a small fleet of its own, and
//! every policy test among them holds. A block after `<!-- finds: CODE -->` is one that is refused.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::small;
use crate::support::world::World;

const PAGE: &str = include_str!("../../docs/placement.md");

/// A block, with the line it begins at and the finding that it is there to show.
struct Block {
    line: usize,
    finds: Option<String>,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut finds, mut open) = (None, false);
    for (at, line) in page.lines().enumerate() {
        match (open, line.trim_end()) {
            (false, "```yaml") => {
                open = true;
                blocks.push(Block { line: at + 1, finds: finds.take(), text: String::new() });
            }
            (true, "```") => open = false,
            (true, _) => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            (false, "") => {}
            (false, line) => {
                let code = line.strip_prefix("<!-- finds: ").and_then(|l| l.strip_suffix(" -->"));
                finds = code.map(str::to_owned);
            }
        }
    }
    blocks
}

fn document(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "carp.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec,
    })
}

/// The texts in all lists and at all fields of this name, anywhere.
fn named(value: &Value, field: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if key == field {
                    let one = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                    into.extend(one.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                named(value, field, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, field, into)),
        _ => {}
    }
}

/// The fleet that a block is, with what it takes for granted: credentials, and the classes, workers and
/// pools that it names.
fn fleet(block: &Block) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("carp.yaml".to_owned(), small::FLEET.to_owned())]);
    let (mut there, mut wanted) = (BTreeSet::new(), Vec::new());
    let (mut classes, mut pools) = (BTreeSet::new(), BTreeSet::new());
    for (i, text) in block.text.split("---\n").enumerate() {
        let value: Value = serde_saphyr::from_str(text)
            .unwrap_or_else(|e| panic!("the block at line {}: {e}", block.line));
        let field = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (field("/kind").to_owned(), field("/metadata/name").to_owned());
        named(&value, "class", &mut classes);
        match kind.as_str() {
            "Fleet" => {
                named(&value, "pools", &mut pools);
                let mut value = value;
                let base: Value = serde_saphyr::from_str(small::FLEET).unwrap();
                for field in ["credentials", "delivery", "controlPlane"] {
                    let spec = value["spec"].as_object_mut().unwrap();
                    spec.entry(field).or_insert_with(|| base["spec"][field].clone());
                }
                files.insert("carp.yaml".to_owned(), value.to_string());
                continue;
            }
            "WorkerOverlay" => wanted.push(name.clone()),
            "Worker" => named(&value, "pool", &mut there),
            "PlacementPolicy" => named(&value, "pools", &mut pools),
            _ => {}
        }
        there.insert(format!("{kind}/{name}"));
        let folder = match kind.as_str() {
            "PlacementPolicyTest" => "policies/tests",
            kind if kind.ends_with("Policy") => "policies",
            _ => "fleet",
        };
        files.insert(format!("{folder}/{i}.yaml"), text.to_owned());
    }
    let spec = |pool: Option<&str>| {
        json!({
            "version": "v1.34.2", "location": "westeurope", "capacity": {"clusters": 9}, "pool": pool,
        })
    };
    let mut add = |kind: &str, name: &str, spec: &Value| {
        let text = document(kind, name, spec).to_string();
        files.insert(format!("fleet/granted-{kind}-{name}.yaml"), text);
    };
    for name in wanted.iter().filter(|name| !there.contains(&format!("Worker/{name}"))) {
        add("Worker", name, &spec(None));
    }
    for pool in pools.iter().filter(|pool| !there.contains(*pool)) {
        add("Worker", &format!("in-{pool}"), &spec(Some(pool.as_str())));
    }
    for class in classes.iter().filter(|c| !there.contains(&format!("ManagedClusterClass/{c}"))) {
        add("ManagedClusterClass", class, &json!({}));
    }
    files
}

#[test]
fn every_example_on_the_page_loads_and_does_what_it_says() {
    let (mut seen, mut tests) = (0, 0);
    for block in blocks(PAGE) {
        let mut world = World::new(fleet(&block));
        let proposal = world.propose();
        let input = world.snapshot().input;
        let verified = carp::verify::policies(&input, &world.store, &proposal.fleet).unwrap();
        let found: Vec<_> = proposal.diagnostics.iter().chain(&verified.diagnostics).collect();
        match &block.finds {
            None => assert!(found.is_empty(), "the block at line {}: {found:#?}", block.line),
            Some(code) => {
                let has = found.iter().any(|finding| finding.code.name() == code);
                assert!(has, "the block at line {} does not show {code}: {found:#?}", block.line);
            }
        }
        seen += 1;
        tests += verified.tests;
    }
    assert!(seen >= 5 && tests >= 3, "{seen} blocks, {tests} tests");
}

#[test]
fn a_block_that_is_wrong_would_be_found() {
    let page = "<!-- finds: unknown-field -->\n```yaml\napiVersion: carp.dev/v1alpha1\nkind: \
                PlacementPolicy\nmetadata: {name: p}\nspec: {tolerationz: []}\n```\n";
    let blocks = blocks(page);
    assert_eq!(blocks[0].finds.as_deref(), Some("unknown-field"));
    let proposal = World::new(fleet(&blocks[0])).propose();
    let codes: Vec<_> = proposal.diagnostics.iter().map(|d| d.code.name()).collect();
    assert_eq!(codes, ["unknown-field"]);
}
