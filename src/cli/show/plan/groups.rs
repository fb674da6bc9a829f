//! Changes that are the same in many clusters, as one line.

use std::collections::{BTreeMap, BTreeSet};

use super::super::len;
use super::{Action, ClusterChange};
use crate::model::{Name, count, thousands};

/// So many clusters of one action stand each on a line of its own.
const EACH: usize = 6;
/// So many clusters that wait stand each on a line of its own.
const FEW: usize = 3;
/// The most lines of one action; the rest is counted.
const LINES: usize = 6;
/// How many names stand beside a number of clusters.
const NAMES: usize = 3;

/// A line: a cluster, or many to which the same happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeGroup {
    /// What happens.
    pub action: Action,
    /// The clusters, by name; never none.
    pub clusters: Vec<Name>,
    /// The workers before.
    pub from: BTreeSet<Name>,
    /// The workers after.
    pub to: BTreeSet<Name>,
    /// Why, or what.
    pub why: String,
}

impl ChangeGroup {
    /// The name of the only cluster, or how many there are.
    #[must_use]
    pub fn who(&self) -> String {
        match self.clusters.as_slice() {
            [only] => only.to_string(),
            many => count(len(many), "cluster"),
        }
    }

    /// The only worker of one side, or how many there are.
    #[must_use]
    pub fn end(workers: &BTreeSet<Name>) -> Option<String> {
        match workers.len() {
            0 => None,
            1 => workers.first().map(ToString::to_string),
            more => Some(count(more as u64, "worker")),
        }
    }
}

/// The lines of all changes, in their order.
#[must_use]
pub fn groups(changes: &[ClusterChange]) -> Vec<ChangeGroup> {
    let mut out = Vec::new();
    for &action in Action::ALL {
        let all: Vec<_> = changes.iter().filter(|change| change.action == action).collect();
        // Where a cluster waits it is told by what for, and that is mostly the same.
        let each = if action == Action::Wait { FEW } else { EACH };
        if all.len() <= each {
            out.extend(all.into_iter().map(one));
            continue;
        }
        let mut lines = alike(action, &all);
        if lines.len() > LINES {
            let rest = lines.split_off(LINES - 1);
            lines.extend(together(action, rest));
        }
        out.extend(lines);
    }
    out
}

fn one(change: &ClusterChange) -> ChangeGroup {
    ChangeGroup {
        action: change.action,
        clusters: vec![change.name.clone()],
        from: change.from.iter().cloned().collect(),
        to: change.to.iter().cloned().collect(),
        why: change.why.clone(),
    }
}

/// The changes that are the same, the most frequent first.
fn alike(action: Action, all: &[&ClusterChange]) -> Vec<ChangeGroup> {
    let mut by_kind: BTreeMap<_, Vec<&ClusterChange>> = BTreeMap::new();
    for change in all {
        let why = match (action, &change.update) {
            // Where each new cluster goes is not one change less: it is what a plan is for.
            (Action::Create, _) => String::new(),
            (_, Some(update)) => update.kind().words(),
            (_, None) => change.why.clone(),
        };
        by_kind.entry(why).or_default().push(change);
    }
    let mut groups: Vec<_> =
        by_kind.into_iter().map(|(why, all)| group(action, why, &all)).collect();
    groups.sort_by_key(|group| {
        (std::cmp::Reverse(group.clusters.len()), group.clusters.first().cloned())
    });
    groups
}

fn group(action: Action, why: String, all: &[&ClusterChange]) -> ChangeGroup {
    if let [only] = all {
        return one(only);
    }
    let mut sum = None;
    for update in all.iter().filter_map(|change| change.update.as_ref()) {
        match &mut sum {
            None => sum = Some(update.clone()),
            Some(sum) => sum.add(update),
        }
    }
    let what = sum.map_or(why, |sum| sum.words_of_many());
    let clusters: Vec<_> = all.iter().map(|change| change.name.clone()).collect();
    let some = some(&clusters);
    ChangeGroup {
        action,
        from: all.iter().filter_map(|change| change.from.clone()).collect(),
        to: all.iter().filter_map(|change| change.to.clone()).collect(),
        why: if what.is_empty() { some } else { format!("{what} ({some})") },
        clusters,
    }
}

/// What did not get a line of its own.
fn together(action: Action, rest: Vec<ChangeGroup>) -> Option<ChangeGroup> {
    let different = rest.len();
    let mut all = rest.into_iter();
    let mut sum = all.next()?;
    for group in all {
        sum.clusters.extend(group.clusters);
        sum.from.extend(group.from);
        sum.to.extend(group.to);
    }
    sum.clusters.sort();
    sum.why = format!("{} ({})", count(different as u64, "other change"), some(&sum.clusters));
    sum.action = action;
    Some(sum)
}

/// The first names, and how many more there are.
fn some(names: &[Name]) -> String {
    let first = names.iter().take(NAMES).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => first,
        more => format!("{first} and {} more", thousands(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Update;

    fn change(number: usize, action: Action, update: Option<Update>) -> ClusterChange {
        let name = |text: String| Name::parse(&text).unwrap();
        let worker = Some(name(format!("w{}", number % 2)));
        let why = update.as_ref().map_or_else(|| format!("for reason {number}"), Update::words);
        let name = name(format!("c{number:04}"));
        ClusterChange { name, action, from: worker.clone(), to: worker, why, update }
    }

    fn version(machines: u64) -> Update {
        let fields = vec!["version v1.33.5 → v1.34.2".to_owned()];
        let replaced = BTreeMap::from([("np0".to_owned(), Some(machines))]);
        Update { fields, replaced, ..Update::default() }
    }

    fn lines(changes: &[ClusterChange]) -> Vec<String> {
        let groups = groups(changes);
        groups.iter().map(|group| format!("{} {}", group.who(), group.why)).collect()
    }

    #[test]
    fn the_same_change_of_thousands_is_a_line_with_all_their_machines() {
        let changes: Vec<_> = (0..4750)
            .map(|n| change(n, Action::Update, Some(version(if n < 10 { 5 } else { 3 }))))
            .collect();
        assert_eq!(
            lines(&changes),
            [
                "4,750 clusters version v1.33.5 → v1.34.2; np0: replaces 14,270 machines (c0000, c0001, \
              c0002 and 4,747 more)"
            ]
        );
        assert_eq!(ChangeGroup::end(&groups(&changes)[0].to).as_deref(), Some("2 workers"));
    }

    #[test]
    fn a_few_stand_each_for_itself_and_many_that_differ_are_counted() {
        let few: Vec<_> = (0..3).map(|n| change(n, Action::Move, None)).collect();
        assert_eq!(lines(&few).len(), 3);
        let many: Vec<_> = (0..300).map(|n| change(n, Action::Wait, None)).collect();
        let lines = lines(&many);
        assert_eq!(lines.len(), LINES);
        assert_eq!(
            lines[LINES - 1],
            "295 clusters 295 other changes (c0005, c0006, c0007 and 292 more)"
        );
    }
}
