//! `unknown-credentials`: the entry of `carp.yaml` that is named exists, and where several exist and a
//! flavor needs one, one is named.

use super::{CheckContext, Subject};
use crate::diag::Code;
use crate::diag::suggest;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::ChosenCredentials;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let (Some(fleet), Some(flavor)) = (scene.fleet, subject.flavor()) else { return };
    let known = || fleet.credentials.iter().map(|c| c.name.as_str()).collect::<Vec<_>>();
    match subject.credentials(scene) {
        Some(ChosenCredentials::Unknown(name)) => {
            let message = format!("`carp.yaml` has no credentials `{name}`");
            let help = suggest::help(name, known(), "the credentials in `carp.yaml`");
            out.add(Code::UnknownCredentials, subject.credentials_path(), message, help);
        }
        // A tenant brings credentials of its own, so which one it is comes first.
        Some(ChosenCredentials::Ambiguous)
            if subject.needed(scene).is_some() && !is_of_no_tenant(subject, scene) =>
        {
            let message =
                format!("`{flavor}` needs credentials, `carp.yaml` has several and none is named");
            let help = format!("add `credentials:` with one of {}", known().join(", "));
            out.add(Code::UnknownCredentials, subject.credentials_path(), message, help);
        }
        _ => {}
    }
}

/// Whether it is a cluster of a tenant that `carp.yaml` does not have.
fn is_of_no_tenant(subject: &Subject<'_>, scene: &CheckContext<'_>) -> bool {
    let tenants = scene.fleet.is_some_and(|fleet| !fleet.tenants.is_empty());
    let is_cluster = matches!(subject.body.spec, DocumentSpec::ManagedCluster(_));
    tenants && is_cluster && scene.tenant(subject.body).is_none()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        TWO_CREDENTIALS, class, cluster, files_find, finds, load_files, worker,
    };
    use super::*;

    #[test]
    fn credentials_that_are_named_exist() {
        let found =
            finds(cluster("credentials: mian\n  "), Code::UnknownCredentials, "spec.credentials");
        assert_eq!(found.help.as_deref(), Some("did you mean `main`?"));
        finds(worker("credentials: x\n  "), Code::UnknownCredentials, "spec.credentials");
        let class = class("small", "credentials: x\n  ");
        let text = format!("{class}---\n{}", cluster("class: small\n  "));
        finds(text, Code::UnknownCredentials, "spec.class");
    }

    #[test]
    fn of_several_one_is_named() {
        let with =
            |text: &str| load_files(&[("carp.yaml", TWO_CREDENTIALS), ("fleet/x.yaml", text)]);
        for text in [cluster(""), worker("")] {
            let files = [("carp.yaml", TWO_CREDENTIALS), ("fleet/x.yaml", &*text)];
            files_find(&files, Code::UnknownCredentials, "spec.credentials");
        }
        for text in [
            worker("flavor: attached\n  "),
            worker("flavor: kind\n  "),
            cluster("flavor: kind\n  "),
        ] {
            assert!(with(&text).diagnostics.is_empty(), "{text}");
        }
        // A tenant that is not there is the one cause.
        let tenants = format!("{TWO_CREDENTIALS}  tenants: [{{name: others}}]\n");
        let found = load_files(&[("carp.yaml", &tenants), ("fleet/x.yaml", &cluster(""))]);
        let codes: Vec<_> = found.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::UnknownTenant]);
        let named = with(&cluster("credentials: other\n  "));
        assert_eq!(named.fleet.clusters["pay-eu"].spec.credentials.as_deref(), Some("other"));
    }
}
