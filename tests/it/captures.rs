//! The screens in the README are what carp prints. `UPDATE=1 cargo test captures` writes them anew.

use std::fmt::Write as _;
use std::path::Path;

use crate::daily::example;
use crate::support::people;
use crate::support::reconciled::Ran;

const BEGIN: &str = "<!-- capture: carp ";
const NOW: &str = "2026-11-01T09:00:00Z";

/// The page with each block below a mark made anew: the command, and what it prints on the example fleet
/// in a terminal of 100 columns.
fn captured(page: &str) -> String {
    let fleet = example();
    let mut parts = page.split(BEGIN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (line, rest) = part.split_once(" -->\n```text\n").expect("a block follows the mark");
        let (_, rest) = rest.split_once("```\n").expect("the block ends");
        let args: Vec<&str> = line.split(' ').chain(["--now", NOW]).collect();
        let mut command = people::carp(&fleet.path(), &args);
        command.env("COLUMNS", "100");
        let ran = Ran::of(command);
        assert_eq!(ran.exit, 0, "carp {line}: {}", ran.err);
        let _ = write!(out, "{BEGIN}{line} -->\n```text\n$ carp {line}\n{}```\n{rest}", ran.out);
    }
    out
}

#[test]
fn captures_in_the_readme_are_what_carp_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.matches(BEGIN).count() >= 2);
    let anew = captured(&page);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &anew).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(anew == written, "the README's screens are old; run UPDATE=1 cargo test captures");
}

#[test]
fn the_documents_in_the_readme_are_what_carp_reads() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    let page = page.unwrap();
    let fleet = example();
    let documents: Vec<&str> =
        page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(documents.len(), 2);
    for (at, document) in documents.iter().enumerate() {
        // The example has objects of these names already.
        let renamed =
            document.replace("name: we-1", "name: we-9").replace("shop-web", "shop-web-9");
        fleet.write(&format!("fleet/readme-{at}.yaml"), renamed.as_bytes());
    }
    let ran = fleet.carp(&["validate"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("13 clusters, 7 workers"), "{}", ran.out);
}
