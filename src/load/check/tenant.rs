//! `unknown-tenant`: once `carp.yaml` lists tenants, a cluster's namespace is one of them.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let Some(fleet) = scene.fleet.filter(|f| !f.tenants.is_empty()) else { return };
    let tenant = subject.body.tenant();
    if !matches!(subject.body.spec, DocumentSpec::ManagedCluster(_))
        || scene.tenant(subject.body).is_some()
    {
        return;
    }
    let known: Vec<_> = fleet.tenants.iter().map(|t| t.name.as_str()).collect();
    let help = suggest::help(tenant, known.iter().copied(), "the tenants in `carp.yaml`");
    let (message, help) = match subject.body.namespace {
        Some(_) => (format!("`{tenant}` is not a tenant of this fleet"), help),
        None => (
            format!("without a namespace the tenant is `{tenant}`, which this fleet does not have"),
            format!("add `namespace:` with one of {}", known.join(", ")),
        ),
    };
    out.add(Code::UnknownTenant, FieldPath::keys("metadata.namespace"), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, cluster, files_find, finds_nothing, load_files};
    use super::*;

    #[test]
    fn a_namespace_is_a_tenant_once_tenants_are_listed() {
        finds_nothing(cluster(""));
        let carp = format!("{CARP}  tenants: [{{name: shops}}]\n");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*cluster(""))];
        let found = files_find(&files, Code::UnknownTenant, "metadata.namespace");
        assert_eq!(found.help.as_deref(), Some("did you mean `shops`?"));
        let right = carp.replace("shops", "shop");
        let loaded = load_files(&[("carp.yaml", &right), ("fleet/x.yaml", &cluster(""))]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    }
}
