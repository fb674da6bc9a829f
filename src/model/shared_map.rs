//! Maps that many have and few change: what a cluster takes stands in its document, its plan and its row, and its labels nearly as
//! often.

use std::borrow::Cow;
use std::collections::{BTreeMap, btree_map};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A sorted map by text. Its copies are one map, until one of them is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedMap<V>(Arc<BTreeMap<String, V>>);

impl<V> SharedMap<V> {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::from(BTreeMap::new())
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Default for SharedMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Deref for SharedMap<V> {
    type Target = BTreeMap<String, V>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<V: Clone> DerefMut for SharedMap<V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Arc::make_mut(&mut self.0)
    }
}

impl<V> From<BTreeMap<String, V>> for SharedMap<V> {
    fn from(map: BTreeMap<String, V>) -> Self {
        Self(Arc::new(map))
    }
}

impl<V, const N: usize> From<[(String, V); N]> for SharedMap<V> {
    fn from(entries: [(String, V); N]) -> Self {
        Self::from(BTreeMap::from(entries))
    }
}

impl<V> FromIterator<(String, V)> for SharedMap<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(entries: I) -> Self {
        Self::from(BTreeMap::from_iter(entries))
    }
}

impl<V: Clone> Extend<(String, V)> for SharedMap<V> {
    fn extend<I: IntoIterator<Item = (String, V)>>(&mut self, entries: I) {
        Arc::make_mut(&mut self.0).extend(entries);
    }
}

impl<V: Clone> IntoIterator for SharedMap<V> {
    type Item = (String, V);
    type IntoIter = btree_map::IntoIter<String, V>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}

impl<'a, V> IntoIterator for &'a SharedMap<V> {
    type Item = (&'a String, &'a V);
    type IntoIter = btree_map::Iter<'a, String, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<V: Serialize> Serialize for SharedMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for SharedMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self::from)
    }
}

impl<V: JsonSchema> JsonSchema for SharedMap<V> {
    fn inline_schema() -> bool {
        BTreeMap::<String, V>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, V>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        BTreeMap::<String, V>::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, V>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_the_same_map_until_it_is_changed() {
        let one = SharedMap::from([("a".to_owned(), 1)]);
        let mut other = one.clone();
        assert!(Arc::ptr_eq(&one.0, &other.0));
        other.insert("b".to_owned(), 2);
        assert_eq!((one.len(), other.len()), (1, 2));
        assert_eq!(serde_json::to_value(&other).unwrap(), serde_json::json!({"a": 1, "b": 2}));
    }
}
