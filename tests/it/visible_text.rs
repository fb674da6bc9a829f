//! What people write is shown as it reads: no command, page or commit hands on what turns the direction of a line,
//! hides, or is obeyed by a terminal.

use crate::support::people::{Person, printed};
use crate::support::{Remote, git, small};

/// The override of directions, an isolate, a zero-width space, a tag, and what a terminal obeys.
const EVIL: &str = "a\u{202e}b\u{2066}c\u{200b}d\u{e0041}e\u{1b}[2Jf\u{7}g\u{9b}h";

fn is_evil(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\t');
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}');
    is_control || turns || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[track_caller]
fn is_harmless(what: &str, shown: &str) {
    let evil: Vec<_> = shown.lines().filter(|line| line.chars().any(is_evil)).collect();
    assert!(evil.is_empty(), "{what}: {evil:?}");
}

/// As YAML writes what it may not hold as it is.
fn escaped() -> String {
    EVIL.escape_unicode().to_string().replace("\\u{", "\\U{").split("\\U{").skip(1).fold(
        String::new(),
        |text, part| {
            let number = u32::from_str_radix(part.trim_end_matches('}'), 16).unwrap();
            format!("{text}\\U{number:08x}")
        },
    )
}

/// Names of files, names, values, labels, kinds, unknown fields and versions, each with all of that.
fn files() -> Vec<(String, String)> {
    let evil = format!("\"{}\"", escaped());
    let cluster = small::cluster("golf", "eastus");
    let documents = [
        cluster.replace("golf", &evil),
        cluster.replace("eastus", &evil),
        cluster.replace("v1.34.2", &evil),
        cluster.replace("namespace: shop", &format!("namespace: {evil}")),
        cluster.replace("metadata:\n", &format!("metadata:\n  labels: {{{evil}: {evil}}}\n")),
        cluster.replace("metadata:\n", &format!("metadata:\n  annotations: {{x: {evil}}}\n")),
        cluster.replace("kind: ManagedCluster", &format!("kind: {evil}")),
        cluster.replace("spec:\n", &format!("spec:\n  {evil}: 1\n")),
        cluster.replace("spec:\n", &format!("spec:\n  class: {evil}\n")),
        cluster.replace("spec:\n", &format!("spec:\n  flavor: {evil}\n")),
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: {evil}}}\n"),
        format!("{EVIL}: [\n"),
        format!("# {EVIL}\n{cluster}  gone: {EVIL}\n"),
    ];
    let name = |number| format!("fleet/clusters/x\u{202e}\u{1b}[31m{number}.yaml");
    documents.into_iter().enumerate().map(|(number, text)| (name(number), text)).collect()
}

#[test]
fn nothing_that_is_shown_turns_hides_or_is_obeyed() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    person.reconciles();
    for (path, text) in files() {
        person.write(&path, &text);
    }
    let template = format!("{{% set x = 1 %}}{{{{ gone }}}} {EVIL}\n");
    person.write(&format!("templates/kamaji-capz/{EVIL}.yaml"), "x: {{\n");
    person.write("templates/kamaji-capz/cluster.yaml", &template);
    let policy = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {{name: p}}\nspec:\n  \
         clusterSelector: {{matchLabels: {{a: \"{}\"}}}}\n",
        escaped()
    );
    person.write("policies/p.yaml", &policy);
    person.push_one("fleet/clusters/hotel.yaml", &small::cluster("hotel", "eastus"));
    for command in [
        &["plan"][..],
        &["plan", "--output", "markdown"],
        &["plan", "--output", "json"],
        &["validate"],
        &["validate", "--output", "github"],
        &["validate", "--output", "sarif"],
        &["explain", "cluster/hotel"],
        &["explain", EVIL],
        &["status"],
        &["status", "-o", "wide"],
        &["reconcile", "--once"],
    ] {
        let shown = printed(&person.carp(command));
        assert!(!shown.is_empty(), "{command:?}");
        is_harmless(&command.join(" "), &shown);
    }
    for branch in ["carp/rendered", "carp/status"] {
        let told = git(&remote.path(), &["log", "--format=%B", branch]);
        is_harmless(branch, &told);
    }
    let status = git(&remote.path(), &["archive", "--format=tar", "carp/status"]);
    is_harmless("the status", &status.replace('\0', ""));
}
