//! A cluster's folder holds the cluster: what is not in it any more Flux prunes, so a template that leaves
//! the `Cluster` out would delete every cluster of its flavor.

use super::super::job::{Job, Scope};
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};

const KIND: &str = "Cluster";

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let Scope::Cluster { name, flavor, .. } = &job.scope else { return Diagnostics::default() };
    let is_cluster = |group: &str, kind: &str| kind == KIND && group == "cluster.x-k8s.io";
    let declared = job.templates.flavor(flavor).into_iter().flat_map(|f| &f.objects).any(|o| {
        let group = o.api_version.split_once('/').map_or("", |(group, _)| group);
        is_cluster(group, &o.kind)
    });
    let there = objects.iter().any(|o| is_cluster(o.group(), o.kind()) && o.name() == name);
    let missing = (declared && !there).then(|| {
        let message = format!("there is no {KIND} {name}: Flux would delete the cluster");
        let help = "let the template make the Cluster, as the built-in one does";
        job.finding(Code::RenderedInvalid, super::super::cluster::CLUSTER_FILE, &message, help)
    });
    missing.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    #[test]
    fn a_folder_without_its_cluster_is_refused() {
        let cluster = |name: &str| {
            let text = format!(
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: {name}}}\n"
            );
            messages(check, &text, Code::RenderedInvalid)
        };
        assert!(cluster("a").is_empty());
        assert_eq!(cluster("b"), ["there is no Cluster a: Flux would delete the cluster"]);
    }
}
