//! A part of the fleet: some clusters, and the documents that decisions about them read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::alike::AlikeDocuments;
use super::assemble::CheckedItems;
use super::changed::ChangedDocuments;
use super::desired::{DesiredDocuments, POLICY_TESTS};
use super::document;
use super::finding::DocumentSource;
use super::item::Item;
use super::kind::Root;
use super::meter::Meter;
use super::split::split;
use super::{Loaded, assemble, crds, fleet_file, read, templates, tree};
use crate::model::{
    Dir, DocumentIndex, DocumentName, Entry, EntryKind, Fact, FactFile, Fleet, Id, Input, LongWork,
    Memo, Name, Previous, Store, StoreError,
};

/// Loads the clusters whose documents changed, the documents named by `sources`, `carp.yaml`, all policies and
/// templates, and nothing else. What only the whole fleet can answer (whether a name is taken twice, policies
/// tie, or a domain has no worker) is not asked.
///
/// The rules look at what `checked` says.
///
/// `None` where an error is found, or something is not where it is said to be: then the fleet is to be loaded
/// as a whole.
///
/// # Errors
/// The store failed.
pub fn load_part(
    input: &Input,
    store: &dyn Store,
    changed: ChangedDocuments,
    sources: &BTreeMap<DocumentName, String>,
    index: &dyn DocumentIndex,
    (previous, checked): (&Previous, CheckedItems),
) -> Result<Option<Loaded>, StoreError> {
    let Some(root) = tree::dir_at(store, input.tree, &input.prefix)? else { return Ok(None) };
    let mut file = fleet_file::read(store, Some(&root), &input.prefix)?;
    let roots = file.spec.as_ref().and_then(|spec| spec.roots.clone()).unwrap_or_default();
    let root = Dir::id(&root);
    let (templates, unread) = templates::read(store, root, &roots.templates)?;
    let crds = crds::read(store, root, &roots.crds)?;
    let catalogue = super::catalogue(&templates);
    file.check_beside(&catalogue);
    let Some(spec) = file.spec else { return Ok(None) };
    let mut desired = DesiredDocuments::default();
    let policies = (roots.policies.as_str(), Root::Policies, &[POLICY_TESTS][..]);
    let known = remembered(store, root, &roots.policies, index)?;
    let (all, unwatched) = (&mut Meter::default(), &LongWork::default());
    desired.root(store, root, policies, &known, all, unwatched)?;
    if !unread.is_empty() || !desired.unloaded.is_empty() {
        return Ok(None);
    }
    let mut items = std::mem::take(&mut desired.items);
    // They are large, and there may be many: none is moved for those that follow.
    items.reserve(sources.len() + changed.items.len());
    if !named(store, root, sources, index, &mut items)? {
        return Ok(None);
    }
    items.extend(changed.items);
    let documents = items.len();
    let (fleet, found) =
        assemble::assemble_part(Some(&spec), catalogue, (items, checked), Vec::new(), previous);
    let mut diagnostics = file.diagnostics;
    diagnostics.extend(desired.diagnostics);
    diagnostics.extend(found);
    Ok((!diagnostics.has_errors()).then_some(Loaded {
        diagnostics,
        fleet: Fleet { name: file.name, ..fleet },
        parsed: changed.parsed,
        documents,
        templates,
        crds,
        ..Loaded::default()
    }))
}

/// What is known of the policies' files.
fn remembered(
    store: &dyn Store,
    root: Id,
    policies: &str,
    index: &dyn DocumentIndex,
) -> Result<Memo, StoreError> {
    let mut memo = Memo::default();
    if let Some(dir) = tree::dir_at(store, root, policies)? {
        let files = tree::files(store, dir, &[POLICY_TESTS])?;
        let known = |entry: &Entry| Some((entry.id, index.facts_of(entry.id)?));
        memo.files = files.values().filter_map(known).collect();
    }
    Ok(memo)
}

/// Adds the documents of these names; `false` where one is not in its file.
fn named(
    store: &dyn Store,
    root: Id,
    sources: &BTreeMap<DocumentName, String>,
    index: &dyn DocumentIndex,
    items: &mut Vec<Item>,
) -> Result<bool, StoreError> {
    let mut by_file: Vec<(&str, &DocumentName)> =
        sources.iter().map(|(document, file)| (file.as_str(), document)).collect();
    by_file.sort_unstable();
    let mut alike = AlikeDocuments::default();
    // Files of one folder follow each other.
    let mut last = None;
    for of_file in by_file.chunk_by(|(file, _), (next, _)| file == next) {
        let path = of_file[0].0;
        let mut wanted: Vec<&DocumentName> = of_file.iter().map(|(_, of)| *of).collect();
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let dir = match last.take() {
            Some((known, dir)) if known == folder => dir,
            _ => tree::dir_at(store, root, folder)?,
        };
        let entry = dir.as_ref().and_then(|dir| dir.get(file));
        last = Some((folder, dir));
        let plain = |kind| matches!(kind, EntryKind::File | EntryKind::Executable);
        let Some(entry) = entry.filter(|entry| plain(entry.kind)) else { return Ok(false) };
        if let Some(waiting) = waiting_items(index, (path, entry.id), &wanted, &mut alike) {
            items.extend(waiting);
            continue;
        }
        if let Some(known) = index.facts_of(entry.id)
            && let Some(remembered) = remembered_items(&known, path, &wanted, &mut alike)
        {
            items.extend(remembered);
            continue;
        }
        let Ok(text) = read::text(store, path, entry)? else { return Ok(false) };
        for (document, chunk) in split(read::without_bom(&text)).into_iter().enumerate() {
            if !wanted.iter().any(|of| chunk.text.contains(&of.name)) {
                continue;
            }
            let source = DocumentSource { file: Arc::from(path), document };
            let item = document::read_among(chunk, source, Root::Fleet, &mut alike);
            let (Some(kind), Some(name)) = (&item.kind, &item.name) else { return Ok(false) };
            let of = DocumentName { kind: kind.clone(), name: name.clone() };
            if let Some(at) = wanted.iter().position(|wanted| **wanted == of) {
                wanted.swap_remove(at);
                items.push(item);
            }
        }
        if !wanted.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The documents of these names, where all of them are of clusters that wait and it is known what the file with these bytes
/// says of them.
fn waiting_items(
    index: &dyn DocumentIndex,
    (path, id): (&str, Id),
    wanted: &[&DocumentName],
    alike: &mut AlikeDocuments,
) -> Option<Vec<Item>> {
    let item = |of: &&DocumentName| {
        let name = (of.kind == "ManagedCluster").then(|| Name::parse(&of.name).ok())??;
        let fact = index.fact_of_waiting(&name, id)?;
        let source = DocumentSource { file: Arc::from(path), document: fact.document };
        document::remembered(&fact, source, alike)
    };
    wanted.iter().map(item).collect()
}

/// The documents of these names, of a file of which it is known what it says; `None` where one is not there.
fn remembered_items(
    known: &FactFile,
    path: &str,
    wanted: &[&DocumentName],
    alike: &mut AlikeDocuments,
) -> Option<Vec<Item>> {
    let is_wanted =
        |fact: &&Fact| wanted.iter().any(|of| of.kind == fact.kind && of.name == fact.name);
    let facts = known.facts.iter().filter(is_wanted);
    let item = |fact: &Fact| {
        let source = DocumentSource { file: Arc::from(path), document: fact.document };
        document::remembered(fact, source, alike)
    };
    let items: Vec<Item> = facts.map(item).collect::<Option<_>>()?;
    (items.len() == wanted.len()).then_some(items)
}
