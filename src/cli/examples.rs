//! The examples at the end of each `--help`. A test reads every line of them as a command line.

use clap::Command;

/// Each command by its path below `carp`, with the lines of its examples: what they do, and the command.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    ("demo", &[("the newcomer's minute, in the folder carp-demo", "carp demo")]),
    ("init", &[("a new repository", "carp init my-fleet"), ("into a fresh clone", "carp init .")]),
    (
        "validate",
        &[
            ("every mistake of the fleet in this folder", "carp validate"),
            ("for a code scanner", "carp validate --output sarif"),
        ],
    ),
    (
        "plan",
        &[
            ("what the next run would do with the files as they stand", "carp plan"),
            ("of a branch, without checking it out", "carp plan --fleet .@my-branch"),
            ("for a pull request's comment", "carp plan --output markdown"),
        ],
    ),
    (
        "render",
        &[
            ("everything that the next run would commit", "carp render --out out"),
            ("one cluster's manifests", "carp render --out out --cluster pay-eu"),
            ("again on every save of a template", "carp render --out out --worker we-1 --watch"),
        ],
    ),
    (
        "templates",
        &[
            ("which templates there are, and whose", "carp templates list"),
            ("what clusters of a flavor may say besides", "carp templates explain capz"),
            ("a copy to change", "carp templates export parts/pools.yaml"),
            ("what they are expected to make", "carp templates test"),
        ],
    ),
    ("templates list", &[("which templates there are, and whose", "carp templates list")]),
    (
        "templates explain",
        &[("what clusters of a flavor may say besides", "carp templates explain capz")],
    ),
    ("templates export", &[("a copy to change", "carp templates export parts/pools.yaml")]),
    ("templates test", &[("what they are expected to make", "carp templates test")]),
    (
        "explain",
        &[
            ("why a cluster is where it is, or waits", "carp explain cluster pay-eu"),
            ("the same as a past run saw it", "carp explain cluster/pay-eu --at HEAD~3"),
            ("what a worker still needs", "carp explain worker we-1"),
            ("what a code means", "carp explain unknown-field"),
            ("what a field means", "carp explain cluster.spec.nodePools"),
        ],
    ),
    (
        "status",
        &[
            ("everything", "carp status"),
            ("what waits, with all columns", "carp get clusters --phase pending -o wide"),
            ("a tenant's clusters in production", "carp get clusters --tenant shop -l env=prod"),
            ("one cluster as an API server would give it", "carp get cluster pay-eu -o yaml"),
            ("again whenever something changes", "carp status --worker we-1 --watch"),
        ],
    ),
    (
        "reconcile",
        &[
            ("one turn, in CI or by hand", "carp reconcile --once"),
            (
                "the controller, every five minutes",
                "carp reconcile --fleet https://git.example.com/fleet.git --interval 5m",
            ),
        ],
    ),
    (
        "simulate",
        &[
            ("what a lost worker would mean", "carp simulate --lose we-1"),
            ("how many clusters still fit", "carp simulate --runway"),
        ],
    ),
    (
        "replay",
        &[
            ("whether the last commit follows from its inputs", "carp replay"),
            ("the same of a range", "carp replay HEAD~5..HEAD"),
        ],
    ),
    (
        "ack",
        &[(
            "let through what a guard holds, with the line that `carp plan` prints",
            "carp ack deletions --count 4 --digest \
             2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        )],
    ),
    ("cordon", &[("nothing new goes to a worker", "carp cordon we-1")]),
    ("uncordon", &[("it takes clusters again", "carp uncordon we-1")]),
    (
        "drain",
        &[
            ("empty a worker, as far as what is on it may move", "carp drain we-1"),
            ("two clusters at a time", "carp drain we-1 --max-unavailable 2"),
        ],
    ),
    ("crds", &[("for `kubectl explain`", "carp crds")]),
    (
        "crds pull",
        &[
            ("after a version changed", "carp crds pull"),
            ("in CI", "carp crds pull --check"),
            ("without the internet", "carp crds pull --from https://files.example.com/mirror"),
        ],
    ),
    ("schema", &[("for an editor", "carp schema"), ("of one kind", "carp schema cluster")]),
    (
        "agent",
        &[(
            "on a worker",
            "carp agent --worker we-1 --repository https://git.example.com/fleet.git",
        )],
    ),
    (
        "kind",
        &[(
            "the clusters of a worker, on this machine",
            "carp kind apply --repository ../fleet.git --worker local",
        )],
    ),
    ("kind run", &[("the controller", "carp kind run")]),
    (
        "kind apply",
        &[(
            "the clusters of a worker, on this machine",
            "carp kind apply --repository ../fleet.git --worker local",
        )],
    ),
    ("completions", &[("for the shell that is open", "carp completions bash")]),
    ("man", &[("pages for all commands", "carp man --out man1")]),
    ("version", &[("for a program", "carp version -o json")]),
];

/// The command with the examples in it.
pub(super) fn add(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (path, examples)| {
        let text = text(examples);
        match path.split_once(' ') {
            None => command.mut_subcommand(*path, |sub| sub.after_long_help(text)),
            Some((above, below)) => command.mut_subcommand(above, |sub| {
                sub.mut_subcommand(below, |inner| inner.after_long_help(text))
            }),
        }
    })
}

fn text(examples: &[(&str, &str)]) -> String {
    let lines = examples.iter().map(|(what, line)| format!("  # {what}\n  {line}"));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_that_are_command_lines() {
        fn visit(command: &Command, path: &str) {
            for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
                let path = format!("{path} {}", sub.get_name()).trim().to_owned();
                let found = EXAMPLES.iter().find(|(of, _)| *of == path);
                let (_, examples) = found.unwrap_or_else(|| panic!("`carp {path}` has no example"));
                assert!(!examples.is_empty());
                visit(sub, &path);
            }
        }
        let command = super::super::command();
        visit(&command, "");
        for (_, line) in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
            let words = line.split_whitespace();
            let read = super::super::command().try_get_matches_from(words);
            assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
        }
    }
}
