//! The screens in the README are what carp prints. `UPDATE=1 cargo test captures` writes them anew.

use std::fmt::Write as _;
use std::path::Path;

use crate::daily::example;
use crate::support::people;
use crate::support::reconciled::{Ran, Reconciled};

/// Before a block of text: what is typed, commands parted by ` && `, the first without its `carp`.
const SCREEN: &str = "<!-- capture: carp ";
/// Before what a pull request shows, which a page renders as a code host does.
const COMMENT: &str = "<!-- comment: carp ";
const COMMENT_ENDS: &str = "<!-- comment ends -->\n";
const NOW: &str = "2026-11-01T09:00:00Z";

/// What a command prints on the example fleet, in a terminal of 100 columns.
fn printed(fleet: &Reconciled, line: &str) -> String {
    let args: Vec<&str> = line.split(' ').chain(["--now", NOW]).collect();
    let mut command = people::carp(&fleet.path(), &args);
    command.env("COLUMNS", "100");
    let ran = Ran::of(command);
    assert_eq!(ran.exit, 0, "carp {line}: {}", ran.err);
    ran.out
}

/// The page with each block below a mark made anew: the commands, and what each prints. What one command writes is
/// there for those that follow.
fn captured(page: &str) -> String {
    let fleet = example();
    let mut parts = page.split("<!-- c");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts.map(|part| format!("<!-- c{part}")) {
        let told = |mark: &str| part.strip_prefix(mark)?.split_once(" -->\n");
        if let Some((line, rest)) = told(SCREEN) {
            let rest = rest.strip_prefix("```text\n").expect("a block follows the mark");
            let (_, rest) = rest.split_once("```\n").expect("the block ends");
            let _ = write!(out, "{SCREEN}{line} -->\n```text\n");
            for line in line.split(" && carp ") {
                let _ = write!(out, "$ carp {line}\n{}", printed(&fleet, line));
            }
            let _ = write!(out, "```\n{rest}");
        } else if let Some((line, _)) = told(COMMENT) {
            let comment = without_diffs(&printed(&fleet, line));
            let _ = write!(out, "{COMMENT}{line} -->\n{comment}\n");
        } else {
            out.push_str(&part);
        }
    }
    out
}

/// A comment without the line by which it is found again and without the diffs that are folded in it.
fn without_diffs(comment: &str) -> String {
    let (_, comment) = comment.split_once('\n').expect("the first line is the mark");
    let (before, folded) = comment.split_once("\n<details>").unwrap_or((comment, ""));
    let after = folded.rsplit_once("</details>\n").map_or("", |(_, after)| after);
    format!("{before}{after}")
}

#[test]
fn captures_in_the_readme_are_what_carp_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.matches(SCREEN).count() >= 3 && page.contains(COMMENT));
    assert_eq!(page.matches(COMMENT).count(), page.matches(COMMENT_ENDS).count());
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
