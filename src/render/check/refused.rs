//! A cluster's folder holds objects of its flavor's kinds in the namespace of its name, and that
//! Namespace: the service account that applies it may touch every cluster on the worker, so this rule is
//! what keeps one cluster out of another.

use super::super::job::{Job, Scope};
use super::super::object::Object;
use super::secret::is_secret;
use crate::diag::{Code, Diagnostics};

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let Scope::Cluster { name, flavor, makes } = &job.scope else { return Diagnostics::default() };
    let flavor = job.templates.flavor(flavor);
    let own = objects.iter().filter(|o| !o.file.starts_with("bootstrap/"));
    own.filter_map(|o| {
        let (api_version, kind) = (o.api_version(), o.kind());
        let declared = flavor.into_iter().flat_map(|f| f.objects_of(*makes));
        let declared = declared.into_iter().any(|d| {
            let named = d.name.as_ref().is_none_or(|name| name == o.name());
            named && d.api_version == api_version && d.kind == kind
        });
        // A Secret with content that is not declared has a finding of its own.
        if !declared && is_secret(o) {
            return None;
        }
        let namespaced = o.kind() != "Namespace";
        let (problem, help) = if !declared {
            let problem =
                format!("the flavor declares no kind {} of {}", o.kind(), o.api_version());
            let folder = &job.folder;
            (problem, format!("leave it out, or list the kind in templates/{folder}/flavor.yaml"))
        } else if namespaced && o.namespace() != name {
            let problem = format!("{o} is in the namespace `{}`, not in `{name}`", o.namespace());
            (problem, "write `namespace: {{ name }}`".to_owned())
        } else if !namespaced && o.name() != name {
            let problem = format!("{o} is not the cluster's own namespace");
            (problem, "write `name: {{ name }}`".to_owned())
        } else {
            return None;
        };
        Some(job.finding(Code::RenderedRefused, &o.file, &problem, &help))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    fn refused(text: &str) -> bool {
        !messages(check, text, Code::RenderedRefused).is_empty()
    }

    #[test]
    fn only_the_clusters_own_namespace_and_kinds_pass() {
        let object = |kind: &str, meta: &str| {
            format!("apiVersion: v1\nkind: {kind}\nmetadata: {{{meta}}}\n")
        };
        assert!(!refused(&object("ConfigMap", "name: x, namespace: a")));
        assert!(!refused(&object("Namespace", "name: a")));
        assert!(refused(&object("ConfigMap", "name: x, namespace: b")), "another namespace");
        assert!(refused(&object("ConfigMap", "name: x")), "no namespace");
        assert!(refused(&object("Namespace", "name: b")), "another cluster's Namespace");
        assert!(refused(&object("Pod", "name: x, namespace: a")), "a kind that no flavor has");
        let old = object("Cluster", "name: a, namespace: a")
            .replace("v1\n", "cluster.x-k8s.io/v1beta1\n");
        assert!(refused(&old), "another version of a known kind");
    }
}
