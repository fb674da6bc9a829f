//! `label-not-granted`: policies choose clusters by their labels, and with them workers and tolerations; so a
//! tenant with a list of labels has those and no others.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::FleetSpec;
use crate::model::is_label_key;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::ManagedCluster(_) = &subject.body.spec else { return };
    let Some(tenant) = scene.tenant(subject.body) else { return };
    for key in subject.body.labels.keys().filter(|key| !tenant.may_set(key)) {
        let message = format!("the tenant `{}` may not set the label `{key}`", tenant.name);
        let help = match tenant.labels.as_deref().unwrap_or_default() {
            [] => "remove it, or grant the tenant labels in `carp.yaml`".to_owned(),
            some => format!("remove it, or grant it in `carp.yaml`; granted: {}", some.join(", ")),
        };
        let path = FieldPath::keys("metadata.labels").key(key);
        out.add_on_key(Code::LabelNotGranted, path, message, help);
    }
}

/// Checks the lists in `carp.yaml`: each entry is the key of a label, or a domain with `/` at its end.
pub(super) fn of_fleet(spec: &FleetSpec, out: &mut Findings) {
    for (i, tenant) in spec.tenants.iter().enumerate() {
        for (j, entry) in tenant.labels.iter().flatten().enumerate() {
            let key = if entry.ends_with('/') { format!("{entry}x") } else { entry.clone() };
            if !is_label_key(&key) {
                let path = FieldPath::keys("spec.tenants").index(i).key("labels").index(j);
                let message = format!("`{entry}` cannot be the key of a label");
                let help =
                    "write a key such as `team`, or `example.com/` for all keys below a domain";
                out.add(Code::InvalidValue, path, message, help);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, cluster, files_find, load_files};
    use super::*;

    fn carp(labels: &str) -> String {
        format!("{CARP}  tenants: [{{name: shop, labels: {labels}}}]\n")
    }

    #[test]
    fn a_tenant_has_the_labels_that_it_is_granted() {
        let with = |labels: &str, key: &str| {
            let text = cluster("").replace("tier: gold", &format!("{key}: gold"));
            load_files(&[("carp.yaml", &carp(labels)), ("fleet/x.yaml", &text)])
        };
        for (labels, key) in [
            ("[tier]", "tier"),
            ("[team, tier]", "tier"),
            ("[example.com/]", "example.com/tier"),
            ("[example.com/tier]", "example.com/tier"),
        ] {
            assert!(with(labels, key).diagnostics.is_empty(), "{labels} {key}");
        }
        for (labels, key) in [
            ("[]", "tier"),
            ("[tie]", "tier"),
            ("[example.com/]", "tier"),
            ("[example.com/]", "www.example.com/tier"),
            ("[example.com/]", "example.com"),
            ("[tier]", "example.com/tier"),
        ] {
            let found = with(labels, key).diagnostics;
            let codes: Vec<_> = found.iter().map(|d| d.code).collect();
            assert_eq!(codes, [Code::LabelNotGranted], "{labels} {key}");
        }
        let files = [("carp.yaml", &*carp("[team]")), ("fleet/x.yaml", &*cluster(""))];
        let found = files_find(&files, Code::LabelNotGranted, "metadata.labels.tier");
        assert!(found.help.unwrap().ends_with("granted: team"));
    }

    #[test]
    fn an_entry_is_a_key_or_a_domain() {
        for bad in ["\"\"", "/", "a b", "example.com//", "-a", "\"*\""] {
            let files = [("carp.yaml", &*carp(&format!("[{bad}]")))];
            files_find(&files, Code::InvalidValue, "spec.tenants[0].labels[0]");
        }
    }
}
