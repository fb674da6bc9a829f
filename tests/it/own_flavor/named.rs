//! carp's own flavors are named in its code in one place.

use carp::model::Catalogue;

use super::{files_of, root};

/// Where a flavor that is shipped may be named, and why.
const NAMED_IN: &[(&str, &str)] = &[
    ("model/fleet.rs", "the flavors of what names none"),
    ("cli/examples.rs", "what people read after `--help`"),
];

/// The code of a source, without what is for tests and without comments: what people read may have examples.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
    code.filter(|line| !line.trim_start().starts_with("//"))
}

/// Whether a line has a word, which may be a part of a path, and not of another word.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[test]
fn no_flavor_that_is_shipped_is_named_in_code() {
    let catalogue = Catalogue::default();
    // `kind` is also a key of every document, `attached` a word, and `aks` a command of Azure's.
    let plain = ["kind", "attached", "aks"];
    let names: Vec<_> = catalogue.flavors().map(|(name, _)| name).collect();
    let wrong = |line: &str| {
        names.iter().any(|name| {
            if plain.contains(name) {
                line.contains("flavor") && line.contains(&format!("\"{name}\""))
            } else {
                has_word(line, name)
            }
        })
    };
    assert!(wrong("let x = \"capz/cluster.yaml\";") && wrong("flavor == \"kind\""));
    assert!(!wrong("kamaji-capz-2 escapzed") && !wrong("\"kind\": \"Cluster\""));
    let mut found = Vec::new();
    for (path, text) in files_of(&root().join("src")) {
        let name = path.rsplit('/').next().unwrap().trim_end_matches(".rs");
        let of_tests = ["tests", "fixture", "sample", "table"];
        let is_test = of_tests.contains(&name)
            || name.ends_with("_tests")
            || ["plan/world/", "plan/laws/", "/tests/"].iter().any(|room| path.contains(room));
        let allowed = NAMED_IN.iter().any(|(file, _)| *file == path);
        if !is_test && !allowed {
            found.extend(
                code(&text).filter(|line| wrong(line)).map(|line| format!("{path}: {line}")),
            );
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
