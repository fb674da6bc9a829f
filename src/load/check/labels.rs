//! `invalid-value` on labels: carp puts a cluster's and a pool's labels on objects, and an API server
//! refuses an object whose labels are malformed.

use std::collections::BTreeMap;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, visible};
use crate::load::finding::Findings;
use crate::model::{is_label_key, is_label_value};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    all(&subject.body.labels, &FieldPath::keys("metadata.labels"), out);
    for (path, pool) in subject.node_pools() {
        all(&pool.labels, &path.key("labels"), out);
    }
}

fn all(labels: &BTreeMap<String, String>, path: &FieldPath, out: &mut Findings) {
    for (key, value) in labels {
        let path = path.key(key);
        if !is_label_key(key) {
            let message = format!("`{}` cannot be the key of a label", visible::line(key));
            let help = "use letters, digits, `-`, `_` and `.`, at most 63, perhaps after `domain/`";
            out.add_on_key(Code::InvalidValue, path.clone(), message, help);
        }
        if !is_label_value(value) {
            let message = format!("`{}` cannot be the value of a label", visible::line(value));
            let help = "use letters, digits, `-`, `_` and `.`, at most 63 of them";
            out.add(Code::InvalidValue, path, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{cluster, finds, finds_nothing};
    use super::*;

    #[test]
    fn labels_are_what_an_api_server_takes() {
        finds(
            cluster("").replace("gold", "\"two words\""),
            Code::InvalidValue,
            "metadata.labels.tier",
        );
        finds(cluster("").replace("tier", "\"a b\""), Code::InvalidValue, "metadata.labels.a b");
        for evil in [r#""go\nld""#, r#""gold\0""#, r#""\u202egold""#] {
            let text = cluster("").replace("gold", evil);
            finds(text, Code::InvalidValue, "metadata.labels.tier");
        }
        let pool = cluster("nodePools: [{name: a, replicas: 1, labels: {x: \"-\"}}]\n  ");
        finds(pool, Code::InvalidValue, "spec.nodePools[0].labels.x");
        finds_nothing(cluster("").replace("tier: gold", "example.com/tier: \"\""));
    }
}
