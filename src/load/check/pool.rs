//! `unknown-pool`: a tenant is granted a pool that no worker is in and that is no WorkerPool, or a policy or
//! a cluster uses one, so its clusters fit nowhere.

use std::collections::BTreeSet;

use crate::diag::suggest;
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::paths::FLEET_FILE;
use crate::model::{Fleet, Name};

/// Looks at the fleet as it loaded. Where a worker may not have loaded nothing is said: the pool may be
/// that worker's.
pub(in crate::load) fn check(fleet: &Fleet, out: &mut Diagnostics) {
    let may_be_a_worker = |kind: &Option<String>| {
        kind.as_deref().is_none_or(|k| matches!(k, "Worker" | "WorkerPool"))
    };
    if fleet.unloaded.iter().any(|u| may_be_a_worker(&u.kind)) {
        return;
    }
    let workers = fleet.workers.values().filter_map(|w| w.spec.pool.as_deref());
    let pools: BTreeSet<_> = workers.chain(fleet.pools.keys().map(Name::as_str)).collect();
    for (file, document, path, named) in named(fleet) {
        for (i, pool) in named.iter().enumerate().filter(|(_, p)| !pools.contains(p.as_str())) {
            let help = match suggest::nearest(pool, pools.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!("write `pool: {pool}` on the workers that are meant, or remove it here")
                }
            };
            let message = format!("no worker is in the pool `{pool}`");
            let place = Place::field(file, document, path.index(i));
            out.push(Diagnostic::new(Code::UnknownPool, message).at(place).help(help));
        }
    }
}

/// Every list of pools, with its place: what tenants are granted, and what policies and clusters use.
fn named(fleet: &Fleet) -> Vec<(&str, usize, FieldPath, &[String])> {
    let granted = fleet.spec.tenants.iter().enumerate().map(|(i, tenant)| {
        let path = FieldPath::keys("spec.tenants").index(i).key("pools");
        (FLEET_FILE, 0, path, tenant.pools.as_deref().unwrap_or_default())
    });
    let used = fleet.policies.values().filter_map(|policy| {
        let path = FieldPath::keys("spec.pools");
        Some((policy.file.as_deref()?, policy.document, path, policy.spec.pools.as_slice()))
    });
    let own = fleet.clusters.values().filter_map(|cluster| {
        let path = FieldPath::keys("spec.placement.pools");
        let pools = cluster.spec.placement.as_ref()?.pools.as_slice();
        Some((cluster.file.as_str(), cluster.document, path, pools))
    });
    granted.chain(used).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, POLICY, cluster, files_find, finds, load_files, worker,
    };
    use super::*;

    #[test]
    fn a_pool_has_a_worker() {
        let carp = format!("{CARP}  tenants: [{{name: shop, pools: [eu, au]}}]\n");
        let text = worker("pool: eu\n  ");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
        files_find(&files, Code::UnknownPool, "spec.tenants[0].pools[1]");
        assert!(!load_files(&files).fleet_broken);
    }

    #[test]
    fn a_pool_that_is_used_has_a_worker() {
        let policy = POLICY.replace("spec:\n", "spec:\n  pools: [eu, eux]\n");
        let text = worker("pool: eu\n  ");
        let files = [("policies/p.yaml", &*policy), ("fleet/x.yaml", &*text)];
        let found = files_find(&files, Code::UnknownPool, "spec.pools[1]");
        assert_eq!(found.help.as_deref(), Some("did you mean `eu`?"));
        let own = format!("{text}---\n{}", cluster("placement: {pools: [au]}\n  "));
        finds(own, Code::UnknownPool, "spec.placement.pools[0]");
    }

    #[test]
    fn a_worker_that_did_not_load_may_be_in_it() {
        let carp = format!("{CARP}  tenants: [{{name: shop, pools: [au]}}]\n");
        let text = worker("pool: au\n  colour: red\n  ");
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &text)]);
        assert!(loaded.diagnostics.iter().all(|d| d.code != Code::UnknownPool));
    }
}
