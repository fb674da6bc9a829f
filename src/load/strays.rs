//! `document-not-read`: documents of a fleet that stand where carp does not read them. Whoever wrote one
//! waits for a cluster that nobody makes.
//!
//! It is for people, and nothing is decided by it. So a file that is not here, as in a clone without all
//! objects, is passed over.

use std::sync::Arc;

use super::desired;
use super::kind::{Kind, Root};
use super::split::split;
use super::tree;
use crate::diag::{Code, Diagnostic, Place};
use crate::model::api::{GROUP, Roots};
use crate::model::paths::FLEET_FILE;
use crate::model::{Dir, Entry, EntryKind, Input, Store, StoreError, count};

/// The most findings; the rest is counted.
const MOST: usize = 20;
/// The most files that are looked into: a repository may hold more than a fleet.
const MOST_FILES: usize = 10_000;
/// The largest file that is looked into, in bytes.
const LARGEST: u64 = super::read::MAX_FILE;
/// By these files a folder is another fleet's, or carp wrote it.
const NOT_OURS: [&str; 4] = [FLEET_FILE, "carp.lock", "fleet.lock", "pending.lock"];

/// The findings for a fleet with these roots.
///
/// # Errors
/// The store failed, otherwise than by not having a file's bytes.
pub fn strays(
    input: &Input,
    store: &dyn Store,
    roots: &Roots,
) -> Result<Vec<Diagnostic>, StoreError> {
    let Some(root) = tree::dir_at(store, input.tree, &input.prefix)? else { return Ok(Vec::new()) };
    let mut walk = StrayWalk { store, roots, looked: 0, found: Vec::new() };
    walk.folder("", &root)?;
    let mut found = walk.found;
    found.sort();
    let more = found.len().saturating_sub(MOST);
    if more > 0 {
        found.truncate(MOST);
        let message = format!("{} like these are not read", count(more as u64, "more file"));
        found.push(Diagnostic::new(Code::DocumentNotRead, message).help(where_to(roots)));
    }
    Ok(found)
}

struct StrayWalk<'a> {
    store: &'a dyn Store,
    roots: &'a Roots,
    looked: usize,
    found: Vec<Diagnostic>,
}

impl StrayWalk<'_> {
    fn folder(&mut self, path: &str, dir: &Arc<Dir>) -> Result<(), StoreError> {
        if !path.is_empty() && NOT_OURS.iter().any(|file| dir.get(file).is_some()) {
            return Ok(());
        }
        for (name, entry) in dir.iter() {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let hidden =
                name.starts_with('.') || [&self.roots.templates, &self.roots.crds].contains(&&path);
            match entry.kind {
                EntryKind::Dir if !hidden => {
                    let dir = self.store.dir(entry.id)?;
                    self.folder(&path, &dir)?;
                }
                EntryKind::File | EntryKind::Executable => self.file(&path, entry)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str, entry: Entry) -> Result<(), StoreError> {
        let below = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        let in_root = below(&self.roots.fleet) || below(&self.roots.policies);
        let json = path.to_ascii_lowercase().ends_with(".json");
        let lower = desired::is_desired(&path.to_ascii_lowercase(), entry);
        let read = desired::is_desired(path, entry) && (in_root || path == FLEET_FILE);
        if read || !(json || lower) || self.looked >= MOST_FILES {
            return Ok(());
        }
        self.looked += 1;
        let Some(text) = self.text(entry)? else { return Ok(()) };
        let Some(kind) = kind_of(&text, json) else { return Ok(()) };
        let (message, help) = if in_root {
            let message = format!("this {} is not read: carp reads .yaml and .yml", kind.name());
            (message, "write it as YAML, in a file that ends with .yaml".to_owned())
        } else {
            let message =
                format!("this {} is not read: it stands outside of the roots", kind.name());
            (message, where_to(self.roots))
        };
        let finding = Diagnostic::new(Code::DocumentNotRead, message).at(Place::file(path));
        self.found.push(finding.help(help));
        Ok(())
    }

    fn text(&self, entry: Entry) -> Result<Option<String>, StoreError> {
        let bytes = match self.store.blob_size(entry.id) {
            Ok(size) if size > LARGEST => return Ok(None),
            Ok(_) => self.store.blob(entry.id),
            Err(error) => Err(error),
        };
        match bytes {
            Ok(bytes) => Ok(std::str::from_utf8(&bytes).ok().map(str::to_owned)),
            Err(StoreError::Absent { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn where_to(roots: &Roots) -> String {
    let Roots { fleet, policies, .. } = roots;
    format!("carp reads what stands below `{fleet}/` and `{policies}/`; move it there")
}

/// The kind of the first document of a fleet that a text holds.
fn kind_of(text: &str, json: bool) -> Option<Kind> {
    let of_fleet = |kind: &Kind| matches!(kind.root(), Root::Fleet | Root::Policies);
    if json {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        let group = value["apiVersion"].as_str()?.split('/').next()?;
        return Kind::named(value["kind"].as_str()?).filter(of_fleet).filter(|_| group == GROUP);
    }
    split(text).iter().find_map(|chunk| {
        let field = |name: &str| {
            let value =
                chunk.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let value = value.split(" #").next().unwrap_or_default().trim();
            Some(value.trim_matches(['"', '\'']).to_owned())
        };
        let group = field("apiVersion")?.split('/').next()?.to_owned();
        Kind::named(&field("kind")?).filter(of_fleet).filter(|_| group == GROUP)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Memory, cluster};
    use super::*;
    use crate::model::Id;
    use crate::model::Vouching;

    fn told(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let store = Memory::default();
        let entry = |text: &str| -> Entry {
            let id = store.put_blob(text.as_bytes()).unwrap();
            Entry { kind: EntryKind::File, id }
        };
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, entry(text))).collect();
        let tree: Id = store.tree(&files);
        let input = Input {
            tree,
            prefix: String::new(),
            commit: None,
            rewound_from: None,
            vouching: Vouching::default(),
        };
        let found = strays(&input, &store, &Roots::default()).unwrap();
        let file = |d: &Diagnostic| d.place.as_ref().map_or("", |p| &p.file).to_owned();
        found.iter().map(|d| (file(d), d.message.clone())).collect()
    }

    #[test]
    fn a_document_outside_of_the_roots_or_in_json_is_told() {
        let cluster = cluster("");
        let json = r#"{"apiVersion": "carp.dev/v1alpha1", "kind": "ManagedCluster"}"#;
        let found = told(&[
            ("carp.yaml", "kind: Fleet\n"),
            ("fleet/a.yaml", &cluster),
            ("policies/tests/t.yaml", &cluster),
            ("fleet/b.json", json),
            ("fleet/c.YAML", &cluster),
            ("clusters/d.yml", &format!("# a note\n---\n{cluster}")),
            ("clusters/settings.json", "{\"a\": 1}"),
            ("README.md", &cluster),
        ]);
        let outside = "this ManagedCluster is not read: it stands outside of the roots";
        let json = "this ManagedCluster is not read: carp reads .yaml and .yml";
        let wanted = [("clusters/d.yml", outside), ("fleet/b.json", json), ("fleet/c.YAML", json)];
        assert_eq!(found, wanted.map(|(file, message)| (file.to_owned(), message.to_owned())));
    }

    #[test]
    fn another_fleet_what_carp_writes_templates_and_hidden_folders_are_nobodys_mistake() {
        let cluster = cluster("");
        let found = told(&[
            ("carp.yaml", "kind: Fleet\n"),
            ("other/carp.yaml", "kind: Fleet\n"),
            ("other/fleet/a.yaml", &cluster),
            ("workers/w1/carp.lock", "{}"),
            ("workers/w1/clusters/a/cluster.yaml", &cluster),
            ("templates/own/tests/one.yaml", &cluster),
            (".github/a.yaml", &cluster),
            ("deploy/crd.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: ManagedCluster\n"),
            ("deploy/kind.yaml", "apiVersion: carp.dev/v1alpha1\nkind: KINDCluster\n"),
        ]);
        assert_eq!(found, []);
    }

    #[test]
    fn a_whole_fleet_in_the_wrong_place_is_twenty_and_a_number() {
        let cluster = cluster("");
        let paths: Vec<_> = (0..30).map(|n| format!("clusters/{n}.yaml")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), cluster.as_str())).collect();
        let found = told(&files);
        assert_eq!(found.len(), MOST + 1);
        assert_eq!(found[MOST].1, "10 more files like these are not read");
    }
}
