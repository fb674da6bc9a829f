//! `outside-tenant-paths`: the documents of a tenant with `paths` stand in those folders and nowhere else, so
//! that whoever may write in a folder makes clusters of its tenant only.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::item::Item;
use crate::load::kind::DocumentSpec;
use crate::model::api::FleetSpec;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let Some(tenant) = scene.tenant(subject.body).filter(|t| !t.paths.is_empty()) else { return };
    let file = &*out.source.file;
    let inside = |folder: &String| {
        file.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    if !matches!(subject.body.spec, DocumentSpec::ManagedCluster(_))
        || tenant.paths.iter().any(inside)
    {
        return;
    }
    let (name, paths) = (&tenant.name, tenant.paths.join("`, `"));
    let message =
        format!("clusters of the tenant `{name}` stand in `{paths}`, and this is `{file}`");
    let help = "move the document there, or write the tenant whose folder this is";
    out.add(Code::OutsideTenantPaths, FieldPath::keys("metadata.namespace"), message, help);
}

/// Tells that a cluster which is none of these tenants' stands in their folder.
pub(super) fn foreign(item: &mut Item, tenants: &[&str]) {
    let Some(body) = &item.body else { return };
    let message = match &body.namespace {
        Some(namespace) => {
            format!("a cluster of `{namespace}` stands in the folder of `{}`", tenants.join("`, `"))
        }
        None => format!(
            "a cluster without a namespace stands in the folder of `{}`",
            tenants.join("`, `")
        ),
    };
    let help = match tenants {
        [one] => format!("write `namespace: {one}`, or move the document"),
        more => format!("write `namespace:` with one of {}, or move the document", more.join(", ")),
    };
    let path = FieldPath::keys("metadata.namespace");
    item.findings.add(Code::OutsideTenantPaths, path, message, help);
}

/// Checks the paths in `carp.yaml`: they are folders below that in which clusters stand. All of it is no
/// tenant's: workers, classes and acknowledgements stand there too.
pub(super) fn of_fleet(spec: &FleetSpec, out: &mut Findings) {
    let root = spec.roots.clone().unwrap_or_default().fleet;
    for (i, tenant) in spec.tenants.iter().enumerate() {
        for (j, folder) in tenant.paths.iter().enumerate() {
            let below = folder.strip_prefix(&root);
            if below.is_some_and(str::is_empty) {
                let path = FieldPath::keys("spec.tenants").index(i).key("paths").index(j);
                let message =
                    format!("`{folder}` is everybody's: workers and classes stand there too");
                let help = format!("write a folder below it, such as `{root}/{}`", tenant.name);
                out.add(Code::InvalidValue, path, message, help);
                continue;
            }
            let below = below.is_some_and(|rest| rest.starts_with('/'));
            if !below || !is_folder_below(folder) {
                let path = FieldPath::keys("spec.tenants").index(i).key("paths").index(j);
                let message = format!("`{folder}` is not a folder in which clusters stand");
                let help =
                    format!("write a folder below `{root}`, such as `{root}/{}`", tenant.name);
                out.add(Code::InvalidValue, path, message, help);
            }
        }
    }
}

/// Whether a path names a folder below the fleet's root as Git spells it: `./x` would be found nowhere.
pub(super) fn is_folder_below(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, cluster, files_find, load_files};
    use super::*;

    fn carp(paths: &str) -> String {
        format!("{CARP}  tenants: [{{name: shop, paths: [{paths}]}}, {{name: pay}}]\n")
    }

    #[test]
    fn the_documents_of_a_tenant_stand_in_its_folders() {
        let (carp, own) = (carp("fleet/shop, fleet/shared"), cluster(""));
        for file in ["fleet/shop/x.yaml", "fleet/shop/eu/x.yaml", "fleet/shared/x.yaml"] {
            let found = load_files(&[("carp.yaml", &carp), (file, &own)]).diagnostics;
            assert!(!found.has_errors(), "{file}: {found:?}");
        }
        for file in ["fleet/x.yaml", "fleet/shops/x.yaml", "fleet/pay/x.yaml"] {
            let files = [("carp.yaml", &*carp), (file, &*own)];
            files_find(&files, Code::OutsideTenantPaths, "metadata.namespace");
        }
        let other = own.replace("namespace: shop", "namespace: pay");
        let found = load_files(&[("carp.yaml", &carp), ("fleet/any/x.yaml", &other)]).diagnostics;
        assert!(!found.has_errors(), "{found:?}");
    }

    #[test]
    fn a_path_is_a_folder_in_which_clusters_stand() {
        for bad in ["shop", "fleet/../shop", "fleet/shop/", "/fleet/shop", "fleets/shop", "fleet"] {
            let files = [("carp.yaml", &*carp(bad))];
            files_find(&files, Code::InvalidValue, "spec.tenants[0].paths[0]");
        }
    }
}
