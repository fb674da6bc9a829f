//! What became of definitions that were pulled, as text.

use std::fmt::Write as _;

use super::{Palette, Tone, count};

/// What a pull did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullView {
    /// The folder, from the fleet's root.
    pub folder: String,
    /// The files of the releases.
    pub rows: Vec<PullRow>,
    /// The definitions that the fleet has itself.
    pub own: Vec<String>,
    /// The definitions that were left to another component, in words.
    pub shared: Vec<String>,
    /// How many files were written, and how many removed; `None` where all stood.
    pub written: Option<(usize, usize)>,
    /// What people should know besides.
    pub notes: Vec<String>,
}

impl PullView {
    /// Whether all was had.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.rows.iter().all(|row| row.failed.is_none())
    }
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRow {
    /// The component.
    pub component: String,
    /// Its version.
    pub version: String,
    /// Where the file is published.
    pub address: String,
    /// How many definitions come from it.
    pub definitions: usize,
    /// Whether it stood as it was pulled before.
    pub stands: bool,
    /// Why it was not had.
    pub failed: Option<String>,
}

/// How what was pulled compares with what is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckView {
    /// The folder, from the fleet's root.
    pub folder: String,
    /// What is not as it should be.
    pub found: Vec<String>,
    /// How many definitions are there.
    pub definitions: usize,
    /// Of how many releases some are wanted.
    pub releases: usize,
    /// What people should know besides.
    pub notes: Vec<String>,
}

/// What a pull did, a line for each file.
pub(in crate::cli) fn pull(view: &PullView, palette: Palette) -> String {
    let mut out = String::new();
    for row in &view.rows {
        let file = row.address.rsplit('/').next().unwrap_or_default();
        let _ = write!(out, "{} {} {file}: ", row.component, row.version);
        let many = count(row.definitions as u64, "definition");
        let _ = match &row.failed {
            Some(why) => writeln!(out, "{}: {why}", palette.paint(Tone::Bad, "failed")),
            None if row.stands => writeln!(out, "{many}, as before"),
            None => writeln!(out, "{many}"),
        };
    }
    for name in &view.own {
        let _ = writeln!(out, "left out {name}, of which the fleet has its own");
    }
    for shared in &view.shared {
        let _ = writeln!(out, "left out {shared}");
    }
    let folder = &view.folder;
    match view.written {
        None => {
            let _ = writeln!(out, "{folder} was left as it is");
        }
        Some((written, gone)) => {
            let many = |n: usize| count(n as u64, "definition");
            let gone = if gone == 0 { String::new() } else { format!(", removed {}", many(gone)) };
            let _ = writeln!(out, "wrote {} to {folder}{gone}", many(written));
        }
    }
    if !view.is_whole() {
        let help =
            "what failed was not written, and what was pulled of it before stays; run it again";
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

/// How what was pulled compares with what is installed.
pub(in crate::cli) fn check(view: &CheckView, palette: Palette) -> String {
    let CheckView { folder, found, definitions, releases, .. } = view;
    if found.is_empty() {
        let many = count(*definitions as u64, "definition");
        let of = count(*releases as u64, "release");
        return format!("{folder} has {many}, of the {of} that the fleet has installed\n");
    }
    let not = palette.paint(Tone::Bad, "not what the fleet has installed");
    let mut out = format!("{folder} is {not}:\n");
    for line in found {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  help: `carp crds pull` brings it up to date");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(version: &str, stands: bool, failed: Option<&str>) -> PullRow {
        PullRow {
            component: "moon".into(),
            version: version.into(),
            address: format!("https://x.example.com/{version}/crds.yaml"),
            definitions: usize::from(failed.is_none()) * 2,
            stands,
            failed: failed.map(str::to_owned),
        }
    }

    #[test]
    fn each_file_has_its_line() {
        let view = PullView {
            folder: "crds/pulled".into(),
            rows: vec![row("v1", true, None), row("v2", false, None), row("v3", false, Some("no"))],
            own: vec!["as.x.io".into()],
            shared: vec!["bs.x.io of sun, which moon has too".into()],
            written: Some((1, 2)),
            notes: Vec::new(),
        };
        assert_eq!(
            pull(&view, Palette::plain()),
            "moon v1 crds.yaml: 2 definitions, as before\nmoon v2 crds.yaml: 2 definitions\nmoon v3 crds.yaml: failed: no\nleft \
             out as.x.io, of which the fleet has its own\nleft out bs.x.io of sun, which moon has too\nwrote 1 definition to crds/pulled, removed 2 definitions\n  help: what \
             failed was not written, and what was pulled of it before stays; run it again\n"
        );
        let (rows, own) = (vec![row("v1", true, None)], Vec::new());
        let shared = Vec::new();
        let fine = PullView { rows, own, shared, written: None, ..view };
        let said = pull(&fine, Palette::plain());
        assert_eq!(
            said,
            "moon v1 crds.yaml: 2 definitions, as before\ncrds/pulled was left as it is\n"
        );
    }

    #[test]
    fn what_differs_is_listed_with_what_to_do() {
        let view = CheckView {
            folder: "crds/pulled".into(),
            found: vec!["moon v2 is not pulled; v1 is".into()],
            definitions: 1,
            releases: 1,
            notes: Vec::new(),
        };
        assert_eq!(
            check(&view, Palette::plain()),
            "crds/pulled is not what the fleet has installed:\n  moon v2 is not pulled; v1 is\n  help: `carp crds pull` brings it \
             up to date\n"
        );
        let fine = CheckView { found: Vec::new(), ..view };
        assert_eq!(
            check(&fine, Palette::plain()),
            "crds/pulled has 1 definition, of the 1 release that the fleet has installed\n"
        );
    }
}
