//! What a guard holds, as people read it: the same object of many clusters is one line.

use std::collections::BTreeMap;

use super::{Hold, HoldKind, count};

/// How many owners a line names before it counts the rest.
const MOST_OWNERS: usize = 3;

/// One object that some clusters or workers have alike.
#[derive(Default)]
struct HeldGroup<'a> {
    names: Vec<&'a str>,
    owners: Vec<&'a str>,
    machines: u64,
}

impl Hold {
    /// The names for people, in their order. Objects that differ only in whose they are stand together:
    /// `MachineDeployment *-np0 in alpha, bravo, charlie and 9 more, 24 machines`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if !matches!(self.kind, HoldKind::ObjectsRemoved | HoldKind::MachinesReplaced) {
            return self.names.clone();
        }
        let mut order = Vec::new();
        let mut groups: BTreeMap<String, HeldGroup<'_>> = BTreeMap::new();
        for name in &self.names {
            let (object, machines) = without_machines(name);
            let (owner, pattern) = owner_and_pattern(object);
            let group = groups.entry(pattern.clone()).or_default();
            if group.names.is_empty() {
                order.push(pattern);
            }
            group.names.push(name);
            group.owners.push(owner);
            group.machines += machines;
        }
        order.iter().filter_map(|pattern| Some(groups.get(pattern)?.line(pattern))).collect()
    }
}

impl HeldGroup<'_> {
    fn line(&self, pattern: &str) -> String {
        if let [only] = self.names.as_slice() {
            return (*only).to_owned();
        }
        let first = &self.owners[..self.owners.len().min(MOST_OWNERS)];
        let more = match self.owners.len() - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let machines = match self.machines {
            0 => String::new(),
            machines => format!(", {}", count(machines, "machine")),
        };
        format!("{pattern} in {}{more}{machines}", first.join(", "))
    }
}

/// `Kind ns/name (3 machines)` without its machines, and how many they are.
fn without_machines(name: &str) -> (&str, u64) {
    let parts = name.strip_suffix(" machines)").or_else(|| name.strip_suffix(" machine)"));
    let parts = parts.and_then(|rest| rest.rsplit_once(" ("));
    let counted = parts.and_then(|(object, count)| Some((object, count.parse().ok()?)));
    counted.unwrap_or((name, 0))
}

/// Whose an object is, and what it is called without that: it is in its owner's namespace, or the owner
/// stands before it.
fn owner_and_pattern(object: &str) -> (&str, String) {
    if let Some((owner, object)) = object.split_once(": ") {
        return (owner, object.to_owned());
    }
    let (kind, place) = object.split_once(' ').unwrap_or(("", object));
    let Some((owner, name)) = place.split_once('/') else {
        return (place, format!("{kind} of the same name"));
    };
    let rest = name.strip_prefix(owner).map(|rest| format!("*{rest}"));
    (owner, format!("{kind} {}", rest.unwrap_or_else(|| name.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str]) -> Vec<String> {
        let names = names.iter().map(ToString::to_string).collect();
        Hold { kind: HoldKind::MachinesReplaced, names, allowed: None }.lines()
    }

    #[test]
    fn the_same_object_of_many_clusters_is_one_line() {
        let pool = |cluster| format!("MachineDeployment {cluster}/{cluster}-np0 (2 machines)");
        let names = ["alpha", "bravo", "charlie", "delta", "echo"].map(pool);
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let wanted = "MachineDeployment *-np0 in alpha, bravo, charlie and 2 more, 10 machines";
        assert_eq!(lines(&names), [wanted]);
        assert_eq!(lines(&names[..1]), names[..1], "one alone is called by its name");
    }

    #[test]
    fn add_ons_layers_and_what_is_scaled_away_stand_apart() {
        let told = lines(&[
            "HelmChartProxy a/calico",
            "HelmChartProxy b/calico",
            "MachineDeployment a/a-np0 to 0",
            "MachineDeployment b/b-np0 to 0",
            "Namespace a",
            "w1: HelmRelease cert-manager/cert-manager",
            "w2: HelmRelease cert-manager/cert-manager",
        ]);
        let wanted = [
            "HelmChartProxy calico in a, b",
            "MachineDeployment *-np0 to 0 in a, b",
            "Namespace a",
            "HelmRelease cert-manager/cert-manager in w1, w2",
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn clusters_are_called_by_their_names() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let hold = Hold { kind: HoldKind::MassDeletion, names: names.clone(), allowed: None };
        assert_eq!(hold.lines(), names);
    }
}
