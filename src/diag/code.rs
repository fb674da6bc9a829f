//! Every code, in one list: the stable names of the rules.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Severity;

macro_rules! codes {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident; )*) => {
        /// The stable name of a rule. `docs/errors.md` has a section for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code { $( $(#[$doc])* $variant, )* }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )* ];

            /// The name as users see it, in kebab-case.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The severity that a finding of this code has.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $( Self::$variant => Severity::$severity, )* }
            }
        }
    };
}

codes! {
    /// There is no `carp.yaml` where the fleet should be.
    FleetMissing = "fleet-missing", Error;
    /// `carp.yaml` did not load; nothing can be decided without it.
    FleetBroken = "fleet-broken", Error;
    /// A desired root is missing or holds no document although clusters are placed.
    FleetEmpty = "fleet-empty", Error;
    /// The file is larger than carp reads.
    FileTooLarge = "file-too-large", Error;
    /// A document, a tenant's folders or the whole fleet hold more than carp reads.
    TooMuch = "too-much", Error;
    /// The file is a symbolic link, a submodule or a pointer to large-file storage.
    FileNotPlain = "file-not-plain", Error;
    /// The file is not UTF-8.
    FileNotUtf8 = "file-not-utf8", Error;
    /// The file holds no document; what stood in it may be lost by accident.
    FileEmpty = "file-empty", Error;
    /// The text is not YAML that carp reads.
    YamlSyntax = "yaml-syntax", Error;
    /// A key stands twice in one mapping.
    DuplicateKey = "duplicate-key", Error;
    /// The document exceeds a bound on depth, nodes or aliases.
    YamlBudget = "yaml-budget", Error;
    /// `apiVersion` is not one that carp reads.
    UnknownApiVersion = "unknown-api-version", Error;
    /// `kind` is not one that carp reads in this place.
    UnknownKind = "unknown-kind", Error;
    /// The kind or field is planned and has no effect yet.
    NotBuiltYet = "not-built-yet", Error;
    /// A field that does not exist.
    UnknownField = "unknown-field", Error;
    /// A field that must be there is not.
    MissingField = "missing-field", Error;
    /// A value of another type than the field's.
    WrongType = "wrong-type", Error;
    /// A value outside what the field allows.
    InvalidValue = "invalid-value", Error;
    /// A field that protects or narrows is there without a value.
    EmptySafeguard = "empty-safeguard", Error;
    /// Server-set metadata or `status` was pasted from a cluster and is ignored.
    ServerSetField = "server-set-field", Warning;
    /// The original prototype's API group.
    OldGroup = "old-group", Warning;
    /// The name is not a DNS-1123 label of at most 40 characters.
    InvalidName = "invalid-name", Error;
    /// The name belongs to the system or to carp itself.
    ReservedName = "reserved-name", Error;
    /// Two objects have one name.
    DuplicateName = "duplicate-name", Error;
    /// The version is not `vMAJOR.MINOR.PATCH` or not one the providers support.
    InvalidVersion = "invalid-version", Error;
    /// The location is not in the table of locations.
    UnknownLocation = "unknown-location", Error;
    /// The class does not exist.
    UnknownClass = "unknown-class", Error;
    /// The class exists and did not load.
    ClassNotLoaded = "class-not-loaded", Error;
    /// The flavor does not exist for this kind.
    UnknownFlavor = "unknown-flavor", Error;
    /// The provider is not one that Cluster API knows, or not the flavor's.
    UnknownProvider = "unknown-provider", Error;
    /// A release of a component of which carp does not know which Kubernetes versions it supports.
    UnknownComponentRelease = "unknown-component-release", Error;
    /// The credentials entry does not exist.
    UnknownCredentials = "unknown-credentials", Error;
    /// The tenant is not one that `carp.yaml` lists.
    UnknownTenant = "unknown-tenant", Error;
    /// The cluster's document stands in no folder of its tenant.
    OutsideTenantPaths = "outside-tenant-paths", Error;
    /// A document that is no ManagedCluster stands in a tenant's folder.
    NotForTenants = "not-for-tenants", Error;
    /// Folders of tenants lie in one another, or a tenant has none beside others that have.
    TenantsNotApart = "tenants-not-apart", Warning;
    /// The name is a worker's, or that of another tenant's cluster.
    NameTaken = "name-taken", Error;
    /// The tenant may not set this label.
    LabelNotGranted = "label-not-granted", Error;
    /// A tenant is granted, or a policy or cluster uses, a pool that no worker is in.
    UnknownPool = "unknown-pool", Error;
    /// An overlay names a worker that does not exist.
    UnknownWorker = "unknown-worker", Error;
    /// The tenant may not use these credentials.
    CredentialsNotGranted = "credentials-not-granted", Error;
    /// The cluster's priority is higher than its tenant may have.
    PriorityNotGranted = "priority-not-granted", Error;
    /// A WorkerPool says what cannot be.
    InvalidPool = "invalid-pool", Error;
    /// A credential, or what a flavor needs of it, is a placeholder or missing.
    PlaceholderCredential = "placeholder-credential", Error;
    /// A quantity is negative or not a Kubernetes quantity.
    InvalidQuantity = "invalid-quantity", Error;
    /// A ceiling lies below the capacity, or there is no such capacity.
    InvalidCeiling = "invalid-ceiling", Error;
    /// Address ranges overlap or are malformed.
    InvalidNetwork = "invalid-network", Error;
    /// Node pools repeat a name, or a count cannot be.
    InvalidNodePool = "invalid-node-pool", Error;
    /// A data store is what it cannot be, or where there is none.
    InvalidDataStore = "invalid-data-store", Error;
    /// The flavor cannot keep an API server to some.
    UnsupportedAccess = "unsupported-access", Error;
    /// The flavor has no such parameter.
    UnknownParameter = "unknown-parameter", Error;
    /// A parameter is not what the flavor says that it is.
    InvalidParameter = "invalid-parameter", Error;
    /// A zone was asked for that the location does not have.
    ZonesUnavailable = "zones-unavailable", Error;
    /// A VM size of unusual form or too small for its role.
    SuspiciousVmSize = "suspicious-vm-size", Warning;
    /// A taint, toleration or selector that can never mean anything.
    InvalidSelector = "invalid-selector", Error;
    /// Spread or anti-affinity is over something that tells no workers apart.
    UnknownTopologyKey = "unknown-topology-key", Error;
    /// Clusters must be spread over a label that no worker has.
    NoDomain = "no-domain", Warning;
    /// A value that may not change once the cluster exists has changed.
    ImmutableField = "immutable-field", Error;
    /// A version goes back, or up more than one minor version at a time.
    VersionSkew = "version-skew", Error;
    /// A cluster would change to a version that its worker does not support or the fleet does not offer.
    VersionRefused = "version-refused", Error;
    /// Clusters have a version that expires soon, has expired or is deprecated.
    VersionExpires = "version-expires", Warning;
    /// Two policies weigh the same, so that only their names tell which one applies.
    PolicyTie = "policy-tie", Warning;
    /// An identity is to trust more workers than it can.
    IdentityFull = "identity-full", Warning;
    /// A selector of a policy selects nothing of the fleet.
    MatchesNothing = "matches-nothing", Warning;
    /// A document of a fleet stands where carp does not read it.
    DocumentNotRead = "document-not-read", Warning;
    /// What a policy test expects does not hold.
    PolicyTestFailed = "policy-test-failed", Error;
    /// A template did not render.
    TemplateFailed = "template-failed", Error;
    /// A template used more time, depth or output than it may.
    TemplateBudget = "template-budget", Error;
    /// A file among the fleet's templates that nothing reads.
    UnusedTemplate = "unused-template", Warning;
    /// What a template made is not well-formed YAML objects.
    RenderedInvalid = "rendered-invalid", Error;
    /// What a template made may not go where it was made for.
    RenderedRefused = "rendered-refused", Error;
    /// What a template made is not what the definition of its kind says.
    SchemaRefused = "schema-refused", Error;
    /// A file among the definitions cannot be read as one.
    CrdNotRead = "crd-not-read", Error;
    /// An override policy says what can never be done.
    InvalidOverride = "invalid-override", Error;
    /// An override policy selects objects of a kind that no flavor has.
    UnknownObject = "unknown-object", Error;
    /// Two override policies of one priority change the same field, so that their names tell which one counts.
    OverrideConflict = "override-conflict", Warning;
    /// An override cannot be made: what it is about is not there, or what comes of it is too much.
    OverrideFailed = "override-failed", Error;
    /// An override would change what is carp's own.
    OverrideRefused = "override-refused", Error;
    /// Something that looks like a secret was about to be written to Git.
    SecretInOutput = "secret-in-output", Error;
    /// A file that carp does not own is where carp must write.
    OutputCollision = "output-collision", Error;
    /// Somebody edited what carp owns on the output branch.
    HandEdit = "hand-edit", Warning;
    /// A file that is not carp's stands in a folder that carp writes.
    ForeignFile = "foreign-file", Warning;
    /// A lock of the output branch was lost and is rebuilt.
    LockRebuilt = "lock-rebuilt", Warning;
    /// A lock or record of the output branch cannot be read.
    RecordUnreadable = "record-unreadable", Error;
    /// A lock or record is of a newer format than this carp knows.
    NewerFormat = "newer-format", Error;
    /// A report cannot be used.
    ReportRefused = "report-refused", Warning;
    /// A report is dated in the future.
    ReportAhead = "report-ahead", Warning;
    /// A report says something against the records.
    ReportContradiction = "report-contradiction", Warning;
    /// The input commit is not signed by an allowed signer.
    InputNotVerified = "input-not-verified", Warning;
    /// An acknowledgement does not name the set that is held.
    AcknowledgementMismatch = "acknowledgement-mismatch", Warning;
    /// An acknowledgement was there before a run had held what it acknowledges.
    AcknowledgementTooEarly = "acknowledgement-too-early", Warning;
    /// An acknowledgement that a commit has used is still there.
    AcknowledgementSpent = "acknowledgement-spent", Note;
    /// Nobody who may has signed an acknowledgement.
    AcknowledgementNotVouched = "acknowledgement-not-vouched", Warning;
    /// The fleet is an example and is not meant for real remotes.
    ExampleFleet = "example-fleet", Note;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '8'), "{name}");
        }
    }
}
