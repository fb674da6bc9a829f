//! Maps and sets in which much is looked up while clusters are placed, each by what it is about.
//!
//! Their order is that in which things were added, so nothing random is in it. The seed of the hash is, which is how those who
//! write labels cannot know which of them come to one place (the readme of `foldhash`).

use foldhash::fast::RandomState;
use indexmap::{IndexMap, IndexSet};

/// A map.
pub(super) type LookupMap<K, V> = IndexMap<K, V, RandomState>;

/// A set, in which everything has a number, from 0 on.
pub(super) type LookupSet<T> = IndexSet<T, RandomState>;
