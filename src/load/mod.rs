//! Bytes to the fleet: YAML that people write, read strictly, every mistake found in one run.
//!
//! A file is told apart into documents by their text, so that one that is broken loses no other. Each
//! is parsed, compared with the schema that its kind's CRD comes from, brought into its canonical form
//! and decoded; then the rules in `check/` look at it among the others. What has an error does not
//! load and is named in [`Fleet::unloaded`](crate::model::Fleet), so that its last good output stays.
//!
//! Findings name field paths. [`locate`] finds line and column by reading the document again.

mod alike;
mod alone;
mod amounts;
mod assemble;
mod body;
mod broken_override;
mod built_in;
mod changed;
mod check;
mod crds;
mod cron;
mod desired;
mod differing;
mod document;
mod drop_invalid;
mod envelope;
mod fault;
mod finding;
mod fleet_file;
mod folders;
mod guess_identity;
mod habits;
mod item;
mod kind;
mod locate;
mod meter;
mod named;
mod names;
mod part;
mod plain_yaml;
mod policy_tests;
mod previous;
mod read;
mod reports;
mod resolve;
mod shape;
mod short;
mod split;
mod strays;
mod structure;
mod templates;
#[cfg(test)]
mod tests;
mod tree;
mod weighed;
mod yaml;

use std::collections::BTreeMap;

pub use alike::SpecOfTenant;
pub use alone::{
    Acknowledgements, acknowledgements, fleet_spec, read_yaml, readable_fleet_spec, worker_overlays,
};
pub use assemble::CheckedItems;
pub use changed::{ChangedDocuments, changed_clusters};
pub use crds::own_definitions;
pub use locate::{FileLocator, Located, locate};
pub use named::named_documents;
pub use part::load_part;
pub use policy_tests::{PolicyTest, policy_tests};
pub use previous::previous;
pub use reports::{folded, folded_pools, known_reports, reports};
pub use split::without_documents;
pub use strays::strays;
pub use templates::own_templates;
pub use weighed::{WeighedPolicies, weighed_policies};
pub use yaml::emit_yaml;

use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::paths::FLEET_FILE;
use crate::model::{
    Catalogue, CrdFiles, Dir, Fleet, Input, LongWork, Memo, Previous, Store, StoreError,
};
use desired::DesiredDocuments;
use meter::Meter;

/// What people want, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What loaded.
    pub fleet: Fleet,
    /// All that was found.
    pub diagnostics: Diagnostics,
    /// How many blobs below the desired roots were read and parsed in this run.
    pub parsed: u64,
    /// Whether `carp.yaml` is missing or broken, or a template cannot be read: the run ends.
    pub fleet_broken: bool,
    /// How many documents stand below the desired roots, loaded or not. A file that could not be read
    /// counts as one.
    pub documents: usize,
    /// The text of the files below `roots.templates`, by their path from there.
    pub templates: BTreeMap<String, String>,
    /// The files below `roots.crds`, by their path from there.
    pub crds: CrdFiles,
}

/// Loads the fleet of an input tree.
///
/// With every memo the outcome is the same, [`Loaded::parsed`] apart: a file that the memo has is one
/// that loaded without a finding, and only what it says by itself is kept. The rules are run each time.
/// Afterwards the memo has the files of this run that have no finding, and no others.
///
/// # Errors
/// The store failed. It is never taken for an absent file.
pub fn load(input: &Input, store: &dyn Store, memo: &mut Memo) -> Result<Loaded, StoreError> {
    load_beside(input, store, memo, &Previous::default(), &LongWork::default())
}

/// Loads the fleet beside what the output branch says: the workers that pools made are among the workers, and who
/// has a name keeps it. How far reading is, is said to `work`.
///
/// # Errors
/// The store failed.
pub fn load_beside(
    input: &Input,
    store: &dyn Store,
    memo: &mut Memo,
    previous: &Previous,
    work: &LongWork,
) -> Result<Loaded, StoreError> {
    let root = tree::dir_at(store, input.tree, &input.prefix)?;
    let mut file = fleet_file::read(store, root.as_deref(), &input.prefix)?;
    let Some(root) = root.filter(|dir| dir.get(FLEET_FILE).is_some()).map(|dir| Dir::id(&dir))
    else {
        memo.files.clear();
        let diagnostics = file.diagnostics;
        return Ok(Loaded { fleet_broken: true, diagnostics, ..Loaded::default() });
    };
    let roots = file.spec.as_ref().and_then(|s| s.roots.clone()).unwrap_or_default();
    let (templates, unread) = templates::read(store, root, &roots.templates)?;
    let catalogue = catalogue(&templates);
    file.check_beside(&catalogue);
    let crds = crds::read(store, root, &roots.crds)?;
    let fleet_broken = file.spec.is_none();
    let mut loaded = Loaded { fleet_broken, templates, crds, ..Loaded::default() };
    loaded.diagnostics.extend(file.diagnostics);
    if !unread.is_empty() {
        loaded.fleet_broken = true;
        let first = unread.sorted().into_iter().find_map(|finding| finding.place);
        loaded.diagnostics.extend(unread);
        loaded.diagnostics.push(without_templates(first));
    }
    let mut meter = Meter::of(file.spec.as_ref());
    let mut desired = DesiredDocuments::read(store, root, &roots, memo, &mut meter, work)?;
    for (finding, unloaded) in meter.findings(&roots.fleet) {
        loaded.fleet_broken |= unloaded.is_none();
        loaded.diagnostics.push(finding);
        desired.unloaded.extend(unloaded);
    }
    loaded.parsed = desired.parsed;
    let spare = meter.is_fine().then(|| meter.room());
    let items = std::mem::take(&mut desired.items);
    let unloaded = std::mem::take(&mut desired.unloaded);
    loaded.documents = items.len() + unloaded.len();
    loaded.diagnostics.extend(std::mem::take(&mut desired.diagnostics));
    let spec = file.spec.as_ref();
    let (fleet, found) = assemble::assemble(spec, catalogue, items, unloaded, previous);
    loaded.fleet = Fleet { name: file.name, room: spare, ..fleet };
    loaded.diagnostics.extend(found);
    memo.files = desired.memo(&loaded.diagnostics);
    Ok(loaded)
}

/// The flavors that there are, with those among the texts of the fleet's own templates.
fn catalogue(templates: &BTreeMap<String, String>) -> Catalogue {
    Catalogue::with(templates.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

/// What follows from the first template that cannot be read, at its place.
fn without_templates(first: Option<Place>) -> Diagnostic {
    let message = "a template cannot be read, so nothing can be rendered or decided";
    let finding = Diagnostic::new(Code::FleetBroken, message);
    let file = first.map_or_else(|| FLEET_FILE.to_owned(), |place| place.file);
    finding.at(Place::file(file)).help("mend the file below the templates' root first")
}
