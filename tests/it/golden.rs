//! Golden fleets: a fleet in, the commits out, readable as a patch.
//!
//! Each folder of `tests/cases` is a case: `1/`, `2/`, … hold the files that a person writes before each
//! run (a file `REMOVE` lists paths that go, and `reports/` has what the workers report then, with
//! `DIGEST OF <folder>` for what that folder of the output carries), and `commits.patch` is what carp commits, messages
//! included. `UPDATE=1 cargo test golden` writes the patches anew.
//!
//! A case that begins with `0/` begins after that run, which is not shown. CRDs and the layers of components, which are the
//! same for every worker, are shown by their length when they are new: `rendered_golden` has them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use carp::model::{ChangeKind, Id, Name, Proposal, Store as _};
use similar::TextDiff;

use crate::support::world::World;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

#[test]
fn every_golden_case_commits_what_its_patch_says() {
    let mut names: Vec<_> = fs::read_dir(cases()).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    assert!(!names.is_empty());
    let mut wrong = Vec::new();
    for case in names {
        let (found, path) = (run_case(&case), case.join("commits.patch"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &found).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            let diff = TextDiff::from_lines(&expected, &found);
            wrong.push(format!("{}\n{}", path.display(), diff.unified_diff()));
        }
    }
    assert!(wrong.is_empty(), "run with UPDATE=1 if this is meant:\n{}", wrong.join("\n"));
}

fn run_case(case: &Path) -> String {
    let mut world = World::new(BTreeMap::new());
    let mut out = String::new();
    let before_the_first = case.join("0");
    if before_the_first.is_dir() {
        write_step(&mut world, &before_the_first, &before_the_first);
        world.run();
    }
    for step in 1.. {
        let folder = case.join(step.to_string());
        if !folder.is_dir() {
            assert!(step > 1, "{} has no step", case.display());
            break;
        }
        write_step(&mut world, &folder, &folder);
        let before = world.output;
        let proposal = world.run();
        let _ = writeln!(out, "=== run {step}");
        for finding in proposal.diagnostics.sorted() {
            let _ = writeln!(out, "{}[{}]: {}", finding.severity, finding.code, finding.message);
        }
        if before == Some(proposal.tree) {
            out.push_str("nothing to commit\n\n");
        } else {
            patch(&mut out, &world, &proposal);
        }
    }
    out
}

fn write_step(world: &mut World, root: &Path, folder: &Path) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            write_step(world, root, &path);
        } else if path.ends_with("REMOVE") {
            for gone in fs::read_to_string(&path).unwrap().lines() {
                world.remove(gone);
            }
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            match name.strip_prefix("reports/").and_then(|name| name.strip_suffix(".yaml")) {
                Some(worker) => report(world, worker, &text),
                None => {
                    world.write(name, &text);
                }
            }
        }
    }
}

fn report(world: &mut World, worker: &str, text: &str) {
    let line = |line: &str| match line.split_once("DIGEST OF ") {
        Some((before, folder)) => {
            let made = world.output_text(&format!("{folder}/cluster.yaml")).unwrap();
            let digest = made.lines().find_map(|l| l.trim().strip_prefix("carp.dev/digest: "));
            format!("{before}{}\n", digest.unwrap().trim_start_matches("sha256:"))
        }
        None => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let reports = world.reports.get_or_insert_default();
    reports.insert(Name::parse(worker).unwrap(), text.into_bytes());
}

fn patch(out: &mut String, world: &World, proposal: &Proposal) {
    for line in proposal.message.trim_end().lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    out.push('\n');
    let text = |id: Option<Id>| {
        id.map(|id| String::from_utf8(world.store.blob(id).unwrap().to_vec()).unwrap())
            .unwrap_or_default()
    };
    for change in &proposal.changes {
        let (before, after) = (text(change.before), text(change.after));
        let name = |there: bool, side: &str| {
            if there { format!("{side}/{}", change.path) } else { "/dev/null".to_owned() }
        };
        if change.kind == ChangeKind::Create && is_the_same_everywhere(&change.path) {
            let _ = writeln!(out, "+++ b/{} ({} lines)", change.path, after.lines().count());
            continue;
        }
        let diff = TextDiff::from_lines(&before, &after);
        let _ = write!(
            out,
            "{}",
            diff.unified_diff().context_radius(2).header(
                &name(change.kind != ChangeKind::Create, "a"),
                &name(change.kind != ChangeKind::Delete, "b"),
            )
        );
    }
    out.push('\n');
}

/// Whether a file is of the layers of components, or of what Flux is told of them.
fn is_the_same_everywhere(path: &str) -> bool {
    const LAYERS: [&str; 5] = ["capi-operator", "cert-manager", "crds", "platform", "providers"];
    path.ends_with("/layers.yaml") || path.split('/').any(|part| LAYERS.contains(&part))
}
