//! The documentation, held complete and true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carp::diag::Code;
use carp::kind::{KIND_RECORD_SCHEMA, KindRecord};
use carp::load::read_yaml;
use carp::model::{
    Blocker, ClusterPhase, ConditionReason, ConditionType, DECISION_SCHEMA, DecisionRecord,
    FLEET_LOCK_SCHEMA, FOLDED_SCHEMA, FleetLock, FoldedReport, GateReason, HoldKind, MissingCode,
    PENDING_SCHEMA, PendingLock, REPORT_SCHEMA, ReasonCode, Refusal, Report, StepWait, TURN_SCHEMA,
    TransferWait, Turn, WORKER_LOCK_SCHEMA, WorkerLock, WorkerPhase, lock_from_bytes,
    lock_to_bytes,
};
use carp::status::{ClusterDocument, FleetStatus, STATUS_SCHEMA, WorkerDocument};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn headings<'a>(page: &'a str, level: &str) -> BTreeSet<&'a str> {
    page.lines().filter_map(|line| line.strip_prefix(level)).map(str::trim).collect()
}

#[test]
fn every_code_has_its_section_and_every_section_its_code() {
    let page = read("docs/errors.md");
    let wanted: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
    let there: BTreeSet<_> =
        headings(&page, "## ").into_iter().filter(|h| !h.contains(' ')).collect();
    assert_eq!(there, wanted);
    for section in
        page.split("\n## ").skip(1).filter(|s| wanted.contains(s.lines().next().unwrap()))
    {
        assert!(section.contains("**To do**"), "no remedy in {}", section.lines().next().unwrap());
    }
}

#[test]
fn every_word_of_holds_gates_and_reasons_has_its_section() {
    let holds: Vec<_> = HoldKind::ALL.iter().map(|kind| kind.name()).collect();
    let gates: Vec<_> = GateReason::ALL.iter().map(|reason| reason.name()).collect();
    let reasons: Vec<_> = ReasonCode::ALL.iter().map(|code| code.name()).collect();
    let page = read("docs/errors.md");
    for (chapter, words) in
        [("Holds", holds), ("Kept folders", gates), ("Refusing reasons", reasons)]
    {
        let text = page.split_once(&format!("\n# {chapter}\n")).expect(chapter).1;
        let text = text.split("\n# ").next().unwrap();
        let there = headings(text, "### ");
        assert_eq!(there, words.into_iter().collect(), "chapter {chapter}");
    }
}

#[test]
fn every_condition_and_every_word_of_one_is_explained() {
    let page = read("docs/errors.md");
    let text = page.split_once("\n# Conditions\n").unwrap().1.split("\n# ").next().unwrap();
    let refusals = Refusal::ALL.iter().map(|refusal| refusal.name());
    let waits = StepWait::ALL.iter().map(|wait| wait.name());
    let conditions = ConditionType::ALL.iter().map(|kind| kind.name());
    // Two more are holds.
    let stays = [
        Blocker::NotMovable,
        Blocker::Paused,
        Blocker::NotRendered,
        Blocker::NotHeard,
        Blocker::FolderKept,
        Blocker::NoWorkerFits(BTreeSet::new()),
        Blocker::WaitsItsTurn,
    ];
    let stays = stays.iter().map(Blocker::name);
    let there: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(word, _)| word)
        .collect();
    let transfers = TransferWait::ALL.iter().map(|wait| wait.name());
    let wanted = refusals.chain(waits).chain(conditions).chain(stays).chain(transfers).collect();
    assert_eq!(there, wanted);
}

/// The reasons that are nobody else's words stand where a person looks for what a condition says.
#[test]
fn every_reason_of_a_condition_is_named() {
    let page = read("docs/errors.md");
    let text = page.split_once("\n# Conditions\n").unwrap().1.split("\n# ").next().unwrap();
    for reason in ConditionReason::ALL {
        assert!(text.contains(&format!("`{}`", reason.name())), "{}", reason.name());
    }
}

#[test]
fn every_phase_is_explained() {
    let page = read("docs/operations.md");
    let text = page.split_once("\n## Phases\n").unwrap().1.split("\n### ").next().unwrap();
    let of = |kind: &str| -> Vec<&str> {
        let table = text.split_once(&format!("| {kind} |")).unwrap().1;
        let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| `"));
        rows.filter_map(|row| row.split('`').next()).collect()
    };
    let clusters: Vec<_> = ClusterPhase::ALL.iter().map(|phase| phase.name()).collect();
    assert_eq!(of("ManagedCluster"), clusters);
    let workers: Vec<_> = WorkerPhase::ALL.iter().map(|phase| phase.name()).collect();
    assert_eq!(of("Worker"), workers);
}

#[test]
fn every_word_of_missing_evidence_has_its_section() {
    let page = read("docs/errors.md");
    let text = page.split_once("\n# Missing evidence\n").unwrap().1;
    let there = headings(text.split("\n# ").next().unwrap(), "### ");
    assert_eq!(there, MissingCode::ALL.iter().map(|code| code.name()).collect());
}

/// The block that follows `<!-- golden: NAME -->`, and the section that it is in.
fn golden(name: &str) -> (String, String) {
    let page = read("docs/formats.md");
    let mark = format!("<!-- golden: {name} -->\n");
    let section =
        page.split("\n## ").find(|s| s.contains(&mark)).unwrap_or_else(|| panic!("{name}"));
    let block = section.split_once(&mark).unwrap().1;
    let block = block.split_once('\n').unwrap().1.split_once("```").unwrap().0;
    (block.to_owned(), section.to_owned())
}

fn keys(value: &Value, into: &mut BTreeSet<String>, rows: &[&str]) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                into.insert(key.clone());
                match value {
                    // The keys of these are names that users chose.
                    Value::Object(named) if rows.contains(&key.as_str()) => {
                        named.values().for_each(|row| keys(row, into, rows));
                    }
                    value => keys(value, into, rows),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, into, rows)),
        _ => {}
    }
}

/// Maps whose keys are names that users or the world chose.
const ROWS: &[&str] = &[
    "clusters",
    "workers",
    "files",
    "labels",
    "demand",
    "components",
    "capacity",
    "allocated",
    "availableCapacity",
    "holds",
    "findings",
];

fn check_fields(name: &str, value: &Value, section: &str, schema: u32) {
    assert_eq!(value["schemaVersion"], schema, "{name}");
    let mut all = BTreeSet::new();
    keys(value, &mut all, ROWS);
    for key in all {
        assert!(section.contains(&format!("`{key}`")), "{name}: no rule for `{key}`");
    }
}

/// The golden parses as the type, nothing of it is lost, and every field has its rule.
fn check_yaml<T: DeserializeOwned + Serialize>(name: &str, schema: u32) {
    let (text, section) = golden(name);
    let written: Value = serde_saphyr::from_str(&text).unwrap();
    let read: T = read_yaml(text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), written, "{name}");
    check_fields(name, &written, &section, schema);
}

fn check_lock<T: DeserializeOwned + Serialize>(name: &str, schema: u32) {
    let (text, section) = golden(name);
    let read: T =
        lock_from_bytes(text.as_bytes(), schema).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(String::from_utf8(lock_to_bytes(&read)).unwrap(), text, "{name}");
    check_fields(name, &serde_json::from_str(&text).unwrap(), &section, schema);
}

#[test]
fn the_goldens_are_what_carp_reads_and_writes() {
    // A record is of the oldest format that has all its fields.
    for state in ["bound", "pending", "deleting"] {
        check_yaml::<DecisionRecord>(&format!("decision record, {state}"), 1);
    }
    check_yaml::<DecisionRecord>("decision record, moving", 2);
    check_yaml::<DecisionRecord>("decision record, handed over", DECISION_SCHEMA);
    check_lock::<WorkerLock>("carp.lock", WORKER_LOCK_SCHEMA);
    check_lock::<PendingLock>("pending.lock", PENDING_SCHEMA);
    check_lock::<FleetLock>("fleet.lock", FLEET_LOCK_SCHEMA);
    check_yaml::<Report>("report", REPORT_SCHEMA);
    check_yaml::<FoldedReport>("folded report", FOLDED_SCHEMA);
    check_yaml::<ClusterDocument>("cluster status", STATUS_SCHEMA);
    check_yaml::<WorkerDocument>("worker status", STATUS_SCHEMA);
    check_yaml::<FleetStatus>("fleet status", STATUS_SCHEMA);
    check_yaml::<Turn>("turn", TURN_SCHEMA);
    check_yaml::<KindRecord>("kind record", KIND_RECORD_SCHEMA);
}

#[test]
fn links_lead_somewhere() {
    let mut pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
        .map(|p| root().join(p))
        .to_vec();
    pages.extend(markdown_files(&root().join("docs")));
    pages.extend(markdown_files(&root().join("fleet-repo-example")));
    pages.extend(markdown_files(&root().join("deploy")));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            if path.is_empty() || link.contains("://") {
                continue;
            }
            let target = page.parent().unwrap().join(path);
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
        }
    }
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { markdown_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect()
}

/// A number is a decision for ever: none is left out, none is there twice, and the list has each in its order.
#[test]
fn decisions_are_numbered_without_a_hole() {
    let names: BTreeSet<_> = markdown_files(&root().join("docs/adr"))
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "README.md")
        .collect();
    let page = read("docs/adr/README.md");
    let listed: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split_once("]("))
        .map(|(number, rest)| (number, rest.split(')').next().unwrap()))
        .collect();
    assert!(listed.iter().map(|(_, name)| *name).eq(names.iter().map(String::as_str)));
    for (at, (number, name)) in listed.iter().enumerate() {
        assert_eq!(*number, format!("{:04}", at + 1), "{name}");
        assert!(name.starts_with(&format!("{number}-")), "{name}");
        assert!(read(&format!("docs/adr/{name}")).starts_with(&format!("# {number}: ")), "{name}");
    }
}

#[test]
fn every_code_that_an_agent_reports_is_explained() {
    let page = read("docs/errors.md");
    let mut explained = rows(&page, "Reported errors");
    explained.sort_unstable();
    assert_eq!(explained, carp::observe::codes().into_iter().collect::<Vec<_>>());
}

#[test]
fn every_reason_of_a_kind_cluster_is_explained() {
    let page = read("docs/errors.md");
    let reasons: Vec<_> = carp::kind::KindReason::ALL.iter().map(|reason| reason.word()).collect();
    assert_eq!(rows(&page, "KINDCluster reasons"), reasons);
}

/// The first cells of the table in a chapter.
fn rows<'a>(page: &'a str, chapter: &str) -> Vec<&'a str> {
    let (_, text) = page.split_once(&format!("\n# {chapter}\n")).expect(chapter);
    let text = text.split("\n# ").next().unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(word, _)| word).collect()
}
