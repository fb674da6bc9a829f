//! `priority-not-granted`: a tenant's clusters have at most the priority that `carp.yaml` grants, for a
//! higher one would go before everybody else's.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let (DocumentSpec::ManagedCluster(own), Some(cluster), Some(tenant)) =
        (&subject.body.spec, &subject.cluster, scene.tenant(subject.body))
    else {
        return;
    };
    let (Some(most), Some(priority)) = (tenant.max_priority, cluster.priority) else { return };
    if priority <= most {
        return;
    }
    let path = if own.priority.is_some() { "spec.priority" } else { "spec.class" };
    let name = &tenant.name;
    let message = format!("priority {priority} is more than the {most} that `{name}` may have");
    let help = format!("write {most} or less, or raise `maxPriority` in `carp.yaml`");
    out.add(Code::PriorityNotGranted, FieldPath::keys(path), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, class, cluster, files_find, load_files};
    use super::*;

    #[test]
    fn a_tenant_has_at_most_the_priority_that_it_is_granted() {
        let carp = format!("{CARP}  tenants: [{{name: shop, maxPriority: 5}}]\n");
        let files = |text: &str| [("carp.yaml", carp.clone()), ("fleet/x.yaml", text.to_owned())];
        let find = |text: &str, path: &str| {
            let files = files(text);
            let files: Vec<_> = files.iter().map(|(p, t)| (*p, &**t)).collect();
            files_find(&files, Code::PriorityNotGranted, path);
        };
        find(&cluster("priority: 6\n  "), "spec.priority");
        let by_class = format!("{}---\n{}", class("c", "priority: 6\n  "), cluster("class: c\n  "));
        find(&by_class, "spec.class");
        for fine in ["priority: 5\n  ", "priority: -1\n  ", ""] {
            let files = files(&cluster(fine));
            let files: Vec<_> = files.iter().map(|(p, t)| (*p, &**t)).collect();
            assert!(load_files(&files).diagnostics.is_empty(), "{fine}");
        }
    }
}
