//! Updates as lines of text: what is the same in many clusters is one.

use std::collections::BTreeMap;

use super::Update;
use crate::model::{Name, count, thousands};

/// How many names stand beside a number of clusters.
const NAMES: usize = 3;

/// A line for each kind of update, the most frequent first.
#[must_use]
pub fn update_lines(updates: &BTreeMap<Name, Update>) -> Vec<String> {
    let mut kinds: BTreeMap<Update, (Update, Vec<&Name>)> = BTreeMap::new();
    for (name, update) in updates {
        let kind = kinds.entry(update.kind());
        let (sum, names) = kind
            .and_modify(|(sum, _)| sum.add(update))
            .or_insert_with(|| (update.clone(), Vec::new()));
        debug_assert!(!sum.words().is_empty());
        names.push(name);
    }
    let mut all: Vec<_> = kinds.into_values().collect();
    all.sort_by_key(|(_, names)| (std::cmp::Reverse(names.len()), names.first().copied()));
    all.iter().map(|(sum, names)| line(sum, names)).collect()
}

fn line(sum: &Update, names: &[&Name]) -> String {
    if let [only] = names {
        return format!("update {only}: {}", sum.words());
    }
    let first: Vec<_> = names.iter().take(NAMES).map(ToString::to_string).collect();
    let more = match names.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {} more", thousands(more as u64)),
    };
    let clusters = count(names.len() as u64, "cluster");
    format!("update {clusters} ({}{more}): {}", first.join(", "), sum.words_of_many())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_in_many_is_one_line_with_what_it_costs() {
        let nodes = |field: &str, nodes| Update {
            fields: vec![field.to_owned()],
            nodes,
            ..Update::default()
        };
        let name = |n: usize| Name::parse(&format!("c{n}")).unwrap();
        let mut updates: BTreeMap<_, _> =
            (0..5).map(|n| (name(n), nodes("np0: nodes 2 → 3", 1))).collect();
        updates.insert(name(7), nodes("paused set to true", 0));
        let wanted = [
            "update 5 clusters (c0, c1, c2 and 2 more): np0: nodes 2 → 3; +5 nodes",
            "update c7: paused set to true",
        ];
        assert_eq!(update_lines(&updates), wanted);
    }
}
