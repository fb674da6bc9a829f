//! How many of something is told by `model::count`: nobody reads "1 clusters".

use std::path::Path;

use crate::architecture::rust_files;

/// What carp counts.
const NOUNS: &[&str] = &[
    "cluster", "commit", "deletion", "diff", "document", "error", "file", "finding", "machine",
    "node", "object", "pool", "row", "table", "tenant", "template", "test", "warning", "worker",
];

/// The places in a source where a text has a number before a plural of its own.
fn own_plurals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let plural = |line: &&str| {
        line.match_indices("} ").any(|(at, _)| {
            let word: String =
                line[at + 2..].chars().take_while(char::is_ascii_alphabetic).collect();
            let many = word.strip_suffix('s').is_some_and(|noun| NOUNS.contains(&noun));
            // `{commit} files` would name the commit whose files these are, which nothing does.
            // Of `2/3 workers` Kubernetes makes a plural as well.
            let counts =
                |begin: usize| !line[begin..at].contains(' ') && !line[..begin].ends_with('/');
            many && line[..at].rfind('{').is_some_and(counts)
        })
    };
    lines.filter(plural).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_plural_is_made_in_one_place() {
    assert_eq!(own_plurals("a(\"{n} clusters\");\n// {n} clusters\n").len(), 1);
    assert_eq!(own_plurals("format!(\"{} diffs shown\")\n#[cfg(test)]\n\"{} files\"").len(), 1);
    assert_eq!(own_plurals("\"{} and {worker} reports\" {} clustering"), [""; 0]);
    let mut found = Vec::new();
    for file in rust_files(Path::new("src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let of = |line: String| format!("{}: {line}", file.display());
        found.extend(own_plurals(&text).into_iter().map(of));
    }
    assert!(found.is_empty(), "use `model::count`:\n{}", found.join("\n"));
}
