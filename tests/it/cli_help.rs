//! `docs/cli.md` is what `--help` says. `UPDATE=1 cargo test` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "# The command line\n\nWhat `carp help` and `carp COMMAND --help` print. A test keeps \
     this page as it is:\n`UPDATE=1 cargo test cli_help` writes it anew.\n";

fn page() -> String {
    let mut root = carp::cli::command().term_width(100);
    root.build();
    let mut page = format!("{HEAD}\n## carp\n\n```text\n{}```\n", help(&mut root));
    commands(&root, "carp", &mut page);
    page
}

/// The commands below one, and those below each of them.
fn commands(of: &clap::Command, path: &str, page: &mut String) {
    for sub in of.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        let mut sub = sub.clone().term_width(100);
        let path = format!("{path} {}", sub.get_name());
        let _ = write!(page, "\n## {path}\n\n```text\n{}```\n", help(&mut sub));
        commands(&sub, &path, page);
    }
}

fn help(command: &mut clap::Command) -> String {
    let help = command.render_long_help().to_string();
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned() + "\n"
}

#[test]
fn the_page_is_what_help_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == written,
        "docs/cli.md is not what --help says; run UPDATE=1 cargo test cli_help"
    );
}
