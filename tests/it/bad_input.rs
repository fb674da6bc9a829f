//! Bad input: what carp says to what people get wrong, and that nothing is lost by it.
//!
//! Each folder of `tests/bad-input` is a case: a small fleet is reconciled, the case's files are laid over
//! it (a file `REMOVE` lists paths that go), and one cluster that nobody got wrong is edited besides.
//! `expected.txt` is what `carp validate` prints then, and what `carp reconcile --once` does. What cannot
//! be kept as a file that people read is made in [`MADE`]. `UPDATE=1 cargo test bad_input` writes the
//! goldens anew; read them as the person who gets them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::support::golden::{differs, without_ids};
use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small;

/// What a case does to the fleet in code.
type Make = fn(&Reconciled);

/// Cases whose files are no text that people read.
const MADE: &[(&str, Make)] = &[
    ("byte-order-mark-and-crlf", byte_order_mark_and_crlf),
    ("file-of-10-megabytes", file_of_10_megabytes),
    ("file-not-utf8", file_not_utf8),
    #[cfg(unix)]
    ("symbolic-link", symbolic_link),
];

/// Cases in which the edited cluster cannot proceed: its template or its credentials are what is bad.
const NOBODY_PROCEEDS: &[&str] = &["template-", "placeholder-", "credentials-missing"];

/// The forms of findings that programs read, and the case that shows them.
const FORMS_OF: &str = "many-findings";
const FORMS: &[(&str, &str)] =
    &[("json", "expected.json"), ("sarif", "expected.sarif"), ("github", "expected.github.txt")];

/// The cluster that is edited besides.
const BYSTANDER: &str = "charlie";

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-input")
}

fn base() -> Reconciled {
    let mut files = small::files();
    files.insert("fleet/classes.yaml".to_owned(), CLASS.to_owned());
    files.insert("policies/near.yaml".to_owned(), POLICY.to_owned());
    let gold = small::cluster("foxtrot", "eastus");
    let gold = gold.replace("  namespace: shop\n", "  namespace: shop\n  labels: {tier: gold}\n");
    files.insert("fleet/clusters/foxtrot.yaml".to_owned(), gold);
    Reconciled::of(&files)
}

/// What only `carp validate` tells, for no run stands on it.
const VALIDATES: [&str; 2] = ["[matches-nothing]", "[document-not-read]"];

const CLASS: &str = "\
apiVersion: carp.dev/v1alpha1
kind: ManagedClusterClass
metadata:
  name: small
spec:
  demand:
    clusters: 1
";

const POLICY: &str = "\
apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata:
  name: near
spec:
  clusterSelector:
    matchLabels:
      tier: gold
";

#[test]
fn every_bad_input_is_told_well_and_loses_nothing() {
    let folders = fs::read_dir(cases()).unwrap().map(|e| e.unwrap().path());
    let mut names: BTreeSet<String> = folders
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.extend(MADE.iter().map(|(name, _)| (*name).to_owned()));
    let (base, todo, wrong) = (base(), Mutex::new(names.into_iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(name) = { todo.lock().unwrap().next() } {
            let found = Case { name: &name, fleet: base.copy() }.run();
            let found = found.into_iter().map(|complaint| format!("{name}: {complaint}"));
            wrong.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "run with UPDATE=1 if this is meant:\n{}", wrong.join("\n"));
}

struct Case<'a> {
    name: &'a str,
    fleet: Reconciled,
}

impl Case<'_> {
    /// Runs the case and returns what is wrong about it.
    fn run(&self) -> Vec<String> {
        let before = self.fleet.output();
        self.lay_over();
        let validated = self.fleet.carp(&["validate"]);
        let forms = if self.name == FORMS_OF { self.forms() } else { Vec::new() };
        self.fleet.commit("an edit");
        let planned = self.fleet.carp(&["plan"]);
        let out = self.fleet.beside("out");
        let rendered = self.fleet.carp(&["render", "--out", out.to_str().unwrap()]);
        let reconciled = self.fleet.carp(&["reconcile", "--once"]);

        let golden = format!(
            "$ carp validate\n{}exits {}\n\n$ carp reconcile --once\n{}exits {}\n",
            validated.both(),
            validated.exit,
            without_ids(&reconciled.out),
            reconciled.exit
        );
        let mut wrong = forms;
        wrong.extend(differs(&cases().join(self.name).join("expected.txt"), &golden));
        wrong.extend(told_badly(&validated));
        for ran in [&validated, &planned, &rendered, &reconciled] {
            let text = ran.both();
            if !matches!(ran.exit, 0 | 1 | 3) || text.contains("panicked") {
                wrong.push(format!("exits {} with:\n{text}", ran.exit));
            }
        }
        wrong.extend(self.commands_disagree(&validated, &planned, &rendered, &reconciled));
        wrong.extend(self.lost(&before, &reconciled));
        wrong
    }

    /// Lays the case's files over the fleet and edits the bystander.
    fn lay_over(&self) {
        let path = format!("fleet/clusters/{BYSTANDER}.yaml");
        let edited = self.fleet.read(&path).replace("v1.34.2", "v1.34.3");
        self.fleet.write(&path, edited.as_bytes());
        if let Some((_, make)) = MADE.iter().find(|(name, _)| *name == self.name) {
            return make(&self.fleet);
        }
        let folder = cases().join(self.name);
        let mut files = Vec::new();
        files_below(&folder, &mut files);
        for file in files {
            let path = file.strip_prefix(&folder).unwrap().to_str().unwrap();
            if path == "REMOVE" {
                fs::read_to_string(&file).unwrap().lines().for_each(|gone| self.fleet.remove(gone));
            } else if !path.starts_with("expected.") {
                self.fleet.write(path, &fs::read(&file).unwrap());
            }
        }
    }

    fn forms(&self) -> Vec<String> {
        let form = |(form, file): &(&str, &str)| {
            let ran = self.fleet.carp(&["validate", "--output", form]);
            assert_eq!((ran.exit, ran.err.as_str()), (1, ""));
            let found = ran.out.replace(env!("CARGO_PKG_VERSION"), "<version>");
            differs(&cases().join(self.name).join(file), &found)
        };
        FORMS.iter().filter_map(form).collect()
    }

    /// Every command finds the same and proposes the same.
    fn commands_disagree(
        &self,
        validated: &Ran,
        planned: &Ran,
        rendered: &Ran,
        reconciled: &Ran,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let exits = [planned.exit, rendered.exit, reconciled.exit];
        if exits.iter().any(|exit| *exit != reconciled.exit) {
            wrong.push(format!("plan, render and reconcile exit {exits:?}"));
        }
        let of_a_run = |finding: &&str| !VALIDATES.iter().any(|code| finding.contains(code));
        for finding in findings(&validated.out).into_iter().filter(of_a_run) {
            for (command, text) in
                [("plan", &planned.out), ("render", &rendered.err), ("reconcile", &reconciled.err)]
            {
                if !text.contains(finding) && !is_folded(text, finding) {
                    wrong.push(format!("{command} does not show:\n{finding}\nbut:\n{text}"));
                }
            }
        }
        if validated.out.is_empty() {
            // There is no fleet, so there is no plan.
            return wrong;
        }
        let tree = format!("tree {}", self.fleet.output_tree());
        if !planned.out.replace("tree   ", "tree ").contains(&tree) {
            wrong.push(format!("plan said something else than {tree}:\n{}", planned.out));
        }
        if !rendered.out.contains(&tree) {
            wrong.push(format!("render made something else than {tree}:\n{}", rendered.out));
        }
        wrong
    }

    /// What of the output is not as it was, and should be.
    fn lost(&self, before: &BTreeMap<String, String>, reconciled: &Ran) -> Vec<String> {
        let mut wrong = Vec::new();
        let after = self.fleet.output();
        let of_base = |path: &str| {
            let name = |name: &str| {
                path.contains(&format!("/{name}/")) || path.ends_with(&format!("/{name}.yaml"))
            };
            ["alpha", "bravo", "delta", "echo", "foxtrot"].into_iter().any(name)
                || (path.starts_with("decisions/") && name(BYSTANDER))
        };
        for (path, id) in before {
            match after.get(path) {
                None => wrong.push(format!("{path} was removed")),
                Some(now) if now != id && of_base(path) => wrong.push(format!("{path} changed")),
                Some(_) => {}
            }
        }
        let own = format!("workers/w-eus/clusters/{BYSTANDER}/cluster.yaml");
        let proceeds = before.get(&own) != after.get(&own);
        let may = !reconciled.out.is_empty()
            && !reconciled.out.contains("stopped")
            && !NOBODY_PROCEEDS.iter().any(|bad| self.name.starts_with(bad));
        if proceeds != may {
            wrong.push(format!("the edit of {BYSTANDER} was taken: {proceeds}"));
        }
        wrong
    }
}

impl Ran {
    fn both(&self) -> String {
        format!("{}{}", self.err, self.out)
    }
}

/// The findings of `carp validate`, each as it is printed.
fn findings(out: &str) -> Vec<&str> {
    let head = |block: &&str| {
        ["error[", "warning[", "note["].iter().any(|severity| block.starts_with(severity))
    };
    out.split("\n\n").filter(head).collect()
}

/// Whether a plan counts a finding with others of its rule.
fn is_folded(text: &str, finding: &str) -> bool {
    let rule = finding.split(": ").next().unwrap_or_default();
    let is_of = |block: &str| block.lines().any(|line| line.starts_with(rule));
    text.split("\n\n").any(|block| is_of(block) && block.contains(" more of these; "))
}

/// What is wrong with how the findings are told.
fn told_badly(validated: &Ran) -> Vec<String> {
    let all = findings(&validated.out);
    let mut wrong = Vec::new();
    let once: BTreeSet<_> = all.iter().collect();
    if once.len() != all.len() {
        wrong.push("a finding repeats itself".to_owned());
    }
    for finding in all {
        let first = finding.lines().next().unwrap_or_default();
        if !finding.contains("= help: ") {
            wrong.push(format!("no help: {first}"));
        }
        if first.ends_with('.') {
            wrong.push(format!("a final stop: {first}"));
        }
    }
    wrong
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|e| e.unwrap().path()) {
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

fn byte_order_mark_and_crlf(fleet: &Reconciled) {
    for path in ["carp.yaml", "fleet/clusters/bravo.yaml", "policies/near.yaml"] {
        let text = fleet.read(path).replace('\n', "\r\n");
        fleet.write(path, format!("\u{feff}{text}").as_bytes());
    }
}

fn file_of_10_megabytes(fleet: &Reconciled) {
    let mut text = fleet.read("fleet/clusters/bravo.yaml");
    text.push_str(&"# a comment of thirty-two bytes\n".repeat(10 << 15));
    fleet.write("fleet/clusters/bravo.yaml", text.as_bytes());
}

fn file_not_utf8(fleet: &Reconciled) {
    let text = fleet.read("fleet/clusters/bravo.yaml");
    let latin = [text.as_bytes(), b"# f\xfcr den Shop\n"].concat();
    fleet.write("fleet/clusters/bravo.yaml", &latin);
}

#[cfg(unix)]
fn symbolic_link(fleet: &Reconciled) {
    let text = fleet.read("fleet/clusters/bravo.yaml");
    fleet.write("elsewhere/bravo.yaml", text.as_bytes());
    fleet.remove("fleet/clusters/bravo.yaml");
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(to, fleet.path().join(at)).unwrap();
    };
    link("../../elsewhere/bravo.yaml", "fleet/clusters/bravo.yaml");
    link("../elsewhere", "fleet/folder");
}
