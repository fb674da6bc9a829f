//! What an update of a cluster is, read from its files before and after: the fields that people wrote, the
//! machines that are replaced, and whether the control plane is made anew.
//!
//! It is read from the objects and not from the templates, so it holds whatever caused the difference: a
//! document, a class, a template, another carp.

mod fields;
mod objects;

use std::collections::BTreeMap;

use crate::model::{ChangeKind, Name, Proposal, Store, count, paths};

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
    /// Other objects that change, as `Kind/name`. Only where none of the above does.
    pub objects: Vec<String>,
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
        parts.join("; ")
    }

    /// Takes the machines of another cluster of which the same is said otherwise.
    pub fn add(&mut self, other: &Self) {
        for (pool, machines) in &mut self.replaced {
            let more = other.replaced.get(pool).copied().flatten();
            *machines = machines.zip(more).map(|(one, more)| one + more);
        }
    }

    /// The same without numbers of machines: what is equal in this is the same change.
    #[must_use]
    pub fn kind(&self) -> Self {
        let replaced = self.replaced.keys().map(|pool| (pool.clone(), None)).collect();
        Self { replaced, ..self.clone() }
    }
}

/// What changes in each cluster whose manifests are there before and after. A cluster whose files cannot be
/// read is left out: this is for people, and no decision stands on it.
#[must_use]
pub fn updates(store: &dyn Store, proposal: &Proposal, prefix: &str) -> BTreeMap<Name, Update> {
    let root = paths::in_repository(prefix, "");
    let update = |change: &crate::model::Change| {
        if change.kind != ChangeKind::Update {
            return None;
        }
        let path = change.path.strip_prefix(&root).unwrap_or(&change.path);
        let mut parts = path.split('/').skip_while(|part| *part != paths::CLUSTERS).skip(1);
        let name = Name::parse(parts.next()?).ok()?;
        parts.next().filter(|file| *file == "cluster.yaml")?;
        let text =
            |id| store.blob(id).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let (before, after) = (text(change.before?)?, text(change.after?)?);
        let update = objects::compare(&name, &before, &after);
        (update != Update::default()).then_some((name, update))
    };
    proposal.changes.iter().filter_map(update).collect()
}
