//! `carp.yaml`: the fleet as a whole, without which nothing can be decided.

use std::sync::Arc;

use super::check::fleet as rules;
use super::document;
use super::finding::{DocumentSource, Findings};
use super::kind::{DocumentSpec, Root};
use super::read;
use super::split::split;
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::api::FleetSpec;
use crate::model::paths::FLEET_FILE;
use crate::model::{Catalogue, Dir, Store, StoreError, count};

/// What `carp.yaml` says.
#[derive(Default)]
pub(super) struct FleetFile {
    pub(super) name: String,
    /// `None` where the file is missing or broken.
    pub(super) spec: Option<FleetSpec>,
    pub(super) diagnostics: Diagnostics,
}

/// Reads `carp.yaml` in the fleet's root; `None` for the root where there is no such folder.
pub(super) fn read(
    store: &dyn Store,
    root: Option<&Dir>,
    prefix: &str,
) -> Result<FleetFile, StoreError> {
    let mut file = FleetFile::default();
    let Some(entry) = root.and_then(|dir| dir.get(FLEET_FILE)) else {
        let place = if prefix.is_empty() { "the root" } else { prefix };
        let message = format!("there is no `{FLEET_FILE}` in {place}");
        let help = if root.is_some_and(|dir| dir.get("carp.yml").is_some()) {
            "rename `carp.yml` to `carp.yaml`"
        } else {
            "name the folder that holds it, or make a fleet with `carp init`"
        };
        file.diagnostics.push(Diagnostic::new(Code::FleetMissing, message).help(help));
        return Ok(file);
    };
    match read::text(store, FLEET_FILE, entry)? {
        Ok(text) => file.of_text(&text),
        Err(finding) => file.diagnostics.push(finding),
    }
    if file.spec.is_none() {
        file.diagnostics.push(broken());
    }
    Ok(file)
}

fn broken() -> Diagnostic {
    let message = format!("`{FLEET_FILE}` did not load, so nothing can be decided");
    let finding = Diagnostic::new(Code::FleetBroken, message).at(Place::file(FLEET_FILE));
    finding.help("mend what else is found in it")
}

impl FleetFile {
    /// Checks it beside what the fleet's own templates have. A mistake leaves no spec.
    pub(super) fn check_beside(&mut self, catalogue: &Catalogue) {
        let Some(spec) = &self.spec else { return };
        let mut findings = Findings::of(source(0));
        rules::beside(spec, catalogue, &mut findings);
        if findings.has_errors() {
            self.spec = None;
            findings.list.push(broken());
        }
        self.diagnostics.extend(findings.list);
    }

    fn of_text(&mut self, text: &str) {
        let chunks = split(read::without_bom(text));
        let Some(first) = chunks.first() else {
            let message = format!("`{FLEET_FILE}` holds no document");
            let finding = Diagnostic::new(Code::FileEmpty, message).at(Place::file(FLEET_FILE));
            self.diagnostics.push(finding.help("write a document of kind Fleet into it"));
            return;
        };
        let item = document::read(*first, source(0), Root::File);
        let mut findings = item.findings;
        if let Some(body) = &item.body {
            rules::check(body, &mut findings);
        }
        if chunks.len() > 1 {
            let mut second = Findings::of(source(1));
            let message =
                format!("`{FLEET_FILE}` holds {}", count(chunks.len() as u64, "document"));
            let help = "keep the one of kind Fleet and move the others below `fleet`";
            second.add(Code::InvalidValue, FieldPath::default(), message, help);
            findings.list.extend(second.list);
        }
        let broken = findings.has_errors();
        self.diagnostics.extend(findings.list);
        if let Some(body) = item.body.filter(|_| !broken)
            && let DocumentSpec::Fleet(spec) = body.spec
        {
            self.name = body.name;
            self.spec = Some(*spec);
        }
    }
}

fn source(document: usize) -> DocumentSource {
    DocumentSource { file: Arc::from(FLEET_FILE), document }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, Memory, load_files, load_tree};
    use super::*;
    use crate::model::{Entry, EntryKind};

    fn codes(files: &[(&str, &str)]) -> Vec<Code> {
        let loaded = load_files(files);
        assert!(loaded.fleet_broken);
        loaded.diagnostics.iter().map(|d| d.code).collect()
    }

    #[test]
    fn without_a_fleet_nothing_is_decided() {
        assert_eq!(codes(&[]), [Code::FleetMissing]);
        assert_eq!(codes(&[("carp.yml", CARP)]), [Code::FleetMissing]);
        assert_eq!(codes(&[("carp.yaml", "")]), [Code::FileEmpty, Code::FleetBroken]);
        assert_eq!(codes(&[("carp.yaml", "a: [")]), [Code::YamlSyntax, Code::FleetBroken]);
    }

    #[test]
    fn a_fleet_is_one_document_of_its_kind() {
        let two = format!("{CARP}---\n{CARP}");
        assert_eq!(codes(&[("carp.yaml", &two)]), [Code::InvalidValue, Code::FleetBroken]);
        let other = CARP.replace("kind: Fleet", "kind: Worker");
        assert_eq!(codes(&[("carp.yaml", &other)]), [Code::UnknownKind, Code::FleetBroken]);
        let typo = CARP.replace("spec:", "spec:\n  guard: {}\n");
        assert_eq!(codes(&[("carp.yaml", &typo)]), [Code::UnknownField, Code::FleetBroken]);
    }

    #[test]
    fn the_fleets_file_is_no_link() {
        let store = Memory::default();
        let id = store.put_blob(b"x").unwrap();
        let link = Entry { kind: EntryKind::Symlink, id };
        let loaded = load_tree(&store, &[("carp.yaml", link)]);
        assert!(loaded.fleet_broken);
        assert_eq!(loaded.diagnostics.iter().next().unwrap().code, Code::FileNotPlain);
    }

    #[test]
    fn a_fleet_has_its_name_and_spec() {
        let loaded = load_files(&[("carp.yaml", CARP)]);
        assert!(!loaded.fleet_broken && loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.fleet.name, "test");
        assert_eq!(loaded.fleet.spec.credentials[0].name, "main");
    }
}
