//! The kinds that a worker is observed by.

/// A kind that the agent looks at, in the version that carp renders (`docs/formats.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObservedKind {
    /// Namespaces with the label `carp.dev/cluster`: one a cluster.
    Namespace,
    /// What carp wrote, with the digest of the folder that was applied.
    ManagedCluster,
    /// The same for a worker's own cluster, on the control-plane cluster.
    Worker,
    /// The cluster itself.
    Cluster,
    /// A pool of machines.
    MachineDeployment,
    /// A pool of machines that its provider makes as one.
    MachinePool,
    /// A control plane on machines.
    KubeadmControlPlane,
    /// A control plane in pods of the worker.
    KamajiControlPlane,
    /// A cluster in containers, its infrastructure and its control plane in one.
    KindCluster,
    /// The network and the resource group in Azure.
    AzureCluster,
    /// A machine in Azure.
    AzureMachine,
    /// An add-on.
    HelmChartProxy,
    /// What Flux applies.
    Kustomization,
    /// The core of Cluster API.
    CoreProvider,
    /// A bootstrap provider.
    BootstrapProvider,
    /// A control-plane provider.
    ControlPlaneProvider,
    /// An infrastructure provider.
    InfrastructureProvider,
    /// An add-on provider.
    AddonProvider,
    /// A chart that Flux installs.
    HelmRelease,
}

impl ObservedKind {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Namespace,
        Self::ManagedCluster,
        Self::Worker,
        Self::Cluster,
        Self::MachineDeployment,
        Self::MachinePool,
        Self::KubeadmControlPlane,
        Self::KamajiControlPlane,
        Self::KindCluster,
        Self::AzureCluster,
        Self::AzureMachine,
        Self::HelmChartProxy,
        Self::Kustomization,
        Self::CoreProvider,
        Self::BootstrapProvider,
        Self::ControlPlaneProvider,
        Self::InfrastructureProvider,
        Self::AddonProvider,
        Self::HelmRelease,
    ];

    /// The kind as objects write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub const fn group(self) -> &'static str {
        self.row().1
    }

    /// The version that is read.
    #[must_use]
    pub const fn version(self) -> &'static str {
        self.row().2
    }

    /// The name in URLs and in RBAC rules.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        self.row().3
    }

    /// Whether a worker without this kind is not a worker yet. What is not served is not there, which
    /// is true of a provider that is not installed. Of the kinds that prove that a cluster is gone it
    /// would be a guess: their CRD may have been removed by mistake.
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(self, Self::Namespace | Self::ManagedCluster | Self::Cluster | Self::Kustomization)
    }

    /// Whether objects of this kind are taken down by Cluster API when the `Cluster` goes. While there
    /// is one, the cluster is not gone.
    #[must_use]
    pub const fn goes_with_the_cluster(self) -> bool {
        matches!(
            self,
            Self::Cluster
                | Self::MachineDeployment
                | Self::MachinePool
                | Self::KubeadmControlPlane
                | Self::KamajiControlPlane
                | Self::KindCluster
                | Self::AzureCluster
                | Self::AzureMachine
        )
    }

    /// Whether objects of this kind lie in the namespace of a cluster.
    #[must_use]
    pub const fn belongs_to_a_cluster(self) -> bool {
        self.goes_with_the_cluster()
            || matches!(self, Self::ManagedCluster | Self::Worker | Self::HelmChartProxy)
    }

    const fn row(self) -> (&'static str, &'static str, &'static str, &'static str) {
        const CAPI: &str = "cluster.x-k8s.io";
        const AZURE: &str = "infrastructure.cluster.x-k8s.io";
        const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
        const OPERATOR: &str = "operator.cluster.x-k8s.io";
        match self {
            Self::Namespace => ("Namespace", "", "v1", "namespaces"),
            Self::ManagedCluster => ("ManagedCluster", "carp.dev", "v1alpha1", "managedclusters"),
            Self::Worker => ("Worker", "carp.dev", "v1alpha1", "workers"),
            Self::Cluster => ("Cluster", CAPI, "v1beta2", "clusters"),
            Self::MachineDeployment => ("MachineDeployment", CAPI, "v1beta2", "machinedeployments"),
            Self::MachinePool => ("MachinePool", CAPI, "v1beta2", "machinepools"),
            Self::KubeadmControlPlane => {
                ("KubeadmControlPlane", CONTROL_PLANE, "v1beta2", "kubeadmcontrolplanes")
            }
            Self::KamajiControlPlane => {
                ("KamajiControlPlane", CONTROL_PLANE, "v1alpha2", "kamajicontrolplanes")
            }
            Self::KindCluster => {
                ("KINDCluster", "infrastructure.cluster-k8s.io", "v1alpha1", "kindclusters")
            }
            Self::AzureCluster => ("AzureCluster", AZURE, "v1beta1", "azureclusters"),
            Self::AzureMachine => ("AzureMachine", AZURE, "v1beta1", "azuremachines"),
            Self::HelmChartProxy => {
                ("HelmChartProxy", "addons.cluster.x-k8s.io", "v1alpha1", "helmchartproxies")
            }
            Self::Kustomization => {
                ("Kustomization", "kustomize.toolkit.fluxcd.io", "v1", "kustomizations")
            }
            Self::CoreProvider => ("CoreProvider", OPERATOR, "v1alpha2", "coreproviders"),
            Self::BootstrapProvider => {
                ("BootstrapProvider", OPERATOR, "v1alpha2", "bootstrapproviders")
            }
            Self::ControlPlaneProvider => {
                ("ControlPlaneProvider", OPERATOR, "v1alpha2", "controlplaneproviders")
            }
            Self::InfrastructureProvider => {
                ("InfrastructureProvider", OPERATOR, "v1alpha2", "infrastructureproviders")
            }
            Self::AddonProvider => ("AddonProvider", OPERATOR, "v1alpha2", "addonproviders"),
            Self::HelmRelease => ("HelmRelease", "helm.toolkit.fluxcd.io", "v2", "helmreleases"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_stands_once_in_the_list() {
        let names: BTreeSet<_> =
            ObservedKind::ALL.iter().map(|k| (k.group(), k.plural())).collect();
        assert_eq!(names.len(), ObservedKind::ALL.len());
    }

    #[test]
    fn what_proves_that_a_cluster_is_gone_must_be_served() {
        assert!(
            ObservedKind::Cluster.is_required() && ObservedKind::Cluster.goes_with_the_cluster()
        );
        assert!(!ObservedKind::AzureCluster.is_required(), "a worker may have other providers");
    }
}
