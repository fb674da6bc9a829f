//! `not-for-tenants`: in a tenant's folder stand its clusters. A Worker, an overlay, a class or an
//! acknowledgement there would be about everybody's clusters.

use crate::diag::{Code, FieldPath};
use crate::load::document::Item;

/// Tells that a document which is no ManagedCluster stands in the folder of these tenants. One that is broken
/// besides, or of a kind that nobody knows, has its finding already.
pub(in crate::load) fn found(item: &mut Item, tenants: &[&str]) {
    let Some(kind) = item.body.as_ref().map(|body| body.spec.kind().name()) else { return };
    let tenants = tenants.join("`, `");
    let message = format!("a {kind} has no effect in the folder of the tenant `{tenants}`");
    let help = "move it out of the tenants' folders: only ManagedClusters stand there";
    item.findings.add(Code::NotForTenants, FieldPath::keys("kind"), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, class, cluster, files_find, load_files, worker};
    use super::*;

    #[test]
    fn only_clusters_stand_in_a_tenants_folder() {
        let carp = format!("{CARP}  tenants: [{{name: shop, paths: [fleet/shop]}}]\n");
        for text in [worker(""), class("small", "")] {
            let files = [("carp.yaml", &*carp), ("fleet/shop/x.yaml", &*text)];
            files_find(&files, Code::NotForTenants, "kind");
            let fleet = load_files(&files).fleet;
            assert!(fleet.workers.is_empty() && fleet.classes.is_empty());
            let beside = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
            assert!(load_files(&beside).diagnostics.is_empty());
        }
        let text = format!("{}---\n{}", worker(""), cluster(""));
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/shop/x.yaml", &text)]);
        assert_eq!(loaded.fleet.clusters.len(), 1, "what stands beside it loads");
    }

    #[test]
    fn a_second_document_in_a_tenants_folder_takes_no_name() {
        let carp = format!("{CARP}  tenants: [{{name: shop, paths: [fleet/shop]}}]\n");
        let both = format!("{}---\n{}", worker(""), class("small", ""));
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*both), ("fleet/shop/x.yaml", &both)];
        let fleet = load_files(&files).fleet;
        assert_eq!((fleet.workers.len(), fleet.classes.len()), (1, 1));
    }
}
