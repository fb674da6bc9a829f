//! Finding what selects a cluster without looking at every selector there is.

use std::collections::BTreeMap;

/// Things that have a selector, by one of the labels that it needs.
#[derive(Clone, Debug)]
pub(super) struct Finder<'a, T> {
    by_label: BTreeMap<(&'a str, &'a str), Vec<T>>,
    /// Those that need no label.
    others: Vec<T>,
}

impl<T> Default for Finder<'_, T> {
    fn default() -> Self {
        Self { by_label: BTreeMap::new(), others: Vec::new() }
    }
}

impl<'a, T: Copy> Finder<'a, T> {
    /// Adds a thing that selects only what has all these labels.
    pub(super) fn add(&mut self, labels: Option<&'a BTreeMap<String, String>>, what: T) {
        match labels.and_then(BTreeMap::first_key_value) {
            Some((key, value)) => self.by_label.entry((key, value)).or_default().push(what),
            None => self.others.push(what),
        }
    }

    /// Everything that may select what has these labels; its selector says whether it does.
    pub(super) fn may_select<'s>(
        &'s self,
        labels: &'s BTreeMap<String, String>,
    ) -> impl Iterator<Item = T> + 's {
        let by_label = |(key, value): (&'s String, &'s String)| {
            self.by_label.get(&(key.as_str(), value.as_str())).into_iter().flatten()
        };
        labels.iter().flat_map(by_label).chain(&self.others).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> BTreeMap<String, String> {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    #[test]
    fn nothing_that_selects_is_left_out_and_little_else_is_found() {
        let texts = ["a=1", "a=2", "a=1,b=1", "", "b=2"];
        let selectors = texts.map(labels);
        let mut finder = Finder::default();
        for (i, selector) in selectors.iter().enumerate() {
            finder.add(Some(selector), i);
        }
        finder.add(None, 9);
        for text in ["a=1", "a=1,b=1", "b=2", "c=1", ""] {
            let labels = labels(text);
            let found: Vec<_> = finder.may_select(&labels).collect();
            let selects = |i: &usize| selectors[*i].iter().all(|(k, v)| labels.get(k) == Some(v));
            assert!((0..5).filter(selects).all(|i| found.contains(&i)), "{text}: {found:?}");
            assert!(found.contains(&9));
        }
        assert_eq!(finder.may_select(&labels("c=1")).collect::<Vec<_>>(), [3, 9]);
    }
}
