//! The nouns: names, ids, the API, records, reports, the plan and its reasons, and the [`Store`].
//!
//! Nothing here does I/O, reads a clock or knows of YAML text but what reads the manifests
//! of flavors, which are built in; every room above speaks in these words.

mod admission_rule;
pub mod api;
mod azure_cloud;
mod baseline;
mod capi_provider;
mod catalogue;
mod cloud;
mod cluster_plan;
mod condition;
mod count;
mod counted;
mod counts;
mod data_store;
mod deletion;
mod digest;
mod drift;
mod duration;
mod evidence;
mod federation;
#[cfg(test)]
pub mod fixture;
mod flavor;
mod fleet;
mod fleet_lock;
mod folded;
mod held;
mod hex;
mod hold;
mod hold_words;
mod id;
mod imagined;
mod label;
mod lock;
mod lock_text;
mod long_work;
mod memo;
mod moving;
mod name;
mod network;
mod object_edits;
mod object_schemas;
mod offer;
mod openpgp;
mod override_reach;
mod packed;
pub mod parameters;
pub mod paths;
mod phase;
mod plain_scalar;
mod plan;
mod pool;
mod previous;
mod proposal;
mod provided_kind;
mod published;
mod pulled;
mod quantity;
mod rank;
pub mod reason;
mod record;
mod release_age;
mod report;
mod reported;
mod shared;
mod signer;
mod signers;
mod snapshot;
mod standing;
mod store;
mod supported;
pub mod tables;
mod template_paths;
mod templates;
pub mod topology;
mod transfer;
mod turn;
mod version;
mod versions;
mod vm_size;
mod vouching;
mod waiting_ahead;
mod waiting_queue;
pub(crate) mod words;

pub use admission_rule::AdmissionRule;
pub use azure_cloud::{AzureCloud, PUBLIC_CLOUD, azure_cloud, azure_clouds};
pub use baseline::{
    BASELINE_FORMAT, Baseline, DocumentGrowth, DocumentIndex, DocumentName, GoneCluster,
    KnownDocuments, KnownFact, ReportsSince, TriedClusters, Verification,
};
pub use capi_provider::{
    AggregatedRole, AggregatedRule, CapiProvider, ConfigSecret, DeploymentBeside, InstalledCrds,
    ProviderIdentity,
};
pub use catalogue::Catalogue;
pub use cloud::{CloudLocation, CloudManifest, MachineSize};
pub use cluster_plan::{Binding, ClusterPlan, Decision};
pub use condition::{Condition, ConditionReason, ConditionStatus, ConditionType};
pub use count::{amount, count, thousands};
pub use counted::{Counted, CountedLock, CountedPart, CountedShare};
pub use counts::FleetCounts;
pub use data_store::{DATA_STORE_MEMBERS, DEFAULT_DATA_STORE, data_store_of};
pub use deletion::{
    Deletion, DeletionRow, DeletionStep, Ending, Missing, MissingCode, Progress, Stuck,
};
pub use digest::{Digest, canonical_json, without_defaults, write_canonical, write_json};
pub use drift::{Clean, Damage, Drifted, Edit, Kept, LockName, Owned, Survey};
pub use duration::duration_seconds;
pub use evidence::{Observed, Refusal, WorkerHealth};
pub use federation::{MOST_FEDERATED, TrustingIdentity};
pub use flavor::{
    AccessFeature, Brings, ControlPlaneDefaults, CredentialsNeeded, DataStoresOnWorker, FaultPlace,
    Flavor, FlavorFault, FlavorKind, FlavorObject, FlavorStep, FlavorVersions, Mobility, Need,
    Networks, Nodes, OnDeletion, PlatformPart, Ranges, RenderedWith, Sizes, WaitsFor, read_flavor,
    read_manifest,
};
pub use fleet::{
    BrokenOverride, Cluster, DEFAULT_CLUSTER_FLAVOR, DEFAULT_WORKER_FLAVOR, Fleet, Override,
    Policy, SYSTEM_POOL, SYSTEM_POOL_REPLICAS, Sourced, Unloaded, Worker,
};
pub use fleet_lock::{
    AcknowledgementSpent, ControlPlaneRow, FLEET_LOCK_SCHEMA, FleetLock, GuardCounts, GuardedRun,
    HeldSet,
};
pub use folded::{Ahead, FOLDED_SCHEMA, FoldedCluster, FoldedReport, Freshness};
pub use id::{Dir, Entry, EntryKind, Id, blob_id};
pub use label::{is_dns_label, is_label_key, is_label_value};
pub use lock::{
    ClusterRow, ClusterState, IndexRow, PENDING_SCHEMA, PendingLock, PendingReasons, PendingRow,
    WORKER_LOCK_SCHEMA, WorkerLock,
};
pub use lock_text::{LockFault, lock_from_bytes, lock_to_bytes};
pub use long_work::{LongWork, WorkCount, WorkStage};
pub use memo::{Fact, FactFile, Memo, MemoKey, Settled};
pub use moving::{Blocker, Move, MoveCause, MoveProgress, MoveRow, Rebalanced, Stay};
pub use name::{Name, NameError};
pub use network::Cidr;
pub use object_edits::{
    EditedObject, OVERRIDDEN_BY, ObjectEdits, carps_path, is_carps_api, is_carps_key,
};
pub use object_schemas::{CrdFiles, ObjectSchemas, SchemaFault};
pub use offer::{NotOffered, Offer, offered_entry};
pub use openpgp::{MAX_OPENPGP_KEY, OpenpgpKey};
pub use override_reach::{
    OverrideReach, changed_beside, changed_label, changed_rights, is_free, overridable_in_layers,
    override_reach, turned_off,
};
pub use packed::packed;
pub use phase::{ClusterPhase, WorkerPhase};
pub use plain_scalar::{is_plain_line, is_plain_word};
pub use plan::{Hold, HoldKind, Plan, WorkerPlan, WorkerState};
pub use pool::{
    MadeBy, POOL_FOLD_SCHEMA, Pending, Pool, PoolFact, PoolFold, PoolLock, PoolPlan, PoolState,
    PoolWorker, is_name_of, pool_locations, worker_facts, worker_name,
};
pub use previous::Previous;
pub use proposal::{Change, ChangeKind, FormOnly, Gate, GateReason, PlanOverrides, Proposal, Work};
pub use provided_kind::{KindRole, ObservedPaths, ProvidedKind, plural};
pub use published::{DefinitionsManifest, addresses_of};
pub use pulled::{PULLED_SCHEMA, PulledFile, PulledLock, PulledRelease};
pub use quantity::{Quantity, QuantityError, Resources};
pub use rank::{Rank, Term};
pub use reason::{Reason, ReasonCode};
pub use record::{DECISION_SCHEMA, DecisionRecord, Grounds, RecordState};
pub use release_age::{ReleaseAge, release_age};
pub use report::{
    MAX_FOREIGN_NAMESPACES, MAX_REPORT_BYTES, REPORT_SCHEMA, Report, ReportedCluster,
    ReportedError, ReportedMachines, ReportedNodes, UNSIGNED_REPORT,
};
pub use shared::{CloneOnWrite, SharedList, SharedMap};
pub use signer::AllowedSigner;
pub use signers::{Allowed, Signers};
pub use snapshot::{Build, Input, Snapshot};
pub use standing::{StandingClusters, StandingPart, StandingWorker};
pub use store::{Store, StoreError};
pub use supported::{Minor, Unsupported, is_known_release, oldest_release};
pub use template_paths::{cloud_of, declares, definitions_of, flavor_of, parameters_of};
pub use templates::BUILT_IN_TEMPLATES;
pub use transfer::{Transfer, TransferEvidence, TransferRow, TransferStep, TransferWait};
pub use turn::{
    Attempt, FailureKind, HeldBack, TURN_SCHEMA, Turn, TurnCommit, TurnConstraints, TurnFailure,
    TurnForge, TurnOutcome, TurnStatus,
};
pub use version::{KubeVersion, VersionError};
pub use versions::{StepWait, SteppedVersions, VersionStep, Versions};
pub use vm_size::{Architecture, VmFamily, is_vm_size, vm_family, vm_sizes};
pub use vouching::{Unvouched, Vouching};
pub use waiting_ahead::WaitingAhead;
pub use waiting_queue::{QueuedCluster, WaitingQueue};
