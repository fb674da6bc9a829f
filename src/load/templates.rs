//! The fleet's own templates, as text.

use std::collections::BTreeMap;

use super::read;
use super::tree;
use crate::diag::Diagnostics;
use crate::model::{Dir, Fleet, Id, Input, Store, StoreError};

/// The text of every file below the templates' root, by its path from there. Names that begin with a
/// dot (`.gitkeep`) are left out.
pub(super) fn read(
    store: &dyn Store,
    fleet: Id,
    root: &str,
) -> Result<(BTreeMap<String, String>, Diagnostics), StoreError> {
    let mut texts = BTreeMap::new();
    let mut diagnostics = Diagnostics::default();
    let Some(dir) = tree::dir_at(store, fleet, root)? else { return Ok((texts, diagnostics)) };
    for (path, entry) in tree::files(store, dir, &[])? {
        if path.split('/').any(|part| part.starts_with('.')) {
            continue;
        }
        match read::text(store, &format!("{root}/{path}"), entry)? {
            Ok(text) => {
                texts.insert(path, text);
            }
            Err(finding) => diagnostics.push(finding),
        }
    }
    Ok((texts, diagnostics))
}

/// The text of the files below the fleet's `roots.templates`, by their path from there. What cannot be read is left out:
/// loading the fleet tells of it.
///
/// # Errors
/// The store failed.
pub fn own_templates(
    input: &Input,
    store: &dyn Store,
    fleet: &Fleet,
) -> Result<BTreeMap<String, String>, StoreError> {
    let roots = fleet.spec.roots.clone().unwrap_or_default();
    let Some(root) = tree::dir_at(store, input.tree, &input.prefix)? else {
        return Ok(BTreeMap::new());
    };
    Ok(read(store, Dir::id(&root), &roots.templates)?.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, Memory, load_files, load_tree};
    use super::*;
    use crate::diag::Code;
    use crate::model::{Entry, EntryKind};

    #[test]
    fn templates_are_text_by_path() {
        let loaded = load_files(&[
            ("carp.yaml", CARP),
            ("templates/kamaji-capz/cluster.yaml", "{{ cluster.name }}"),
            ("templates/.gitkeep", ""),
        ]);
        let paths: Vec<_> =
            loaded.templates.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(paths, [("kamaji-capz/cluster.yaml", "{{ cluster.name }}")]);
    }

    #[test]
    fn a_template_that_cannot_be_read_ends_the_run() {
        let store = Memory::default();
        let id = store.put_blob(b"\xff").unwrap();
        let entry = Entry { kind: EntryKind::File, id };
        let loaded = load_tree(&store, &[("templates/x.yaml", entry)]);
        assert!(loaded.fleet_broken, "the built-in template must not take its place");
        let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::FileNotUtf8, Code::FleetBroken]);
    }
}
