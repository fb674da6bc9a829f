//! What the texts in a reason are: each names something that a document or a report has, and is never a sentence.

use std::fmt;
use std::ops::Deref;

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(String);

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

values! {
    /// The name of a resource: `clusters`, `cpu`.
    ResourceName;
    /// The location of a worker, or one that an affinity or a quota names: `westeurope`.
    LocationName;
    /// The provider of a worker, or one that an affinity names: `azure`.
    ProviderName;
    /// The zone of a node pool, or one that an affinity names: `1`.
    ZoneName;
    /// The pool of a worker, as its document writes it.
    PoolName;
    /// The key of a label of a worker.
    LabelKey;
    /// What makes workers one domain: `carp.dev/location`, or the key of a label.
    TopologyKey;
    /// A domain of workers, by the value of its topology key.
    TopologyDomain;
    /// A range of addresses, as a document or a flavor writes it: `10.0.0.0/16`.
    AddressRange;
    /// What a cluster asks of its data store: its name, or one of its labels, `tier=gold`.
    DataStoreWish;
    /// The CamelCase word by which a report says why its worker is not healthy.
    ReportedReason;
    /// A moment as `carp.yaml` writes it, in RFC 3339.
    WrittenTime;
}
