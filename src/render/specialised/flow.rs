//! What an expression may be or hold of what a template gets.

use std::collections::BTreeMap;

use bit_set::BitSet;

use super::looked_at::LookedAt;

/// How deep lists of the template's own are followed.
const DEEPEST_LIST: usize = 3;

/// Which of the values of [`LookedAt`].
pub(super) type ValueIds = BitSet;

/// What an expression may be or hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flow {
    /// It may be one of these values.
    pub(super) is: ValueIds,
    /// It may be one of these maps, as a list of pairs.
    pub(super) pairs: ValueIds,
    /// It may be a text or a map in which something of these values stands, or a list of what has no flow of its own.
    pub(super) holds: ValueIds,
    /// It may be a list whose items may be or hold this.
    pub(super) items: Option<Box<Self>>,
}

impl Flow {
    pub(super) fn of(is: ValueIds) -> Self {
        Self { is, ..Self::default() }
    }

    /// A list whose items are of a flow.
    pub(super) fn list(items: Self) -> Self {
        // A variable may be put into lists again and again.
        if items.nesting() >= DEEPEST_LIST {
            return items.held();
        }
        Self { items: Some(Box::new(items)), ..Self::default() }
    }

    fn nesting(&self) -> usize {
        self.items.as_ref().map_or(0, |items| items.nesting() + 1)
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    pub(super) fn add(&mut self, other: Self) {
        self.is.union_with(&other.is);
        self.pairs.union_with(&other.pairs);
        self.holds.union_with(&other.holds);
        if let Some(items) = other.items {
            self.items.get_or_insert_default().add(*items);
        }
    }

    /// Whether another flow is part of it.
    pub(super) fn has(&self, other: &Self) -> bool {
        let items = match (&self.items, &other.items) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(other)) => own.has(other),
        };
        let Self { is, pairs, holds, .. } = other;
        items
            && is.is_subset(&self.is)
            && pairs.is_subset(&self.pairs)
            && holds.is_subset(&self.holds)
    }

    /// A text or a map with it in it.
    pub(super) fn held(self) -> Self {
        Self { holds: self.all(), ..Self::default() }
    }

    /// All values of which something may be in it.
    pub(super) fn all(&self) -> ValueIds {
        let mut all = self.holds.clone();
        all.union_with(&self.is);
        all.union_with(&self.pairs);
        self.items.iter().for_each(|items| all.union_with(&items.all()));
        all
    }
}

/// What is known of a template while it is walked through.
#[derive(Default)]
pub(super) struct FlowWalk {
    /// What was put into each variable.
    pub(super) variables: BTreeMap<String, Flow>,
    /// What was looked at.
    pub(super) looked_at: LookedAt,
    /// The templates that include each other.
    pub(super) within: Vec<String>,
    /// Something came out in this turn that did not before.
    pub(super) found: bool,
    /// Something was found that is not followed.
    pub(super) lost: bool,
}

impl FlowWalk {
    /// The items of lists, or the fields of maps.
    pub(super) fn each(&mut self, of: &ValueIds) -> Flow {
        Flow::of(of.iter().map(|value| self.looked_at.each(value)).collect())
    }

    /// All of these values is looked at.
    pub(super) fn look_at_all(&mut self, values: &ValueIds) {
        for value in values {
            self.found |= self.looked_at.look_at(value);
        }
    }

    /// These values are looked at where they are texts or numbers.
    pub(super) fn look_at_themselves(&mut self, values: &ValueIds) {
        for value in values {
            self.found |= self.looked_at.look_at_itself(value);
        }
    }
}
