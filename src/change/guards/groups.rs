//! Who is counted by itself: each tenant with folders of its own, and the platform, which writes everything else.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::api::Tenant;
use crate::model::{FleetLock, GuardCounts, GuardedRun};

/// Whose something is that is no tenant's.
pub const PLATFORM: &str = "";

/// The tenants that are counted by themselves. All else is one group, the platform's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The tenants that have folders of their own, so that nobody else's documents stand there.
    apart: BTreeSet<String>,
}

impl Groups {
    /// The tenants that have folders of their own in the input and in what is in force: a commit that sets tenants
    /// apart does not profit from it.
    #[must_use]
    pub fn new(input: &[Tenant], lock: Option<&FleetLock>) -> Self {
        let apart = |tenants: &[Tenant]| -> BTreeSet<String> {
            let apart = tenants.iter().filter(|tenant| !tenant.paths.is_empty());
            apart.map(|tenant| tenant.name.clone()).collect()
        };
        let in_force = lock.map(|lock| apart(&lock.tenants)).unwrap_or_default();
        Self { apart: apart(input).intersection(&in_force).cloned().collect() }
    }

    /// The group of a tenant: itself, or [`PLATFORM`].
    #[must_use]
    pub fn of<'a>(&self, tenant: &'a str) -> &'a str {
        if self.apart.contains(tenant) { tenant } else { PLATFORM }
    }

    /// What a run did, by group where it is by tenant. What nobody asked for is among what is asked for, as the
    /// platform's.
    pub(super) fn gathered(&self, run: &GuardedRun) -> GuardedRun {
        let by_group = |counts: &BTreeMap<String, u64>, others: u64| {
            let mut groups = BTreeMap::<String, u64>::new();
            for (tenant, count) in counts {
                *groups.entry(self.of(tenant).to_owned()).or_default() += count;
            }
            if others > 0 {
                *groups.entry(PLATFORM.to_owned()).or_default() += others;
            }
            groups
        };
        let GuardCounts { deletions, asked_objects, asked_machines, .. } = &run.did;
        let did = GuardCounts {
            deletions: by_group(deletions, 0),
            asked_objects: by_group(asked_objects, run.did.removed_objects),
            asked_machines: by_group(asked_machines, run.did.replaced_machines),
            ..run.did.clone()
        };
        GuardedRun { at: run.at, did }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::change::guards::tests::fleet_lock;

    /// Tenants, each with a folder of its own.
    pub(in crate::change::guards) fn tenants(names: &[&str]) -> Vec<Tenant> {
        let tenant = |name: &&str| Tenant {
            name: (*name).to_owned(),
            paths: vec![format!("teams/{name}")],
            ..Tenant::default()
        };
        names.iter().map(tenant).collect()
    }

    /// These tenants by themselves.
    pub(in crate::change::guards) fn groups(names: &[&str]) -> Groups {
        let tenants = tenants(names);
        Groups::new(&tenants, Some(&FleetLock { tenants: tenants.clone(), ..fleet_lock() }))
    }

    #[test]
    fn who_has_folders_in_the_input_and_in_force_is_counted_by_itself() {
        let mut input = tenants(&["red", "blue", "new"]);
        input[1].paths.clear();
        let lock = FleetLock { tenants: tenants(&["red", "blue", "gone"]), ..fleet_lock() };
        let groups = Groups::new(&input, Some(&lock));
        let of = ["red", "blue", "new", "gone", ""].map(|tenant| groups.of(tenant));
        assert_eq!(of, ["red", "", "", "", ""]);
        assert_eq!(Groups::new(&input, None).of("red"), PLATFORM);
    }

    #[test]
    fn what_was_done_is_the_platforms_where_nobody_else_is_counted() {
        let counts = |all: &[(&str, u64)]| {
            all.iter().map(|(tenant, count)| ((*tenant).to_owned(), *count)).collect()
        };
        let did = GuardCounts {
            deletions: counts(&[("", 1), ("a", 2), ("red", 3)]),
            removed_objects: 4,
            asked_objects: counts(&[("a", 5), ("red", 6)]),
            replaced_machines: 7,
            ..GuardCounts::default()
        };
        let run = GuardedRun { at: "2026-03-01T12:00:00Z".parse().unwrap(), did: did.clone() };
        let gathered = GuardCounts {
            deletions: counts(&[("", 3), ("red", 3)]),
            asked_objects: counts(&[("", 9), ("red", 6)]),
            asked_machines: counts(&[("", 7)]),
            ..did
        };
        assert_eq!(groups(&["red"]).gathered(&run).did, gathered);
    }
}
