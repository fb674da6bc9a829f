//! `carp.dev/v1alpha1`: the wire types, from which the CRDs come (`carp crds`).
//!
//! A field stands here only once carp acts on it; the names that are planned are in
//! [`planned`] so that the loader can say so kindly. Every optional field is left out when it has its
//! default, because the facts digest of a document is taken over what is left.

mod acknowledgement;
mod affinity;
mod class;
mod crds;
mod data_store;
mod fleet;
mod forge;
mod git;
mod guards;
mod images;
mod kind_cluster;
mod managed_cluster;
mod offered;
mod override_change;
mod override_policy;
mod parameters;
mod placement;
pub mod planned;
mod policy_test;
mod secrets;
mod selector;
mod shared;
mod tenant;
mod term;
mod together;
mod worker;
mod worker_pool;

pub use acknowledgement::{
    Acknowledgement, AcknowledgementKind, AcknowledgementSettings, AcknowledgementSpec, Rebalance,
};
pub use affinity::{AffinityGroup, Failback, PolicyAffinity, Strategy};
pub use class::{ManagedClusterClass, ManagedClusterClassSpec};
pub use crds::{ApiKind, all_crds, api_kinds, crds, kind_crd};
pub use data_store::{DataStore, DataStoreChoice, DataStoreSnapshots, DataStoreStatus};
pub use fleet::{
    AZURE, AzureCredentials, Bootstrap, Branches, ControlPlaneCluster, Credentials, Delivery,
    DeliveryKind, DriftPolicy, Example, Fleet, FleetSpec, IssuerStorage, Roots,
};
pub use forge::{ForgeKind, ForgeSettings};
pub use git::{
    GitSettings, ObservedSettings, OutputSettings, Signing, SigningFormat, Verify, WorkerKey,
    WriteMode,
};
pub use guards::{GuardWindow, Guards};
pub use images::{Images, Sources};
pub use kind_cluster::{
    DEFAULT_KIND_VERSION, Endpoint, EndpointType, HistoryRow, Initialization,
    KIND_CLUSTER_API_VERSION, KIND_CLUSTER_GROUP, KINDCluster, KINDClusterSpec, KINDClusterStatus,
    KindDeletionPolicy, MOST_HISTORY, MadeFrom,
};
pub use managed_cluster::{
    DeletionPolicy, ManagedCluster, ManagedClusterPlacement, ManagedClusterSpec,
    ManagedClusterStatus, NodeCounts, OnWorkerLoss,
};
pub use offered::{Classification, SupportedVersion};
pub use override_change::{
    AS_WRITTEN, ChangeOf, EntriesChange, FieldChange, FieldFormat, ImageChange, ItemsChange,
    OverrideChange, PatchOperation, PatchVerb, escaped,
};
pub use override_policy::{
    ObjectSelector, OverridePolicy, OverridePolicySpec, OverrideTarget, WorkerSelector,
};
pub use parameters::{Parameters, TYPED_BY_FLAVOR};
pub use placement::{
    Failover, OnViolation, PlacementPolicy, PlacementPolicySpec, Toleration, TolerationOperator,
};
pub use policy_test::{
    Expectation, ExpectedRefusal, PlacementPolicyTest, PlacementPolicyTestSpec, TestCluster,
    TestMetadata, TestWorker,
};
pub use secrets::{ExternalSecretSettings, SecretSettings, WORKER_IN_KEY};
pub use selector::{ClusterSelector, Expression, ExpressionOperator, LabelSelector};
pub use shared::{
    Autoscale, ClusterAccess, ControlPlane, EndpointAccess, ErrorStatus, Network, NodePool, OsDisk,
    Taint, TaintEffect,
};
pub use tenant::{Tenant, TenantLimits};
pub use term::{Affinity, FieldExpression, PlacementTerm, PreferredTerm, WorkerField};
pub use together::{AntiAffinity, Quota, SpreadConstraint, TenantSelector, WhenUnsatisfiable};
pub use worker::{
    Components, Drain, Observation, Worker, WorkerOverlay, WorkerOverlaySpec, WorkerSpec,
    WorkerStatus,
};
pub use worker_pool::{TemplateMetadata, WorkerPool, WorkerPoolSpec, WorkerTemplate};

/// The API group.
pub const GROUP: &str = "carp.dev";
/// The only version.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of every document.
pub const API_VERSION: &str = "carp.dev/v1alpha1";
/// The group and version of the prototype's `Worker` and `ManagedCluster`, which still load.
pub const OLD_API_VERSION: &str = "infrastructure.cluster.x-k8s.io/v1alpha1";
