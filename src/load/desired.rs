//! The files below the desired roots, each to its documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::alike::AlikeDocuments;
use super::amounts::{Amounts, blocks};
use super::check::rule_count::rules;
use super::document;
use super::finding::DocumentSource;
use super::item::Item;
use super::kind::Root;
use super::meter::Meter;
use super::read;
use super::split::{Chunk, split};
use super::tree;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::api::Roots;
use crate::model::{
    Entry, EntryKind, FactFile, Id, LongWork, Memo, Store, StoreError, Unloaded, WorkStage, count,
};

/// The most documents of one file.
pub(super) const MAX_DOCUMENTS: usize = 1_000;

/// Policy tests, below the policies' root: they are no policies.
pub(super) const POLICY_TESTS: &str = "tests";

/// What stands below the desired roots.
#[derive(Default)]
pub(super) struct DesiredDocuments {
    /// The documents, in the order of the files.
    pub(super) items: Vec<Item>,
    /// Findings on whole files.
    pub(super) diagnostics: Diagnostics,
    /// Files that did not load as a whole.
    pub(super) unloaded: Vec<Unloaded>,
    /// How many blobs were read and parsed.
    pub(super) parsed: u64,
    /// What the memo may keep, with the files that have it.
    memo: BTreeMap<Id, (Arc<FactFile>, Vec<String>)>,
    /// What was read of documents that are alike.
    alike: AlikeDocuments,
}

impl DesiredDocuments {
    /// Reads the policy tests. Nothing that is placed stands on them, so nothing waits for one that does
    /// not load.
    pub(super) fn policy_tests(
        store: &dyn Store,
        fleet: Id,
        roots: &Roots,
    ) -> Result<Self, StoreError> {
        let mut tests = Self::default();
        let folder = format!("{}/{POLICY_TESTS}", roots.policies);
        let (all, unwatched) = (&mut Meter::default(), &LongWork::default());
        let root = (folder.as_str(), Root::PolicyTests, &[][..]);
        tests.root(store, fleet, root, &Memo::default(), all, unwatched)?;
        Ok(tests)
    }

    /// Reads everything below the desired roots that is not too much.
    pub(super) fn read(
        store: &dyn Store,
        fleet: Id,
        roots: &Roots,
        memo: &Memo,
        meter: &mut Meter<'_>,
        work: &LongWork,
    ) -> Result<Self, StoreError> {
        let first = Self::read_once(store, fleet, roots, memo, meter, work)?;
        let Some(again) = meter.again() else { return Ok(first) };
        *meter = again;
        let parsed = first.parsed;
        drop(first);
        let desired = Self::read_once(store, fleet, roots, memo, meter, work)?;
        Ok(Self { parsed: parsed + desired.parsed, ..desired })
    }

    fn read_once(
        store: &dyn Store,
        fleet: Id,
        roots: &Roots,
        memo: &Memo,
        meter: &mut Meter<'_>,
        work: &LongWork,
    ) -> Result<Self, StoreError> {
        let mut desired = Self::default();
        desired.root(store, fleet, (&roots.fleet, Root::Fleet, &[]), memo, meter, work)?;
        let policies = (roots.policies.as_str(), Root::Policies, &[POLICY_TESTS][..]);
        desired.root(store, fleet, policies, memo, meter, work)?;
        Ok(desired)
    }

    pub(super) fn root(
        &mut self,
        store: &dyn Store,
        fleet: Id,
        (folder, root, skip): (&str, Root, &[&str]),
        memo: &Memo,
        meter: &mut Meter<'_>,
        work: &LongWork,
    ) -> Result<(), StoreError> {
        let Some(dir) = tree::dir_at(store, fleet, folder)? else { return Ok(()) };
        let one = Amounts { entries: 1, ..Amounts::default() };
        let mut may = |path: &str| meter.add(&format!("{folder}/{path}"), one);
        let files = tree::files_that(store, dir, skip, &mut may)?;
        work.begin(WorkStage::Reading, files.len());
        for (path, entry) in files {
            work.step();
            let full = format!("{folder}/{path}");
            if !is_desired(&path, entry) || !has_room(store, &full, entry, meter)? {
                continue;
            }
            if meter.may(&full) {
                let before = self.items.len();
                self.file(store, &full, entry, root, memo)?;
                self.count(&full, before, meter);
            } else {
                // It only matters how much it is.
                let mut apart = Self::default();
                apart.file(store, &full, entry, root, memo)?;
                self.parsed += apart.parsed;
                apart.count(&full, 0, meter);
            }
        }
        if !meter.is_fine() {
            self.leave_out(meter);
        }
        Ok(())
    }

    /// Counts what was read of a file. Of whoever has too much by now nothing stays.
    fn count(&mut self, path: &str, before: usize, meter: &mut Meter<'_>) {
        let read = &self.items[before..];
        let of = |item: &Item| item.body.as_ref().map_or(0, |body| rules(&body.spec)) as u64;
        let amounts = Amounts {
            documents: read.len() as u64,
            rules: read.iter().map(of).sum(),
            ..Amounts::default()
        };
        let given_up = meter.given_up();
        meter.add(path, amounts);
        if meter.given_up() > given_up {
            self.leave_out(meter);
        }
    }

    fn leave_out(&mut self, meter: &Meter<'_>) {
        self.items.retain(|item| meter.may(&item.findings.source.file));
        self.unloaded.retain(|whole| meter.may(&whole.file));
        let whole = |d: &Diagnostic| d.place.as_ref().is_none_or(|place| meter.may(&place.file));
        self.diagnostics =
            std::mem::take(&mut self.diagnostics).into_iter().filter(whole).collect();
    }

    fn file(
        &mut self,
        store: &dyn Store,
        path: &str,
        entry: Entry,
        root: Root,
        memo: &Memo,
    ) -> Result<(), StoreError> {
        let plain = matches!(entry.kind, EntryKind::File | EntryKind::Executable);
        if plain
            && let Some(kept) = self.memo.get(&entry.id).map(|m| &m.0).or(memo.files.get(&entry.id))
            && let Some(items) = remembered(kept, path, root, &mut self.alike)
        {
            let kept = Arc::clone(kept);
            self.items.extend(items);
            self.keep(entry.id, kept, path);
            return Ok(());
        }
        match read::text(store, path, entry)? {
            Ok(text) => self.text(&text, path, entry.id, root),
            Err(finding) => {
                self.diagnostics.push(finding);
                // Nothing is known of what stands in it, so it may be a policy or a class.
                self.whole_file_unloaded(path, true);
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, path: &str, id: Id, root: Root) {
        self.parsed += 1;
        let chunks = split(read::without_bom(text));
        if chunks.is_empty() {
            let finding = Diagnostic::new(Code::FileEmpty, format!("`{path}` holds no document"));
            let finding = finding.at(Place::file(path));
            self.diagnostics.push(finding.help("write a document into it, or remove the file"));
            // What stood in it may be lost by accident, so nothing is deleted for it.
            self.whole_file_unloaded(path, true);
            return;
        }
        if chunks.len() > MAX_DOCUMENTS {
            let documents = count(chunks.len() as u64, "document");
            let message = format!("the file has {documents}; carp reads up to {MAX_DOCUMENTS}");
            let finding = Diagnostic::new(Code::YamlBudget, message).at(Place::file(path));
            self.diagnostics.push(finding.help("split it into several files"));
            self.whole_file_unloaded(path, true);
            return;
        }
        let mut items = documents(&chunks, path, root, &mut self.alike);
        if items.iter().all(|item| item.findings.list.is_empty() && item.fact.is_some()) {
            let facts = items.iter_mut().filter_map(|item| item.fact.take()).collect();
            self.keep(id, Arc::new(FactFile { facts }), path);
        }
        self.items.extend(items);
    }

    fn keep(&mut self, id: Id, facts: Arc<FactFile>, path: &str) {
        self.memo.entry(id).or_insert_with(|| (facts, Vec::new())).1.push(path.to_owned());
    }

    fn whole_file_unloaded(&mut self, path: &str, blocks_placements: bool) {
        let file = path.to_owned();
        let whole = Unloaded {
            file,
            document: None,
            kind: None,
            name: None,
            blocks_placements,
            tenants: Vec::new(),
        };
        self.unloaded.push(whole);
    }

    /// What the memo keeps: the files of this run on which there is no finding at all, not even one
    /// that comes from another file.
    pub(super) fn memo(&mut self, findings: &Diagnostics) -> BTreeMap<Id, Arc<FactFile>> {
        let named = |d: &Diagnostic| -> Vec<String> {
            let related = d.related.iter().map(|(place, _)| place);
            d.place.iter().chain(related).map(|p| p.file.clone()).collect()
        };
        let with_findings: std::collections::BTreeSet<_> =
            findings.iter().flat_map(named).collect();
        std::mem::take(&mut self.memo)
            .into_iter()
            .filter(|(_, (_, files))| !files.iter().any(|f| with_findings.contains(f)))
            .map(|(id, (facts, _))| (id, facts))
            .collect()
    }
}

/// Counts the bytes of a file, by its header, and says whether what stands in it counts.
fn has_room(
    store: &dyn Store,
    path: &str,
    entry: Entry,
    meter: &mut Meter<'_>,
) -> Result<bool, StoreError> {
    let plain = matches!(entry.kind, EntryKind::File | EntryKind::Executable);
    if !plain || !meter.counts(path) || !meter.wants_bytes(path) {
        return Ok(meter.counts(path));
    }
    let size = store.blob_size(entry.id)?;
    // A file that is larger is not read, which is told of it alone.
    let bytes = if size > read::MAX_FILE { 0 } else { blocks(size) };
    Ok(meter.add(path, Amounts { bytes, ..Amounts::default() }))
}

/// YAML, or something that may stand for a whole folder of it.
pub(super) fn is_desired(path: &str, entry: Entry) -> bool {
    let named = path.rsplit_once('.').is_some_and(|(_, ext)| matches!(ext, "yaml" | "yml"));
    named || matches!(entry.kind, EntryKind::Symlink | EntryKind::Submodule)
}

fn source(path: &str, document: usize) -> DocumentSource {
    DocumentSource { file: Arc::from(path), document }
}

fn documents(
    chunks: &[Chunk<'_>],
    path: &str,
    root: Root,
    alike: &mut AlikeDocuments,
) -> Vec<Item> {
    let numbered = chunks.iter().enumerate();
    let read = |(i, chunk): (usize, &Chunk<'_>)| {
        document::read_among(*chunk, source(path, i), root, alike)
    };
    numbered.map(read).collect()
}

/// The memo's documents; `None` where it cannot be believed, or where one of them may not stand here.
fn remembered(
    kept: &FactFile,
    path: &str,
    root: Root,
    alike: &mut AlikeDocuments,
) -> Option<Vec<Item>> {
    let each = kept.facts.iter().map(|fact| {
        let item = document::remembered(fact, source(path, fact.document), alike)?;
        item.body.as_ref().is_some_and(|b| b.spec.kind().root() == root).then_some(item)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, Memory, POLICY, cluster, files_find, load_files, load_fleet};
    use super::*;

    #[test]
    fn what_is_no_yaml_is_no_document() {
        let loaded = load_fleet(&[
            ("fleet/README.md", "# hello"),
            ("fleet/team/.gitkeep", ""),
            ("fleet/team/a.yml", &cluster("")),
            ("policies/tests/x.yaml", "not: a policy"),
            ("policies/p.yaml", POLICY),
            ("elsewhere/x.yaml", "x: ["),
        ]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        assert_eq!((loaded.documents, loaded.fleet.clusters.len()), (2, 1));
    }

    #[test]
    fn a_file_of_too_many_documents_is_not_read() {
        let text = "---\na: 1\n".repeat(MAX_DOCUMENTS + 1);
        files_find(&[("fleet/x.yaml", &text)], Code::YamlBudget, "");
        let loaded = load_fleet(&[("fleet/x.yaml", &text)]);
        assert!(loaded.fleet.holds_placements());
        assert_eq!(loaded.fleet.unloaded[0].document, None);
    }

    #[test]
    fn whoever_watches_knows_how_many_files_are_read() {
        let store = Memory::default();
        let entry = |text: &str| {
            let id = store.put_blob(text.as_bytes()).unwrap();
            Entry { kind: EntryKind::File, id }
        };
        let files = ["fleet/a.yaml", "fleet/b/c.yaml", "fleet/README.md"];
        let files: Vec<_> = files.iter().map(|path| (*path, entry(&cluster("")))).collect();
        let (tree, roots, memo) = (store.tree(&files), Roots::default(), Memo::default());
        let work = LongWork::default();
        let meter = &mut Meter::default();
        DesiredDocuments::read(&store, tree, &roots, &memo, meter, &work).unwrap();
        let count = work.count().map(|count| (count.stage, count.done, count.of));
        assert_eq!(count, Some((WorkStage::Reading, 3, 3)));
    }

    #[test]
    fn who_has_most_is_known_at_the_end() {
        let text = format!(
            "{CARP}  tenants: [{{name: a, paths: [fleet/a]}}, {{name: b, paths: [fleet/b]}}]\n"
        );
        let spec = load_files(&[("carp.yaml", &text)]).fleet.spec;
        let read = |files: &[(&str, usize)]| {
            let store = Memory::default();
            let entry = |documents| {
                let text = vec![cluster(""); documents].join("---\n");
                let id = store.put_blob(text.as_bytes()).unwrap();
                Entry { kind: EntryKind::File, id }
            };
            let files: Vec<_> = files.iter().map(|(path, count)| (*path, entry(*count))).collect();
            let mut meter = Meter::of(Some(&spec)).with_documents(5);
            let (tree, roots, memo) = (store.tree(&files), Roots::default(), Memo::default());
            let read = DesiredDocuments::read(
                &store,
                tree,
                &roots,
                &memo,
                &mut meter,
                &LongWork::default(),
            )
            .unwrap();
            assert_eq!(meter.findings("fleet").len(), 1);
            let files = read.items.iter().map(|item| item.findings.source.file.to_string());
            files.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        let b_has_most = [("fleet/a/x.yaml", 3), ("fleet/b/x.yaml", 3), ("fleet/b/y.yaml", 1)];
        assert_eq!(read(&b_has_most), ["fleet/a/x.yaml"]);
        let more_comes = [("fleet/a/x.yaml", 3), ("fleet/a/y.yaml", 3), ("fleet/b/x.yaml", 5)];
        assert_eq!(read(&more_comes), ["fleet/b/x.yaml"]);
    }
}
