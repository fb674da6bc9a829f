//! The rules that every rendered folder passes before it may be committed: a file each.

mod complete;
mod declared;
mod duplicate;
mod empty;
mod field;
mod identity;
mod node_network;
mod own_peering;
mod own_release;
mod references;
mod refused;
mod release;
mod schema;
mod secret;
mod system_pool;
mod taints;
mod waits;
mod webhooks;

use super::job::Job;
use super::object::Object;
use crate::diag::Diagnostics;

/// Every finding of every rule.
pub(super) fn all(objects: &[Object], job: &Job) -> Diagnostics {
    let rules = [
        complete::check,
        duplicate::check,
        refused::check,
        secret::check,
        references::check,
        release::check,
        own_release::check,
        own_peering::check,
        empty::check,
        system_pool::check,
        node_network::check,
        taints::check,
        identity::check,
        webhooks::check,
        waits::check,
        declared::check,
        schema::check,
    ];
    rules.iter().flat_map(|rule| rule(objects, job)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::job::Scope;
    use super::super::object::objects;
    use super::super::{Files, Templates};
    use super::*;
    use crate::diag::Code;
    use crate::model::FlavorKind;

    /// A job whose folder is that of the cluster `a`.
    pub(crate) fn job() -> Job {
        Job {
            templates: Templates::built_in(),
            folder: "kamaji-capz".to_owned(),
            rendered: vec![("kamaji-capz/cluster.yaml".to_owned(), "cluster.yaml".to_owned())],
            context: serde_json::Value::Null,
            added: Vec::new(),
            fixed: Vec::new(),
            listed: Vec::new(),
            scope: Scope::Cluster {
                name: "a".to_owned(),
                flavor: "kamaji-capz".to_owned(),
                makes: FlavorKind::ManagedCluster,
            },
            edits: None,
            problems: Diagnostics::default(),
        }
    }

    /// The objects of a text.
    pub(crate) fn read(text: &str) -> Vec<Object> {
        let files = Files::from([("cluster.yaml".to_owned(), text.as_bytes().to_vec())]);
        objects(&files).unwrap()
    }

    /// The messages of a rule's findings on a text, all of one code.
    pub(crate) fn messages(
        rule: fn(&[Object], &Job) -> Diagnostics,
        text: &str,
        code: Code,
    ) -> Vec<String> {
        let findings = rule(&read(text), &job());
        assert!(findings.iter().all(|d| d.code == code), "{findings:?}");
        findings.into_iter().map(|d| d.message).collect()
    }
}
