//! `credentials-not-granted`: a tenant with a list of credentials uses those and no others.

use super::{CheckContext, Subject};
use crate::diag::Code;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::ChosenCredentials;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let (
        DocumentSpec::ManagedCluster(_),
        Some(fleet),
        Some(tenant),
        Some(ChosenCredentials::Entry(index)),
    ) = (&subject.body.spec, scene.fleet, scene.tenant(subject.body), subject.credentials(scene))
    else {
        return;
    };
    let chosen = &fleet.credentials[index].name;
    if tenant.may_use(chosen) {
        return;
    }
    let message = format!("the tenant `{}` may not use the credentials `{chosen}`", tenant.name);
    let granted = tenant.credentials.as_deref().unwrap_or_default();
    let help = match granted {
        [] => "grant the tenant some in `carp.yaml`".to_owned(),
        some => format!("use one of {}, or grant it in `carp.yaml`", some.join(", ")),
    };
    out.add(Code::CredentialsNotGranted, subject.credentials_path(), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{TWO_CREDENTIALS, class, cluster, files_find, load_files};
    use super::*;

    #[test]
    fn a_tenant_uses_what_it_is_granted() {
        let carp = format!("{TWO_CREDENTIALS}  tenants: [{{name: shop, credentials: [other]}}]\n");
        let text = cluster("credentials: main\n  ");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
        files_find(&files, Code::CredentialsNotGranted, "spec.credentials");
        let by_class =
            format!("{}---\n{}", class("c", "credentials: main\n  "), cluster("class: c\n  "));
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*by_class)];
        files_find(&files, Code::CredentialsNotGranted, "spec.class");
        let none = carp.replace("[other]", "[]");
        let files = [("carp.yaml", &*none), ("fleet/x.yaml", &*cluster("credentials: main\n  "))];
        let found = files_find(&files, Code::CredentialsNotGranted, "spec.credentials");
        assert_eq!(found.help.as_deref(), Some("grant the tenant some in `carp.yaml`"));
        let granted = load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &cluster(""))]);
        assert!(granted.diagnostics.is_empty(), "{:?}", granted.diagnostics);
    }
}
