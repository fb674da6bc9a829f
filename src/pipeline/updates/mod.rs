//! What an update of a cluster is, read from its files before and after: the fields that people wrote, the
//! machines that are replaced, and whether the control plane is made anew.
//!
//! It is read from the objects and not from the templates, so it holds whatever caused the difference: a
//! document, a class, a template, another carp.

mod fields;
mod lines;
mod objects;

pub use lines::update_lines;

use std::collections::BTreeMap;

use crate::model::{
    Change, ChangeKind, ClusterPlan, Decision, Id, LongWork, Name, Owned, Proposal, Store,
    WorkStage, count, paths,
};

/// What an update does to one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Update {
    /// The fields that change, each in words: `version v1.33.5 → v1.34.2`.
    pub fields: Vec<String>,
    /// Whether the pods or machines of its control plane are made anew.
    pub control_plane: bool,
    /// The pools whose machines are replaced, with how many these are; `None` where they scale by
    /// themselves.
    pub replaced: BTreeMap<String, Option<u64>>,
    /// By how many nodes the cluster grows; of a pool that scales by itself the fewest count.
    pub nodes: i64,
    /// Other objects that change, as `Kind/name` without the cluster's own name. Only where none of the above
    /// does.
    pub objects: Vec<String>,
    /// The override policies of objects that change, where theirs are others or nothing else says why they change.
    pub overrides: Vec<String>,
}

impl Update {
    /// The update in words, with the machines of so many clusters like it; empty where nothing of it is
    /// known.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = self.fields.clone();
        for (pool, machines) in &self.replaced {
            parts.push(match machines {
                Some(machines) => format!("{pool}: replaces {}", count(*machines, "machine")),
                None => format!("{pool}: replaces its machines"),
            });
        }
        if self.control_plane {
            parts.push("the control plane restarts".to_owned());
        }
        if parts.is_empty() && !self.objects.is_empty() {
            parts.push(format!("changes {}", self.objects.join(", ")));
        }
        if !self.overrides.is_empty() {
            parts.push(format!("overrides: {}", self.overrides.join(", ")));
        }
        parts.join("; ")
    }

    /// The words for many clusters, with what it costs them together.
    #[must_use]
    pub fn words_of_many(&self) -> String {
        let nodes = (self.nodes != 0).then(|| nodes_words(self.nodes));
        [self.words()].into_iter().chain(nodes).collect::<Vec<_>>().join("; ")
    }

    /// Takes the machines of another cluster of which the same is said otherwise.
    pub fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        for (pool, machines) in &mut self.replaced {
            let more = other.replaced.get(pool).copied().flatten();
            *machines = machines.zip(more).map(|(one, more)| one + more);
        }
    }

    /// This change without its numbers of machines: what is equal in this is the same change.
    #[must_use]
    pub fn kind(&self) -> Self {
        let replaced = self.replaced.keys().map(|pool| (pool.clone(), None)).collect();
        Self { replaced, nodes: 0, ..self.clone() }
    }
}

/// `+14 nodes`.
#[must_use]
pub fn nodes_words(nodes: i64) -> String {
    let sign = if nodes < 0 { '-' } else { '+' };
    format!("{sign}{}", count(nodes.unsigned_abs(), "node"))
}

/// What changes in each cluster whose manifests are there before and after. A cluster whose files cannot be
/// read is left out: this is for people, and no decision stands on it.
#[must_use]
pub fn updates(
    store: &dyn Store,
    proposal: &Proposal,
    prefix: &str,
    work: &LongWork,
) -> BTreeMap<Name, Update> {
    let all = changed_in_place(proposal, prefix);
    work.begin(WorkStage::Comparing, all.len());
    all.into_iter().inspect(|_| work.step()).filter_map(|one| update(store, one)).collect()
}

/// Whether the cluster stays and is brought up to date. What a deletion or a move does, and what is set back, is said as
/// that.
fn is_updated(proposal: &Proposal, name: &Name) -> bool {
    let planned = proposal.plan.clusters.get(name);
    let stays = |planned: &ClusterPlan| {
        let comes_back = planned.deletion.is_some();
        matches!(planned.decision, Decision::Keep { .. }) && !comes_back
    };
    let of = Owned::Cluster(name.clone());
    planned.is_none_or(stays) && proposal.survey.drifted.iter().all(|drifted| drifted.of != of)
}

/// What updates do to the first so many clusters, and how many others there are.
#[must_use]
pub fn updates_of_some(
    store: &dyn Store,
    proposal: &Proposal,
    prefix: &str,
    most: usize,
) -> (BTreeMap<Name, Update>, usize) {
    let all = changed_in_place(proposal, prefix);
    let more = all.len().saturating_sub(most);
    (all.into_iter().take(most).filter_map(|one| update(store, one)).collect(), more)
}

/// The clusters whose manifests are there before and after, with the ids of both.
fn changed_in_place(proposal: &Proposal, prefix: &str) -> Vec<(Name, Id, Id)> {
    let root = paths::in_repository(prefix, "");
    let updated = |change: &Change| {
        let (before, after) = (change.before?, change.after?);
        let path = change.path.strip_prefix(&root).unwrap_or(&change.path);
        let mut parts = path.split('/').skip_while(|part| *part != paths::CLUSTERS).skip(1);
        let name = Name::parse(parts.next()?).ok()?;
        parts.next().filter(|file| *file == "cluster.yaml")?;
        let updated = change.kind == ChangeKind::Update && is_updated(proposal, &name);
        updated.then_some((name, before, after))
    };
    proposal.changes.iter().filter_map(updated).collect()
}

fn update(store: &dyn Store, (name, before, after): (Name, Id, Id)) -> Option<(Name, Update)> {
    let text = |id| store.blob(id).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let update = objects::compare(&name, &text(before)?, &text(after)?);
    (update != Update::default()).then_some((name, update))
}
