//! `tenants-not-apart`: folders keep tenants apart only where each has its own, and every tenant has one.

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::FleetSpec;

/// Checks the tenants of `carp.yaml` against each other.
pub(super) fn check(spec: &FleetSpec, out: &mut Findings) {
    let any = spec.sets_tenants_apart();
    for (i, tenant) in spec.tenants.iter().enumerate() {
        let path = FieldPath::keys("spec.tenants").index(i);
        if any && tenant.paths.is_empty() {
            let message = format!(
                "the tenant `{}` has no folder of its own: its clusters may stand wherever no other tenant's do",
                tenant.name
            );
            let help = "give it `paths:` too, so that only who may write there makes its clusters";
            out.add(Code::TenantsNotApart, path.key("name"), message, help);
        }
        for (j, folder) in tenant.paths.iter().enumerate() {
            let before = spec.tenants[..i].iter();
            let folders = before.flat_map(|o| o.paths.iter().map(move |f| (&o.name, f)));
            if let Some((other, theirs)) = folders.into_iter().find(|(_, f)| overlap(f, folder)) {
                overlapping(folder, (other, theirs), &path.key("paths").index(j), out);
            }
        }
    }
}

fn overlap(one: &str, other: &str) -> bool {
    let below = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below(one, other) || below(other, one)
}

fn overlapping(folder: &str, (other, theirs): (&str, &str), path: &FieldPath, out: &mut Findings) {
    let (message, help) = if folder == theirs {
        let message = format!("`{folder}` is a folder of the tenant `{other}` too");
        (message, "give each a folder of its own: in this one each can break the other's documents")
    } else {
        let message =
            format!("`{folder}` and `{theirs}` of the tenant `{other}` lie in one another");
        (message, "give each a folder of its own; a document is the tenant's of the innermost one")
    };
    out.add(Code::TenantsNotApart, path.clone(), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    #[test]
    fn folders_of_tenants_that_meet_are_told() {
        for (one, other) in
            [("fleet/a", "fleet/a"), ("fleet/a", "fleet/a/b"), ("fleet/a/b", "fleet/a")]
        {
            let carp = format!(
                "{CARP}  tenants: [{{name: a, paths: [{one}]}}, {{name: b, paths: [fleet/x, {other}]}}]\n"
            );
            let files = [("carp.yaml", &*carp)];
            files_find(&files, Code::TenantsNotApart, "spec.tenants[1].paths[1]");
            assert!(!load_files(&files).fleet_broken);
        }
        let carp = format!(
            "{CARP}  tenants: [{{name: a, paths: [fleet/a, fleet/a/x]}}, {{name: b, paths: [fleet/ab]}}]\n"
        );
        assert!(load_files(&[("carp.yaml", &carp)]).diagnostics.is_empty());
    }

    #[test]
    fn a_tenant_without_folders_beside_others_is_told() {
        let carp = format!("{CARP}  tenants: [{{name: a}}, {{name: b, paths: [fleet/b]}}]\n");
        files_find(&[("carp.yaml", &*carp)], Code::TenantsNotApart, "spec.tenants[0].name");
        let none = format!("{CARP}  tenants: [{{name: a}}, {{name: b}}]\n");
        assert!(load_files(&[("carp.yaml", &none)]).diagnostics.is_empty());
    }
}
