//! `not-for-tenants`: in a tenant's folder stand its clusters. A Worker, an overlay, a class or an
//! acknowledgement there would be about everybody's clusters.

use super::paths;
use crate::diag::{Code, FieldPath};
use crate::load::folders::Folders;
use crate::load::item::Item;
use crate::load::kind::{DocumentSpec, Kind};

/// Takes out the documents in tenants' folders that are none of that tenant's clusters, each with its
/// finding: no rule looks at them among the others.
pub(in crate::load) fn set_apart(items: &mut Vec<Item>, folders: &Folders<'_>) -> Vec<Item> {
    let strays = items.extract_if(.., |item| {
        let tenants = folders.tenants_of(&item.findings.source.file);
        !tenants.is_empty() && is_stray(item, tenants)
    });
    strays.collect()
}

/// Whether a document is no cluster of these tenants. It then has a finding.
fn is_stray(item: &mut Item, tenants: &[&str]) -> bool {
    if item.kind.as_deref() != Some(Kind::ManagedCluster.name()) {
        found(item, tenants);
        return true;
    }
    match &item.body {
        Some(body) if matches!(body.spec, DocumentSpec::ManagedCluster(_)) => {
            // Where the namespace itself is broken, that is told already.
            let unread = body.namespace.is_none() && item.findings.has_errors();
            let foreign = !unread && !tenants.contains(&body.tenant());
            if foreign {
                paths::foreign(item, tenants);
            }
            foreign
        }
        // It is broken, and a cluster of the folder's tenant for all that is known.
        _ => false,
    }
}

/// Tells that a document which is no ManagedCluster stands in the folder of these tenants. One that is broken
/// besides, or of a kind that nobody knows, has its finding already.
fn found(item: &mut Item, tenants: &[&str]) {
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
