//! The documents that are not the same in two trees: what a run must load where all else stands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::amounts::blocks;
use super::check::rule_count::rules;
use super::desired::MAX_DOCUMENTS;
use super::differing::{DifferingFile, DifferingFiles};
use super::document;
use super::finding::DocumentSource;
use super::folders::Folders;
use super::item::Item;
use super::kind::{Kind, Root};
use super::read;
use super::split::{Chunk, split};
use crate::model::api::FleetSpec;
use crate::model::{Digest, DocumentGrowth, EntryKind, Id, Name, Store, StoreError};

/// The most documents that may differ on either side.
const MOST_DOCUMENTS: usize = 1_000;

/// Documents that were edited, added or removed, and no other.
#[derive(Default)]
pub struct ChangedDocuments {
    pub(super) items: Vec<Item>,
    /// The clusters among them that are new.
    added: BTreeSet<Name>,
    /// The clusters whose documents are gone, each with the file in which its document was.
    removed: BTreeMap<Name, String>,
    /// The files that differ, be it in form alone.
    files: BTreeSet<String>,
    /// Whether a file differs that is not read.
    unread: bool,
    /// By how much there is more than before.
    growth: DocumentGrowth,
    /// How many files were read.
    pub(super) parsed: u64,
}

impl ChangedDocuments {
    /// The clusters that were edited or added, each with its file.
    #[must_use]
    pub fn clusters(&self) -> BTreeMap<Name, String> {
        let named = |item: &Item| {
            let name = Name::parse(item.name.as_deref()?).ok()?;
            Some((name, item.findings.source.file.to_string()))
        };
        self.items.iter().filter_map(named).collect()
    }

    /// The files that differ. One may do so in form alone, which puts its documents at other places.
    #[must_use]
    pub const fn files(&self) -> &BTreeSet<String> {
        &self.files
    }

    /// Whether a file differs that is not read, though it stands where documents do.
    #[must_use]
    pub const fn has_unread(&self) -> bool {
        self.unread
    }

    /// Whether no document says anything else, is new or is gone.
    #[must_use]
    pub fn is_form_only(&self) -> bool {
        self.items.is_empty() && self.removed.is_empty()
    }

    /// Those of them that are new.
    #[must_use]
    pub const fn added(&self) -> &BTreeSet<Name> {
        &self.added
    }

    /// The clusters whose documents are gone, each with the file in which its document was.
    #[must_use]
    pub const fn removed(&self) -> &BTreeMap<Name, String> {
        &self.removed
    }

    /// By how much there is more than before. What there is less of counts for nothing.
    #[must_use]
    pub const fn growth(&self) -> DocumentGrowth {
        self.growth
    }
}

/// The ManagedClusters whose documents say something else in `after` than in `before`, two trees of the desired
/// root called `folder` in a fleet of this `spec`, those that are new, and those that are gone. `None` where more is
/// different than what such documents say: one is of another kind or broken, or in another file than before, too many
/// files differ, there is a file more that is not read, or somebody has more rules of placement than before and may have
/// too many.
///
/// # Errors
/// The store failed.
pub fn changed_clusters(
    store: &dyn Store,
    spec: &FleetSpec,
    folder: &str,
    before: Option<Id>,
    after: Option<Id>,
) -> Result<Option<ChangedDocuments>, StoreError> {
    let mut differing = DifferingFiles::default();
    if !differing.below(store, (folder, 0), [before, after])? {
        return Ok(None);
    }
    let growth = DocumentGrowth { entries: differing.entries, ..DocumentGrowth::default() };
    let folders = Folders::of(Some(spec));
    let mut changed = EditedFiles { folders, growth, ..EditedFiles::default() };
    for file in &differing.files {
        if !changed.file(store, file)?
            || changed.before.len().max(changed.after.len()) > MOST_DOCUMENTS
        {
            return Ok(None);
        }
    }
    let unread = differing.unread;
    let files = differing.files.iter().map(|file| file.path.clone()).collect();
    Ok(changed.into_edited().map(|changed| ChangedDocuments { files, unread, ..changed }))
}

/// What was read of the files that differ.
#[derive(Default)]
struct EditedFiles<'a> {
    folders: Folders<'a>,
    /// By file and name, what a cluster's document says before and after. One in another file is another
    /// document: which file a tenant's documents are in matters.
    before: BTreeMap<(String, String), Digest>,
    after: BTreeMap<(String, String), Item>,
    /// How many rules of placement stand there before and after, by whose they are.
    rules: BTreeMap<Vec<&'a str>, [usize; 2]>,
    parsed: u64,
    growth: DocumentGrowth,
}

impl EditedFiles<'_> {
    /// Reads the documents of a file that are not the same on both sides; `false` where one is not a
    /// ManagedCluster without findings.
    fn file(&mut self, store: &dyn Store, file: &DifferingFile) -> Result<bool, StoreError> {
        let mut texts = [None, None];
        for (text, entry) in texts.iter_mut().zip(file.sides) {
            let Some(entry) = entry else { continue };
            if !matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
                return Ok(false);
            }
            let Ok(read) = read::text(store, &file.path, entry)? else { return Ok(false) };
            *text = Some(read);
        }
        let size = |text: &Option<String>| blocks(text.as_ref().map_or(0, |t| t.len() as u64));
        self.growth.bytes += size(&texts[1]).saturating_sub(size(&texts[0]));
        self.parsed += u64::from(texts[1].is_some());
        let chunks = texts.each_ref().map(|text| {
            text.as_deref().map(|text| split(read::without_bom(text))).unwrap_or_default()
        });
        // A file without documents is a finding, and so is one with too many.
        let readable = 1..=MAX_DOCUMENTS;
        if texts[1].is_some() && !readable.contains(&chunks[1].len()) {
            return Ok(false);
        }
        let [before, after] = &chunks;
        let set =
            |all: &[Chunk<'_>]| all.iter().map(|c| c.text.to_owned()).collect::<BTreeSet<_>>();
        let (had, has) = (set(before), set(after));
        if had.len() != before.len() || has.len() != after.len() {
            return Ok(false);
        }
        let owner = self.folders.tenants_of(&file.path).to_vec();
        let counted = self.rules.entry(owner).or_default();
        for (document, chunk) in before.iter().enumerate().filter(|(_, c)| !has.contains(c.text)) {
            let Some(item) = cluster(chunk, &file.path, document) else { return Ok(false) };
            let digest = item.body.as_ref().map(|body| body.digest);
            counted[0] += item.body.as_ref().map_or(0, |body| rules(&body.spec));
            let (Some(name), Some(digest)) = (item.name, digest) else { return Ok(false) };
            if self.before.insert((file.path.clone(), name), digest).is_some() {
                return Ok(false);
            }
        }
        for (document, chunk) in after.iter().enumerate().filter(|(_, c)| !had.contains(c.text)) {
            let Some(item) = cluster(chunk, &file.path, document) else { return Ok(false) };
            let Some(name) = item.name.clone() else { return Ok(false) };
            counted[1] += item.body.as_ref().map_or(0, |body| rules(&body.spec));
            if self.after.insert((file.path.clone(), name), item).is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The documents that say something else, are new or are gone; `None` where one name is several of these.
    fn into_edited(self) -> Option<ChangedDocuments> {
        if self.rules.values().any(|[before, after]| after > before) {
            return None;
        }
        let Self { before, after, parsed, mut growth, .. } = self;
        let mut changed = ChangedDocuments { parsed, ..ChangedDocuments::default() };
        for (file, name) in before.keys().filter(|known| !after.contains_key(*known)) {
            let name = Name::parse(name).ok()?;
            if changed.removed.insert(name, file.clone()).is_some() {
                return None;
            }
        }
        for (known, item) in after {
            let says = item.body.as_ref().map(|body| body.digest);
            match before.get(&known) {
                Some(before) if says == Some(*before) => continue,
                Some(_) => {}
                // Of one name in two files one is too much.
                None if changed.added.insert(Name::parse(&known.1).ok()?) => {}
                None => return None,
            }
            changed.items.push(item);
        }
        growth.documents = changed.added.len() as u64;
        changed.growth = growth;
        let there = changed.clusters();
        let is_once = there.len() == changed.items.len();
        // One that is in another file now was moved: which file a tenant's documents are in matters.
        let moved = changed.removed.keys().any(|name| there.contains_key(name));
        (is_once && !moved).then_some(changed)
    }
}

/// A document that is a ManagedCluster without findings.
fn cluster(chunk: &Chunk<'_>, path: &str, document: usize) -> Option<Item> {
    let item =
        document::read(*chunk, DocumentSource { file: Arc::from(path), document }, Root::Fleet);
    let is_cluster = item.kind.as_deref() == Some(Kind::ManagedCluster.name());
    (is_cluster && item.findings.list.is_empty() && item.fact.is_some()).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::super::differing::{DEEPEST, MOST_FILES};
    use super::super::tests::{Memory, cluster};
    use super::*;
    use crate::model::Entry;

    fn tree(store: &Memory, files: &[(&str, &str)]) -> Id {
        let entry = |text: &str| {
            let id = store.put_blob(text.as_bytes()).unwrap();
            Entry { kind: EntryKind::File, id }
        };
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, entry(text))).collect();
        store.tree(&files)
    }

    /// What differs; `None` where more may.
    fn documents(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<ChangedDocuments> {
        let store = Memory::default();
        let sides = [before, after].map(|files| Some(tree(&store, files)));
        changed_clusters(&store, &FleetSpec::default(), "fleet", sides[0], sides[1]).unwrap()
    }

    /// The names of the clusters that differ; `None` where more may.
    fn changed(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<Vec<String>> {
        let changed = documents(before, after)?;
        Some(changed.clusters().into_keys().map(|name| name.to_string()).collect())
    }

    fn named(name: &str) -> String {
        cluster("").replacen("name: pay-eu", &format!("name: {name}"), 1)
    }

    fn paused(text: &str) -> String {
        text.replacen("spec:\n", "spec:\n  paused: true\n", 1)
    }

    #[test]
    fn an_edit_names_the_cluster_that_says_something_else() {
        let (a, b) = (named("a"), named("b"));
        assert!(a.contains("name: a\n"), "{a}");
        let both = format!("{a}---\n{b}");
        let edited = format!("{a}---\n{}", paused(&b));
        assert_eq!(
            changed(&[("x/f.yaml", &both)], &[("x/f.yaml", &edited)]),
            Some(vec!["b".into()])
        );
        assert_eq!(changed(&[("x/f.yaml", &both)], &[("x/f.yaml", &both)]), Some(vec![]));
    }

    #[test]
    fn a_change_of_form_is_none() {
        let (a, b) = (named("a"), named("b"));
        let comment = format!("# a comment\n{a}");
        let files = [("f.yaml", a.as_str()), ("README.md", "one")];
        assert_eq!(changed(&files, &[("f.yaml", &comment), ("README.md", "two")]), Some(vec![]));
        let (one, two) = (format!("{a}---\n{b}"), format!("{b}---\n{a}"));
        assert_eq!(changed(&[("f.yaml", &one)], &[("f.yaml", &two)]), Some(vec![]));
        let swapped = documents(&[("f.yaml", &one)], &[("f.yaml", &two)]).unwrap();
        assert!(swapped.is_form_only());
        assert_eq!(swapped.files().iter().collect::<Vec<_>>(), ["fleet/f.yaml"]);
    }

    #[test]
    fn whatever_else_differs_may_be_anything() {
        let a = named("a");
        let worker =
            "apiVersion: carp.dev/v1alpha1\nkind: Worker\nmetadata:\n  name: w\nspec: {}\n";
        let cordoned = worker.replace("spec: {}", "spec: {unschedulable: true}");
        let broken = format!("{a}  nonsense: 1\n");
        for (what, before, after) in [
            ("another file", vec![("a.yaml", &*a)], vec![("b.yaml", &*a)]),
            ("another kind", vec![("w.yaml", worker)], vec![("w.yaml", &*cordoned)]),
            ("broken", vec![("a.yaml", &*a)], vec![("a.yaml", &*broken)]),
            ("nothing left", vec![("a.yaml", &*a)], vec![("a.yaml", "# nothing\n")]),
            ("a file that is not read", vec![], vec![("a.txt", "")]),
            ("a folder", vec![("a.txt", "")], vec![("a.txt/b.txt", "")]),
            ("a folder", vec![("a.yaml", &*a)], vec![("a.yaml/a.yaml", &*a)]),
        ] {
            assert_eq!(changed(&before, &after), None, "{what}");
        }
    }

    #[test]
    fn what_is_gone_is_known_as_such() {
        let (a, b) = (named("a"), named("b"));
        let of = |before: &[(&str, &str)], after: &[(&str, &str)]| {
            let changed = documents(before, after)?;
            let gone = changed.removed().iter().map(|(name, file)| format!("{name} of {file}"));
            let gone: Vec<_> = gone.collect();
            let there: Vec<_> = changed.clusters().into_keys().map(|n| n.to_string()).collect();
            Some((there.join(" "), gone.join(" "), changed.growth().is_none()))
        };
        let gone = |there: &str, gone: &str, none| Some((there.to_owned(), gone.to_owned(), none));
        let both = [("a.yaml", &*a), ("b.yaml", &*b)];
        assert_eq!(of(&both, &both[..1]), gone("", "b of fleet/b.yaml", true));
        assert_eq!(of(&both[..1], &[("a.yaml", &*b)]), gone("b", "a of fleet/a.yaml", false));
        let one = format!("{a}---\n{b}");
        let first = [("a.yaml", &*a)];
        assert_eq!(of(&[("a.yaml", &*one)], &first), gone("", "b of fleet/a.yaml", true));
        assert_eq!(of(&first, &[]), gone("", "a of fleet/a.yaml", true));
        let paused = paused(&b);
        assert_eq!(of(&both, &[("a.yaml", &*paused)]), None, "it was moved, and edited");
        let rest = [("a.yaml", &*a), ("b.yaml", "kind: {")];
        assert_eq!(of(&both, &rest), None, "it is broken, and not gone");
    }

    #[test]
    fn what_is_new_is_known_as_such() {
        let (a, b) = (named("a"), named("b"));
        let of = |before: &[(&str, &str)], after: &[(&str, &str)]| {
            let changed = documents(before, after)?;
            let added: Vec<_> = changed.added().iter().map(ToString::to_string).collect();
            let DocumentGrowth { entries, documents, bytes } = changed.growth();
            Some((changed.clusters().len(), added.join(" "), [entries, documents, bytes]))
        };
        let both = format!("{}---\n{b}", paused(&a));
        let one = [("a.yaml", &*a)];
        let new = Some((1, "b".to_owned(), [1, 1, 4096]));
        assert_eq!(of(&one, &[("a.yaml", &*a), ("b.yaml", &*b)]), new);
        assert_eq!(of(&one, &[("a.yaml", &*both)]), Some((2, "b".to_owned(), [0, 1, 0])));
        let deep = [("a.yaml", &*a), ("x/y/b.yaml", &*b)];
        assert_eq!(of(&one, &deep), Some((1, "b".to_owned(), [3, 1, 4096])), "folders count");
        let beside = [("a.yaml", &*a), ("b.yaml", &*b), ("b.txt", "")];
        assert_eq!(of(&one, &beside), None, "a file that nobody reads");
        let twice = [("a.yaml", &*a), ("b.yaml", &*b), ("c.yaml", &*b)];
        assert_eq!(of(&one, &twice), None, "two of one name");
        let more = format!("{a}---\n{a}");
        let known = Some((1, "a".to_owned(), [0, 1, 0]));
        assert_eq!(of(&one, &[("a.yaml", &*more)]), known, "whose name it is, others know");
        let again = paused(&a);
        assert_eq!(of(&one, &[("a.yaml", &*again), ("b.yaml", &*a)]), None, "edited, and again");
    }

    #[test]
    fn folders_without_end_may_be_anything() {
        let text = named("a");
        let at = |depth: usize, text: &str| {
            let path = format!("{}a.yaml", "d/".repeat(depth));
            changed(&[(&path, &named("a"))], &[(&path, text)])
        };
        assert_eq!(at(DEEPEST, &paused(&text)), Some(vec!["a".to_owned()]));
        assert_eq!(at(DEEPEST + 1, &paused(&text)), None);
        assert_eq!(at(1_000, &paused(&text)), None);
    }

    #[test]
    fn more_files_than_a_person_edits_may_be_anything() {
        let file = |i: usize, paused_too: bool| {
            let text = named(&format!("c{i}"));
            (format!("{i}.yaml"), if paused_too { paused(&text) } else { text })
        };
        let count = |count: usize| {
            let sides =
                [false, true].map(|after| (0..count).map(|i| file(i, after)).collect::<Vec<_>>());
            let [before, after] = sides.each_ref().map(|files| {
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>()
            });
            changed(&before, &after).map(|names| names.len())
        };
        assert_eq!(count(MOST_FILES), Some(MOST_FILES));
        assert_eq!(count(MOST_FILES + 1), None);
    }
}
