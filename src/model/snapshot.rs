//! Everything that one run sees.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use jiff::Timestamp;

use super::{Id, LongWork, Name, Vouching};

/// The inputs of a run, as values. Objects are named by id and read through the [`Store`](super::Store).
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What people want.
    pub input: Input,
    /// The tree of the output branch; `None` before the first run.
    pub previous: Option<Id>,
    /// The tree of the status branch; `None` before the first run.
    pub status: Option<Id>,
    /// The agents' reports as they stand, by worker. `None` where no reports were looked for (a plan
    /// on a laptop): then the fold stays as it is.
    pub reports: Option<BTreeMap<Name, Vec<u8>>>,
    /// The time of the run.
    pub now: Timestamp,
    /// Who runs.
    pub build: Build,
}

/// What people want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The tree of the repository or folder that the fleet is in.
    pub tree: Id,
    /// The fleet's root in it: empty, or a path without a `/` at its ends.
    pub prefix: String,
    /// The commit that the tree is of; `None` for files as they stand.
    pub commit: Option<Id>,
    /// The commit that the last output commit was made from, where the input is not a descendant of
    /// it: the input branch was rewound.
    pub rewound_from: Option<Id>,
    /// Who vouches for its acknowledgements, where the fleet asks for that.
    pub vouching: Vouching,
}

impl Input {
    /// Files as they stand, of no commit that is known.
    #[must_use]
    pub fn of_files(tree: Id, prefix: &str) -> Self {
        let vouching = Vouching::default();
        Self { tree, prefix: prefix.to_owned(), commit: None, rewound_from: None, vouching }
    }
}

/// Who runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// carp's version.
    pub version: String,
    /// Where the run says how far it is. No decision stands on it.
    pub work: LongWork,
    /// How many threads may work at once. What a run says is the same with any number.
    pub threads: NonZeroUsize,
}

impl Build {
    /// A version whose runs nobody watches, on one thread.
    #[must_use]
    pub fn of_version(version: &str) -> Self {
        let work = LongWork::default();
        Self { version: version.to_owned(), work, threads: NonZeroUsize::MIN }
    }
}
