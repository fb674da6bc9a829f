//! Everything emitted reads the same in every reader: the one that wrote it, `serde_yaml` and PyYAML.

use std::io::Write as _;
use std::process::{Command, Stdio};

use carp::render::Files;
use serde::Deserialize as _;
use serde_json::Value;

use crate::support::{self, documents, fleet};

/// Reads every document of a tree with `serde_yaml` and PyYAML and compares.
pub(crate) fn check(tree: &Files) {
    let ours: Vec<_> = documents(tree).into_iter().map(|(_, value)| value).collect();
    assert_eq!(with_serde_yaml(tree), ours, "serde_yaml");
    match with_pyyaml(tree) {
        Some(theirs) => {
            for (theirs, ours) in theirs.iter().zip(&ours) {
                assert_eq!(theirs, ours, "PyYAML");
            }
            assert_eq!(theirs.len(), ours.len(), "PyYAML");
        }
        None => support::skip("rendered_yaml", "python3 with PyYAML is not there"),
    }
}

fn yaml(tree: &Files) -> impl Iterator<Item = &[u8]> {
    tree.iter().filter(|(path, _)| path.ends_with(".yaml")).map(|(_, bytes)| bytes.as_slice())
}

fn with_serde_yaml(tree: &Files) -> Vec<Value> {
    yaml(tree)
        .flat_map(serde_yaml::Deserializer::from_slice)
        .map(|document| Value::deserialize(document).unwrap())
        .filter(|value| !value.is_null())
        .collect()
}

const READER: &str = "import json, sys, yaml
loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
for text in json.load(sys.stdin):
    for document in yaml.load_all(text, Loader=loader):
        if document is not None:
            print(json.dumps(document))
";

fn with_pyyaml(tree: &Files) -> Option<Vec<Value>> {
    let there = Command::new("python3").args(["-c", "import yaml"]).output().ok()?;
    there.status.success().then_some(())?;
    let mut reader = Command::new("python3")
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let texts: Vec<_> = yaml(tree).map(String::from_utf8_lossy).collect();
    let input = serde_json::to_vec(&texts).unwrap();
    let mut stdin = reader.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = reader.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn every_reader_reads_the_same() {
    check(&fleet::tree(&fleet::full(), "teams/a"));
    check(&fleet::tree(&fleet::plain(), ""));
}
