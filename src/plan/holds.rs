//! What the plan holds, collected: one [`Hold`] for each kind, with sorted names.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Hold, HoldKind, Name};

/// The holds of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds(BTreeMap<HoldKind, BTreeSet<String>>);

impl Holds {
    /// Holds something of that name.
    pub(super) fn add(&mut self, kind: HoldKind, name: &Name) {
        self.0.entry(kind).or_default().insert(name.to_string());
    }

    /// The holds in the order of their kinds.
    pub(super) fn into_list(self) -> Vec<Hold> {
        self.0
            .into_iter()
            .map(|(kind, names)| Hold { kind, names: names.into_iter().collect(), allowed: None })
            .collect()
    }
}
