//! People remove a worker: the cluster that it is goes on the control-plane cluster, by what the agent
//! there reports of it.

use super::deleting::{Going, goes};
use super::story::Story;
use crate::support::skip;

const WORKER: Going = Going {
    name: "w-weu",
    folder: "control-plane/w-weu",
    status: "workers/w-weu.yaml",
    machinery: &[
        "MachineDeployment.cluster.x-k8s.io",
        "AzureMachine.infrastructure.cluster.x-k8s.io",
        "KubeadmControlPlane.controlplane.cluster.x-k8s.io",
        "AzureCluster.infrastructure.cluster.x-k8s.io",
        "Cluster.cluster.x-k8s.io",
    ],
};

#[test]
fn a_worker_that_people_remove_goes_by_what_the_control_plane_sees() {
    let test = "a_worker_that_people_remove_goes_by_what_the_control_plane_sees";
    let Some(story) = Story::of_the_control_plane() else {
        return skip(test, "no ssh-keygen, or KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    story.carp_reconciles();
    story.goes_round();
    assert_eq!(story.worker_status()["phase"], "Provisioning");
    goes(&story, &WORKER, "fleet/workers/w-weu.yaml");
    assert!(story.rendered("control-plane/workers.yaml").contains("No worker is made here"));
}
