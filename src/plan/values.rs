//! The values of the labels by which the clusters of a group are told apart.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The values of the labels by which the clusters of a [`Group`](super::group::Group) are told apart, and their tenant where that
/// does, too. It is mostly one, and is looked up for every cluster: one takes no room besides.
#[derive(Clone, Debug)]
pub(super) enum Values<'a> {
    One(&'a str),
    Several(Box<[&'a str]>),
}

impl<'a> Deref for Values<'a> {
    type Target = [&'a str];

    fn deref(&self) -> &[&'a str] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

impl Default for Values<'_> {
    /// None: the group has one part.
    fn default() -> Self {
        Self::Several(Box::default())
    }
}

impl<'a> FromIterator<&'a str> for Values<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Self::default() };
        match values.next() {
            None => Self::One(first),
            Some(second) => Self::Several([first, second].into_iter().chain(values).collect()),
        }
    }
}

// However they were put together, the values count.

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Values<'_> {}

impl PartialOrd for Values<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Values<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Values<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_in_the_order_in_which_lists_of_values_are() {
        let lists: [&[&str]; 6] = [&[], &["a"], &["a", "a"], &["a", "b"], &["b"], &["b", "a", "c"]];
        let all = lists.map(|list| list.iter().copied().collect::<Values<'_>>());
        assert!(all.is_sorted_by(|one, other| one < other), "{all:?}");
        for (values, list) in all.iter().zip(lists) {
            assert_eq!(**values, *list);
            assert_eq!(values, &values.clone());
        }
        assert_eq!(all[0], Values::default());
    }
}
