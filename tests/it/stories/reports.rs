//! What agents say in a story: that what is committed was applied, unless the story knows better.

use std::collections::BTreeSet;

use carp::model::{Id, Store, paths};
use serde_json::{Map, Value, json};

use super::documents::yaml;
use crate::support::world::{files_below, text_at};

/// The cluster that reports the workers that carp makes.
const HUB: &str = "hub";

/// A report of a worker that has applied what the output says, at a time.
pub(super) fn applied(store: &dyn Store, output: Option<Id>, worker: &str, time: &str) -> Value {
    let folder = if worker == HUB {
        "control-plane/".to_owned()
    } else {
        format!("workers/{worker}/clusters/")
    };
    let mut names = BTreeSet::new();
    if let Some(output) = output {
        files_below(store, output, "", &mut |path, _| {
            let own =
                path.strip_prefix(&folder).and_then(|rest| rest.strip_suffix("/cluster.yaml"));
            names.extend(own.map(str::to_owned));
        });
    }
    let row = |name: &String| {
        let text = text_at(store, output?, &format!("{folder}{name}/cluster.yaml"))?;
        Some(row(name, &text))
    };
    json!({
        "schemaVersion": 1,
        "worker": worker,
        "workerUID": format!("uid-of-{worker}"),
        "time": time,
        "complete": true,
        "healthy": true,
        "clusters": names.iter().filter_map(row).collect::<Vec<_>>(),
    })
}

/// What is there once a folder was applied: one object at least of each kind that it names.
fn row(name: &str, folder: &str) -> Value {
    let digest =
        folder.lines().find_map(|line| line.trim().strip_prefix("carp.dev/digest: sha256:"));
    let kinds: BTreeSet<&str> =
        folder.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
    let whole = kinds.contains("Cluster");
    let mut row = json!({
        "name": name,
        "digest": digest,
        "phase": if whole { "Running" } else { "Deleting" },
        "present": kinds,
    });
    if whole {
        row["uid"] = json!(format!("uid-of-{name}"));
    }
    row
}

/// The report as the story has it: `words` are fields of it as `field=value`, and `body` says of clusters, by
/// name, what else is so; `null` of one that it is not there.
pub(super) fn corrected(mut report: Value, words: &[&str], body: &str) -> Value {
    for word in words {
        let (field, value) = word.split_once('=').unwrap_or_else(|| panic!("what is {word}?"));
        report[field] = yaml(value);
    }
    let Value::Object(said) = yaml(body) else { return report };
    let rows = report["clusters"].as_array_mut().unwrap();
    for (name, fields) in said {
        let known = rows.iter().position(|row| row["name"] == name.as_str());
        match fields {
            Value::Null => drop(known.map(|at| rows.remove(at))),
            Value::Object(fields) => {
                let at = known.unwrap_or_else(|| {
                    rows.push(json!({"name": name}));
                    rows.len() - 1
                });
                correct(rows[at].as_object_mut().unwrap(), fields);
            }
            other => panic!("{name}: {other}"),
        }
    }
    report
}

fn correct(row: &mut Map<String, Value>, fields: Map<String, Value>) {
    for (field, value) in fields {
        if value.is_null() {
            row.remove(&field);
        } else {
            row.insert(field, value);
        }
    }
}

/// Those clusters that run, of which it was not said before: they are still coming up.
pub(super) fn come_up(report: &mut Value, known: &mut BTreeSet<(String, String)>) {
    let worker = report["worker"].as_str().unwrap().to_owned();
    let mut there = BTreeSet::new();
    for row in report["clusters"].as_array_mut().unwrap() {
        let which = (worker.clone(), row["name"].as_str().unwrap().to_owned());
        if row["phase"] == "Running" {
            if !known.contains(&which) {
                row["phase"] = json!("Provisioning");
            }
            there.insert(which);
        }
    }
    known.retain(|(of, _)| *of != worker);
    known.append(&mut there);
}

/// The ref of a worker's report.
pub(super) fn branch(worker: &str) -> String {
    format!("refs/heads/carp/observed/{worker}")
}

/// What `git fast-import` reads to lay a report in the place of the one before.
pub(super) fn import(worker: &str, report: &Value, seconds: i64) -> String {
    let (branch, text) = (branch(worker), serde_saphyr::to_string(report).unwrap());
    format!(
        "reset {branch}\n\ncommit {branch}\ncommitter agent <agent@example.com> {seconds} +0000\ndata 8\na \
         report\nM 100644 inline {}\ndata {}\n{text}\n",
        paths::REPORT_FILE,
        text.len()
    )
}
