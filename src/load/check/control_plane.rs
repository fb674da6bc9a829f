//! `invalid-value` on `controlPlane.replicas` of a Worker: etcd is stacked on the control plane's
//! machines there, and Cluster API's `KubeadmControlPlane` webhook refuses an even number of them.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::Worker(worker) = &subject.body.spec else { return };
    let replicas = worker.control_plane.as_ref().and_then(|c| c.replicas);
    if let Some(replicas) = replicas.filter(|r| r % 2 == 0) {
        let message =
            format!("{replicas} control-plane replicas cannot hold an etcd quorum evenly");
        let help = format!("write `replicas: {}`", replicas + 1);
        let path = FieldPath::keys("spec.controlPlane.replicas");
        out.add(Code::InvalidValue, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{cluster, finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn a_workers_control_plane_is_odd() {
        let path = "spec.controlPlane.replicas";
        finds(worker("controlPlane: {replicas: 2}\n  "), Code::InvalidValue, path);
        finds_nothing(worker("controlPlane: {replicas: 3}\n  "));
        finds_nothing(cluster("controlPlane: {replicas: 2}\n  "));
    }
}
