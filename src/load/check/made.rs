//! `duplicate-name` against what a pool made: ManagedClusters and Workers share one set of names. (A Worker
//! of such a name takes that worker over.)

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let name = &subject.body.name;
    if !matches!(subject.body.spec, DocumentSpec::ManagedCluster(_)) {
        return;
    }
    if let Some(pool) = scene.made.get(name) {
        let message =
            format!("there is already a Worker called `{name}`, which the pool {pool} made");
        let help = "choose another name";
        out.add(Code::DuplicateName, FieldPath::keys("metadata.name"), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, cluster, load_with_eu_1, overlay, worker};
    use super::*;
    use crate::load::Loaded;
    use crate::model::Fleet;

    const POOL: &str = "apiVersion: carp.dev/v1alpha1\nkind: WorkerPool\nmetadata:\n  name: eu\nspec:\n  max: \
                        3\n  locations: [westeurope, northeurope]\n  template:\n    spec:\n      version: \
                        v1.34.2\n      location: westeurope\n";

    fn load(text: &str) -> Loaded {
        load_with_eu_1(&[("carp.yaml", CARP), ("fleet/x.yaml", text)])
    }

    fn fleet(more: &str) -> Fleet {
        load(&format!("{POOL}---\n{more}")).fleet
    }

    #[test]
    fn what_a_pool_made_is_a_worker_like_any_other() {
        let plain = fleet(&cluster("")).workers["eu-1"].clone();
        assert_eq!(
            (&*plain.spec.location, plain.spec.pool.as_deref()),
            ("northeurope", Some("eu"))
        );
        let cordoned = fleet(&overlay("eu-1", "unschedulable: true\n"));
        let cordoned = cordoned.workers["eu-1"].clone();
        assert!(cordoned.spec.unschedulable);
        assert_ne!(cordoned.facts, plain.facts);
        let broken = fleet(&overlay("eu-1", "unschedulable: maybe\n"));
        assert!(broken.workers.is_empty(), "a cordon that cannot be read is not lifted");
        let own = fleet(&worker("").replace("w1", "eu-1"));
        assert_eq!(own.workers["eu-1"].made_by, None, "a document takes it over");
        assert!(load(&cluster("")).fleet.workers.is_empty(), "the pool is gone");
    }

    #[test]
    fn no_cluster_has_the_name_of_what_a_pool_made() {
        let text = format!("{POOL}---\n{}", cluster("").replace("pay-eu", "eu-1"));
        let loaded = load(&text);
        assert!(loaded.diagnostics.iter().any(|d| d.code == Code::DuplicateName));
        assert!(loaded.fleet.clusters.is_empty());
    }
}
