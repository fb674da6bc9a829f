//! The kinds that a worker is observed by: carp's, Cluster API's and Flux's own, and those of providers, which their
//! files and the flavors declare.

use std::sync::LazyLock;

use crate::model::{Catalogue, KindRole, ObservedPaths, ProvidedKind};

/// A kind that the agent looks at, in the version that carp renders (`docs/formats.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObservedKind {
    /// Namespaces: one a cluster, with the label `carp.dev/cluster`, and those of others, by which no
    /// cluster may be called.
    Namespace,
    /// What carp wrote, with the digest of the folder that was applied.
    ManagedCluster,
    /// A worker's own cluster, on the control-plane cluster.
    Worker,
    /// The cluster itself.
    Cluster,
    /// A pool of machines.
    MachineDeployment,
    /// A pool of machines that its provider makes as one.
    MachinePool,
    /// What a provider has of a cluster.
    Provided(&'static ProvidedResource),
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

/// A kind that is declared, as it is asked for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProvidedResource {
    declared: ProvidedKind,
    version: String,
    plural: String,
}

impl ProvidedResource {
    fn of(declared: ProvidedKind) -> Self {
        let version = declared.api_version.rsplit('/').next().unwrap_or_default().to_owned();
        let plural = declared.resource();
        Self { declared, version, plural }
    }
}

/// The kinds that are declared in what is built in.
static BUILT_IN: LazyLock<Vec<ProvidedResource>> =
    LazyLock::new(|| Catalogue::default().observed().cloned().map(ProvidedResource::of).collect());

impl ObservedKind {
    /// Those that nobody declares.
    const OWN: [Self; 13] = [
        Self::Namespace,
        Self::ManagedCluster,
        Self::Worker,
        Self::Cluster,
        Self::MachineDeployment,
        Self::MachinePool,
        Self::Kustomization,
        Self::CoreProvider,
        Self::BootstrapProvider,
        Self::ControlPlaneProvider,
        Self::InfrastructureProvider,
        Self::AddonProvider,
        Self::HelmRelease,
    ];

    /// All that every agent looks at, in their order.
    #[must_use]
    pub fn built_in() -> Vec<Self> {
        Self::with(Vec::new())
    }

    /// These and others that are declared, in their order. Another that is not known yet is kept as long as the
    /// process lives: an agent is told of them once, when it begins.
    #[must_use]
    pub fn with(declared: Vec<ProvidedKind>) -> Vec<Self> {
        let mut all = Self::OWN.to_vec();
        all.extend(BUILT_IN.iter().map(Self::Provided));
        for kind in declared {
            if !all.iter().any(|known| known.declared() == Some(&kind)) {
                all.push(Self::Provided(Box::leak(Box::new(ProvidedResource::of(kind)))));
            }
        }
        all.sort_unstable();
        all
    }

    /// One of those that are declared in what is built in, by its name.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self::built_in().into_iter().find(|kind| kind.name() == name).expect("it is built in")
    }

    fn declared(self) -> Option<&'static ProvidedKind> {
        match self {
            Self::Provided(kind) => Some(&kind.declared),
            _ => None,
        }
    }

    fn has_role(self, role: KindRole) -> bool {
        self.declared().is_some_and(|kind| kind.roles.contains(&role))
    }

    /// What an object of it is to its cluster first of all.
    pub(super) fn role(self) -> Option<KindRole> {
        match self {
            // In the namespace of a cluster; elsewhere it is a part of the worker.
            Self::HelmRelease => Some(KindRole::AddOn),
            _ => self.declared()?.roles.first().copied(),
        }
    }

    /// Whether objects of it are control planes.
    pub(super) fn is_control_plane(self) -> bool {
        self.has_role(KindRole::ControlPlane)
    }

    /// Whether objects of it are control planes on machines, which count as nodes.
    pub(super) fn is_on_machines(self) -> bool {
        self.declared().is_some_and(|kind| kind.machines)
    }

    /// Where it says what others say elsewhere.
    pub(super) fn paths(self) -> Option<&'static ObservedPaths> {
        self.declared().map(|kind| &kind.paths)
    }

    /// The kind as objects write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(self) -> &'static str {
        self.row().1
    }

    /// The version that is read.
    #[must_use]
    pub fn version(self) -> &'static str {
        self.row().2
    }

    /// The name in URLs and in RBAC rules.
    #[must_use]
    pub fn plural(self) -> &'static str {
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
    pub fn goes_with_the_cluster(self) -> bool {
        match self {
            Self::Cluster | Self::MachineDeployment | Self::MachinePool => true,
            Self::Provided(_) => !self.has_role(KindRole::AddOn),
            _ => false,
        }
    }

    /// Whether objects of this kind lie in the namespace of a cluster.
    #[must_use]
    pub fn belongs_to_a_cluster(self) -> bool {
        self.goes_with_the_cluster()
            || matches!(
                self,
                Self::ManagedCluster | Self::Worker | Self::Provided(_) | Self::HelmRelease
            )
    }

    fn row(self) -> (&'static str, &'static str, &'static str, &'static str) {
        const CAPI: &str = "cluster.x-k8s.io";
        const OPERATOR: &str = "operator.cluster.x-k8s.io";
        match self {
            Self::Namespace => ("Namespace", "", "v1", "namespaces"),
            Self::ManagedCluster => ("ManagedCluster", "carp.dev", "v1alpha1", "managedclusters"),
            Self::Worker => ("Worker", "carp.dev", "v1alpha1", "workers"),
            Self::Cluster => ("Cluster", CAPI, "v1beta2", "clusters"),
            Self::MachineDeployment => ("MachineDeployment", CAPI, "v1beta2", "machinedeployments"),
            Self::MachinePool => ("MachinePool", CAPI, "v1beta2", "machinepools"),
            Self::Provided(ProvidedResource { declared, version, plural }) => {
                (&declared.kind, declared.group(), version, plural)
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
        let all = ObservedKind::built_in();
        let names: BTreeSet<_> = all.iter().map(|k| (k.group(), k.plural())).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.is_sorted());
    }

    #[test]
    fn what_proves_that_a_cluster_is_gone_must_be_served() {
        assert!(
            ObservedKind::Cluster.is_required() && ObservedKind::Cluster.goes_with_the_cluster()
        );
        let provided = ObservedKind::built_in().into_iter().filter(|kind| kind.role().is_some());
        for kind in provided {
            assert!(!kind.is_required(), "a worker may have other providers: {}", kind.name());
            assert!(kind.belongs_to_a_cluster());
        }
        let add_on = ObservedKind::named("HelmChartProxy");
        assert!(!add_on.goes_with_the_cluster(), "Helm takes it out of a cluster that is there");
    }

    #[test]
    fn what_a_fleets_own_templates_declare_is_looked_at_too() {
        let own = ProvidedKind {
            roles: vec![KindRole::ControlPlane],
            api_version: "controlplane.example.com/v1".to_owned(),
            kind: "MoonControlPlane".to_owned(),
            machines: true,
            ..ProvidedKind::default()
        };
        let all = ObservedKind::with(vec![own.clone(), own]);
        assert_eq!(all.len(), ObservedKind::built_in().len() + 1);
        let moon = all.into_iter().find(|kind| kind.group() == "controlplane.example.com").unwrap();
        assert_eq!((moon.version(), moon.plural()), ("v1", "mooncontrolplanes"));
        assert!(moon.is_control_plane() && moon.is_on_machines() && moon.goes_with_the_cluster());
    }
}
