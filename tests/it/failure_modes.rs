//! `docs/failure-modes.md`, held complete and true; and the failures that no other file has a test for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use carp::diag::Code;
use carp::model::GateReason;

use crate::support::documents;
use crate::support::people::printed;
use crate::support::small::{self, cluster};
use crate::support::world::World;

/// How many failures there are.
const ALL: u32 = 181;
/// Those that nothing shows yet: their row says what goes wrong and no more.
const NOT_SHOWN_YET: &[u32] = &[];

struct Row {
    number: u32,
    does: String,
    tests: Vec<String>,
}

fn rows() -> Vec<Row> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/failure-modes.md");
    let page = std::fs::read_to_string(page).unwrap();
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let number = cells.first()?.parse().ok()?;
        assert_eq!(cells.len(), 4, "{line}");
        let tests = cells[3].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some(Row { number, does: cells[2].to_owned(), tests })
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn every_failure_has_its_row_and_every_test_in_it_exists() {
    let rows = rows();
    let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=ALL).collect::<Vec<_>>());
    let there = tests_of_the_sources();
    assert!(there.len() > 300, "the tests were found");
    for row in rows {
        for test in &row.tests {
            assert!(there.contains(test), "{}: there is no test {test}", row.number);
        }
        let shown = !row.does.is_empty() && !row.tests.is_empty();
        assert_eq!(shown, !NOT_SHOWN_YET.contains(&row.number), "{}", row.number);
    }
}

/// Every test, by the name that `cargo test` prints.
pub(crate) fn tests_of_the_sources() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stories = std::fs::read_dir(root.join("tests/stories")).unwrap();
    let stories = stories.map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned());
    let mut found: BTreeSet<String> = stories
        .map(|story| format!("stories::{}", story.to_str().unwrap().replace('-', "_")))
        .collect();
    for folder in ["src", "tests/it"] {
        let folder = root.join(folder);
        for file in rust_files(&folder) {
            let module = module_of(file.strip_prefix(&folder).unwrap());
            let text = std::fs::read_to_string(&file).unwrap();
            let (outside, inside) = text.split_once("\nmod tests {").unwrap_or((&text, ""));
            found.extend(names_of_tests(outside).map(|name| format!("{module}::{name}")));
            found.extend(names_of_tests(inside).map(|name| format!("{module}::tests::{name}")));
        }
    }
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { rust_files(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

/// `load/check/mod.rs` is `load::check`.
fn module_of(file: &Path) -> String {
    let path = file.with_extension("");
    let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
    let parts = parts.strip_suffix(&["mod"]).unwrap_or(&parts);
    parts.join("::")
}

/// The functions that a line `#[test]` stands above.
fn names_of_tests(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[test]").skip(1).filter_map(|rest| {
        let line = rest.lines().map(str::trim_start).find(|line| line.starts_with("fn "))?;
        line.strip_prefix("fn ")?.split('(').next()
    })
}

#[test]
fn a_template_that_fails_for_one_worker_stops_no_other() {
    let mut world = World::new(small::files());
    world.run();
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/capz/cluster.yaml");
    let template = std::fs::read_to_string(template).unwrap();
    let fails = "{% if name == \"w-weu\" %}{{ no_such_name }}{% endif %}\n";
    world.write("templates/capz/cluster.yaml", &format!("{template}{fails}"));
    for worker in ["w-weu", "w-eus"] {
        world.edit(&format!("fleet/workers/{worker}.yaml"), "replicas: 3", "replicas: 5");
    }
    let before = world.output_text("control-plane/w-weu/cluster.yaml").unwrap();
    let proposal = world.run();
    let gates: Vec<_> = proposal.gates.iter().map(|g| (g.name.as_str(), g.reason)).collect();
    assert_eq!(gates, [("w-weu", GateReason::RenderFailed)]);
    assert_eq!(world.output_text("control-plane/w-weu/cluster.yaml").unwrap(), before);
    let other = world.output_text("control-plane/w-eus/cluster.yaml").unwrap();
    assert!(other.contains("replicas: 5"), "{other}");
    let mut errors = proposal.diagnostics.iter().filter(|d| d.code == Code::TemplateFailed);
    assert!(errors.any(|d| d.message.contains("no_such_name")), "{:#?}", proposal.diagnostics);
    let status = |worker: &str| world.status_text(&format!("workers/{worker}.yaml")).unwrap();
    assert!(status("w-weu").contains("- code: template-failed"), "{}", status("w-weu"));
    assert!(status("w-weu").contains("reason: RenderFailed"), "{}", status("w-weu"));
    assert!(!status("w-eus").contains("template-failed"), "{}", status("w-eus"));
}

/// The virtual memory that a run may have, in KiB: many threads' stacks included.
const MOST_MEMORY: u64 = 1 << 20;

#[test]
fn no_input_is_too_large_for_its_bounds() {
    let bomb = |depth: usize| {
        let level = |i: usize| match i {
            0 => "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(),
            i => format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", ")),
        };
        (0..depth).map(level).collect::<String>()
    };
    let huge = [
        ("an alias bomb", bomb(9), Code::YamlBudget),
        ("100 MB", "a: b\n".repeat(20 << 20), Code::FileTooLarge),
        ("nesting without end", "[".repeat(10_000), Code::YamlBudget),
        ("documents without end", "---\na: 1\n".repeat(100_000), Code::YamlBudget),
    ];
    for (what, text, code) in huge {
        let mut files = small::files();
        files.insert("fleet/huge.yaml".to_owned(), text);
        let folder = tempfile::tempdir().unwrap();
        let files = files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
        crate::support::write(&files, folder.path());
        let mut bounded = Command::new("sh");
        let script = format!("ulimit -v {MOST_MEMORY} && exec \"$@\"");
        bounded.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_carp"), "validate", "--fleet"]);
        let output = bounded.arg(folder.path()).env("NO_COLOR", "1").output().unwrap();
        let text = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{what}: {text}");
        assert!(text.contains(&format!("error[{code}]")), "{what}: {text}");
        assert!(text.len() < 16 << 10, "{what}: a finding is short: {} bytes", text.len());
    }
}

#[test]
fn files_whose_names_look_alike_are_two_files() {
    let alike = [
        ("fleet/clusters/Prod.yaml", "fleet/clusters/prod.yaml"),
        // The same letter, as one character and as a letter with its accent.
        ("fleet/clusters/prod-\u{e9}.yaml", "fleet/clusters/prod-e\u{301}.yaml"),
    ];
    for (one, other) in alike {
        let mut world = World::new(small::files());
        world.write(one, &cluster("golf", "eastus"));
        world.write(other, &cluster("hotel", "eastus"));
        let proposal = world.run();
        assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
        assert!(world.worker_of("golf").is_some() && world.worker_of("hotel").is_some());
        let paths: Vec<_> = world.output_files().into_keys().collect();
        assert!(paths.iter().all(|path| path.is_ascii() && *path == path.to_lowercase()));

        world.write(other, &cluster("golf", "eastus"));
        let proposal = world.run();
        let finding = proposal.diagnostics.iter().find(|d| d.code == Code::DuplicateName).unwrap();
        let mut places: Vec<_> =
            finding.related.iter().map(|(place, _)| place.file.as_str()).collect();
        places.extend(finding.place.iter().map(|place| place.file.as_str()));
        places.sort_unstable();
        let mut both = [one, other];
        both.sort_unstable();
        assert_eq!(places, both);
    }
}

#[test]
fn line_ends_and_marks_change_no_byte() {
    let mut world = World::new(small::files());
    world.run();
    let before = world.output_files();
    let path = "fleet/clusters/alpha.yaml";
    let text = world.files[path].clone();
    for (what, other) in [
        ("CRLF", text.replace('\n', "\r\n")),
        ("a byte order mark", format!("\u{feff}{text}")),
        ("no final newline", text.trim_end().to_owned()),
        ("all of them", format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n"))),
    ] {
        world.write(path, &other);
        let proposal = world.run();
        assert!(proposal.diagnostics.is_empty(), "{what}: {:#?}", proposal.diagnostics);
        assert!(world.output_files() == before, "{what}");
    }
}

/// What a person does to a file: a path, and its new text if it has one.
type Edit = (&'static str, Option<String>);

#[test]
fn every_revision_is_whole_whatever_the_input_was() {
    let template = "templates/kamaji-capz/cluster.yaml";
    let edits: Vec<Edit> = vec![
        ("fleet/clusters/golf.yaml", Some(cluster("golf", "eastus"))),
        (template, Some("a: {{ no_such_name }}\n".to_owned())),
        ("fleet/clusters/hotel.yaml", Some(cluster("hotel", "westeurope"))),
        ("fleet/clusters/alpha.yaml", Some("kind: [ManagedCluster\n".to_owned())),
        (template, Some("this: is\n no: [object\n".to_owned())),
        ("fleet/clusters/bravo.yaml", None),
        (template, None),
        ("fleet/clusters/alpha.yaml", Some(cluster("alpha", "westeurope"))),
    ];
    let mut world = World::new(small::files());
    world.run();
    for (path, text) in edits {
        match text {
            Some(text) => drop(world.write(path, &text)),
            None => drop(world.remove(path)),
        }
        world.run();
        is_whole(&world.output_files(), path);
    }
}

/// Everything parses, and what a `kustomization.yaml` lists is there.
fn is_whole(files: &BTreeMap<String, Vec<u8>>, after: &str) {
    let folders: BTreeSet<&str> =
        files.keys().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
    for (path, document) in documents(files) {
        let Some(folder) = path.strip_suffix("/kustomization.yaml") else { continue };
        for resource in document["resources"].as_array().into_iter().flatten() {
            let target = format!("{folder}/{}", resource.as_str().unwrap());
            let is_there = files.contains_key(&target) || folders.contains(target.as_str());
            assert!(is_there, "after {after}: {path} lists {target}, which is not there");
        }
    }
}
