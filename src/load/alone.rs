//! Documents that are read by themselves, without the rest of the fleet.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::document;
use super::finding::DocumentSource;
use super::item::Item;
use super::kind::{DocumentSpec, Root};
use super::split::split;
use super::{fleet_file, tree, yaml};
use crate::model::api::{FleetSpec, WorkerOverlaySpec};
use crate::model::{Digest, Id, Store, StoreError};

/// What `carp.yaml` of a tree says, and all defaults where it is missing or broken: enough to know the
/// names of the branches before the fleet is loaded.
///
/// # Errors
/// The store failed.
pub fn fleet_spec(store: &dyn Store, tree: Id, prefix: &str) -> Result<FleetSpec, StoreError> {
    Ok(readable_fleet_spec(store, tree, prefix)?.unwrap_or_default())
}

/// What `carp.yaml` of a tree says; `None` where it is missing or broken.
///
/// # Errors
/// The store failed.
pub fn readable_fleet_spec(
    store: &dyn Store,
    tree: Id,
    prefix: &str,
) -> Result<Option<FleetSpec>, StoreError> {
    let root = tree::dir_at(store, tree, prefix)?;
    Ok(fleet_file::read(store, root.as_deref(), prefix)?.spec)
}

/// The overlays that stand in a file's text, by the names of their workers, as the fleet reads them: short
/// forms too. One that does not load has the reason in the place of what it says.
#[must_use]
pub fn worker_overlays(text: &str) -> Vec<(String, Result<WorkerOverlaySpec, String>)> {
    let chunks = split(text);
    let source = |document| DocumentSource { file: "".into(), document };
    let items = (0..).zip(chunks).map(|(i, chunk)| document::read(chunk, source(i), Root::Fleet));
    items.filter(|item| item.kind.as_deref() == Some("WorkerOverlay")).map(overlay).collect()
}

fn overlay(item: Item) -> (String, Result<WorkerOverlaySpec, String>) {
    let name = item.name.unwrap_or_default();
    if let Some(DocumentSpec::WorkerOverlay(spec)) = item.body.map(|body| body.spec) {
        return (name, Ok(*spec));
    }
    let why = item.findings.list.into_iter().next().map(|finding| finding.message);
    (name, Err(why.unwrap_or_else(|| "it does not load".to_owned())))
}

/// The Acknowledgements of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgements {
    /// The digest of what each says, by name. Of two of one name the first counts, as in the fleet.
    pub by_name: BTreeMap<String, Digest>,
    /// Whether anything else stands in the file, or anything that cannot be read.
    pub beside_others: bool,
}

/// The Acknowledgements that stand in a file of any commit.
#[must_use]
pub fn acknowledgements(bytes: &[u8]) -> Acknowledgements {
    let mut all = Acknowledgements::default();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Acknowledgements { beside_others: true, ..all };
    };
    for (document, chunk) in split(text).into_iter().enumerate() {
        let item = document::read(chunk, DocumentSource { file: "".into(), document }, Root::Fleet);
        match item.body {
            Some(body) if matches!(body.spec, DocumentSpec::Acknowledgement(_)) => {
                all.by_name.entry(body.name).or_insert(body.digest);
            }
            _ => all.beside_others = true,
        }
    }
    all
}

/// Reads a document that carp wrote: a decision record, a status document.
///
/// # Errors
/// The bytes are not such a document; the message says why.
pub fn read_yaml<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    yaml::parse_written(text).map_err(|fault| fault.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_are_told_from_what_else_stands_in_a_file() {
        let one = |name: &str, count: u32| {
            format!(
                "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata: {{name: {name}}}\nspec: {{of: \
                 moves, count: {count}, digest: \"{}\"}}\n",
                "0".repeat(64)
            )
        };
        let read = |text: &str| acknowledgements(text.as_bytes());
        let both = read(&format!("# seen\n{}---\n{}", one("a", 1), one("b", 2)));
        assert_eq!((both.by_name.len(), both.beside_others), (2, false));
        assert_eq!(both.by_name["a"], read(&one("a", 1)).by_name["a"], "comments say nothing");
        assert_ne!(both.by_name["a"], read(&one("a", 3)).by_name["a"]);
        for other in ["kind: Worker\n", "spec: [\n", "just text\n"] {
            assert!(read(&format!("{}---\n{other}", one("a", 1))).beside_others, "{other}");
        }
        assert!(acknowledgements(&[0xff]).beside_others && read("").by_name.is_empty());
    }
}
