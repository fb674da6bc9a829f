//! `unknown-pool`: a tenant is granted a pool that no worker is in, so its clusters fit nowhere.

use std::collections::BTreeSet;

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::suggest;
use crate::model::Fleet;

/// Looks at the fleet as it loaded. Where a worker may not have loaded nothing is said: the pool may be
/// that worker's.
pub(in crate::load) fn check(fleet: &Fleet, out: &mut Findings) {
    let may_be_a_worker = |kind: &Option<String>| kind.as_deref().is_none_or(|k| k == "Worker");
    if fleet.unloaded.iter().any(|u| may_be_a_worker(&u.kind)) {
        return;
    }
    let pools: BTreeSet<_> =
        fleet.workers.values().filter_map(|w| w.spec.pool.as_deref()).collect();
    for (i, tenant) in fleet.spec.tenants.iter().enumerate() {
        for (j, pool) in tenant.pools.iter().enumerate() {
            if !pools.contains(pool.as_str()) {
                let path = FieldPath::keys("spec.tenants").index(i).key("pools").index(j);
                let message = format!("no worker is in the pool `{pool}`");
                let help = match suggest::nearest(pool, pools.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "write `pool: {pool}` on the workers that are meant, or remove it here"
                    ),
                };
                out.add(Code::UnknownPool, path, message, help);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files, worker};
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
    fn a_worker_that_did_not_load_may_be_in_it() {
        let carp = format!("{CARP}  tenants: [{{name: shop, pools: [au]}}]\n");
        let text = worker("pool: au\n  colour: red\n  ");
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &text)]);
        assert!(loaded.diagnostics.iter().all(|d| d.code != Code::UnknownPool));
    }
}
