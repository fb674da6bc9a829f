//! What many have and few change: what a cluster takes stands in its document, its plan and its row, its labels nearly as often, and
//! the pools of a class in each of its clusters.

use std::borrow::Cow;
use std::collections::{BTreeMap, btree_map};
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A value. Its copies are one value, until one of them is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CloneOnWrite<T>(Arc<T>);

/// A sorted map by text.
pub type SharedMap<V> = CloneOnWrite<BTreeMap<String, V>>;
/// A list.
pub type SharedList<T> = CloneOnWrite<Vec<T>>;

impl<T> CloneOnWrite<T> {
    /// Whether there is a copy of it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

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

impl<T> SharedList<T> {
    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// That of the value: who writes a document knows nothing of copies.
impl<T: JsonSchema> JsonSchema for CloneOnWrite<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T> Deref for CloneOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for CloneOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> From<T> for CloneOnWrite<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<V, const N: usize> From<[(String, V); N]> for SharedMap<V> {
    fn from(entries: [(String, V); N]) -> Self {
        Self::from(BTreeMap::from(entries))
    }
}

impl<T: FromIterator<I>, I> FromIterator<I> for CloneOnWrite<T> {
    fn from_iter<A: IntoIterator<Item = I>>(items: A) -> Self {
        Self::from(T::from_iter(items))
    }
}

impl<T: Extend<I> + Clone, I> Extend<I> for CloneOnWrite<T> {
    fn extend<A: IntoIterator<Item = I>>(&mut self, items: A) {
        Arc::make_mut(&mut self.0).extend(items);
    }
}

impl<T: IntoIterator + Clone> IntoIterator for CloneOnWrite<T> {
    type Item = T::Item;
    type IntoIter = T::IntoIter;

    fn into_iter(self) -> T::IntoIter {
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

impl<'a, T> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn a_copy_is_the_same_until_it_is_changed() {
        let one = SharedMap::from([("a".to_owned(), 1)]);
        let mut other = one.clone();
        assert!(Arc::ptr_eq(&one.0, &other.0));
        other.insert("b".to_owned(), 2);
        assert_eq!(
            (to_value(&one).unwrap(), to_value(&other).unwrap()),
            (json!({"a": 1}), json!({"a": 1, "b": 2}))
        );
        let mut list = SharedList::from(vec![1]);
        let before = list.clone();
        list.push(2);
        assert_eq!((before.len(), to_value(&list).unwrap()), (1, json!([1, 2])));
    }

    #[test]
    fn its_schema_is_that_of_what_is_shared() {
        let of = schemars::schema_for!(SharedList<u32>);
        assert_eq!(of, schemars::schema_for!(Vec<u32>));
    }
}
