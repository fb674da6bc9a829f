//! Who vouches for acknowledgements, as the history of what people wrote says: an input of a run, for no run reads
//! a history itself.

use std::collections::BTreeMap;
use std::fmt;

use super::{Id, Name};

/// By acknowledgement whether somebody who may vouches for it. What is not there was not looked at, and counts
/// only where nobody's signature is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vouching(pub BTreeMap<Name, Result<(), Unvouched>>);

impl Vouching {
    /// All of these count.
    #[must_use]
    pub fn of_all(names: impl IntoIterator<Item = Name>) -> Self {
        Self(names.into_iter().map(|name| (name, Ok(()))).collect())
    }

    /// Why an acknowledgement does not count where signatures are asked for; `None` where it does.
    #[must_use]
    pub fn refuses(&self, name: &Name) -> Option<Unvouched> {
        self.0.get(name).cloned().unwrap_or(Err(Unvouched::NotLooked)).err()
    }
}

/// Why nobody who may vouches for an acknowledgement. Displayed as the end of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unvouched {
    /// There is no history: the files are in no repository.
    NotLooked,
    /// It stands in no commit yet.
    Uncommitted,
    /// Who brought it is not known.
    NotKnown {
        /// What is in the way of knowing it.
        why: String,
    },
    /// The commit that brought it has no signature that counts.
    NotSigned {
        /// That commit.
        commit: Id,
        /// What is wrong with the signature.
        why: String,
    },
    /// The commit that brought it is signed by somebody who may not.
    ByAnother {
        /// That commit.
        commit: Id,
        /// Who signed it.
        who: String,
    },
    /// Whoever signed it brought a part of what it lets through.
    OwnChange {
        /// Who.
        who: String,
        /// The commit with the change.
        commit: Id,
    },
    /// Who brought what it lets through is not known.
    ChangeNotKnown {
        /// What is in the way of knowing it.
        why: String,
    },
}

impl fmt::Display for Unvouched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLooked => f.write_str("who brought it is not known: there is no history here"),
            Self::Uncommitted => f.write_str("it is not committed, so nobody has signed it"),
            Self::NotKnown { why } => write!(f, "who brought it is not known: {why}"),
            Self::NotSigned { commit, why } => {
                write!(f, "commit {}, which brought it: {why}", commit.short())
            }
            Self::ByAnother { commit, who } => {
                write!(f, "commit {}, which brought it, is signed by `{who}`", commit.short())
            }
            Self::OwnChange { who, commit } => write!(
                f,
                "`{who}` signed it, and commit {} too, which brought some of what it lets through",
                commit.short()
            ),
            Self::ChangeNotKnown { why } => {
                write!(f, "who brought what it lets through is not known: {why}")
            }
        }
    }
}
