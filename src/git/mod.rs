//! Git: the only room that knows libgit2 and the only one that runs the `git` program.
//!
//! libgit2 reads and writes objects and local refs. Everything that goes over a network, to a path
//! included, is the `git` program's: people's credentials, proxies, ssh settings and hooks work as
//! they do for them, and a push with an exact lease is a compare-and-swap on every transport.
//!
//! - A run ends in one pack, one commit and one move of one ref, in this order.
//! - No credential that stands in a URL reaches an [`Error`]: see [`Redacted`].

mod address;
mod brought;
mod commit;
mod deflate;
mod delta;
mod error;
mod external;
mod fetch;
mod history;
mod locks;
mod merge;
mod openpgp;
mod outcome;
mod own;
mod pack;
mod pack_bytes;
mod pack_file;
mod pack_index;
mod program;
mod program_output;
mod provenance;
mod push;
mod read_dirs;
mod reading;
mod redact;
mod refs;
mod remote;
mod remote_config;
mod repository;
mod sign;
mod store;
mod tidy;
mod trouble;
mod verify;
mod walk;
mod worktree;

pub use brought::{At, BroughtBy};
pub use commit::CommitDraft;
pub use error::Error;
pub use fetch::{Fetched, Gone, RefSpec};
pub use history::Merging;
pub use merge::Merge;
pub use outcome::PushOutcome;
pub use own::OwnClone;
pub use provenance::Provenance;
pub use reading::{Reading, reading};
pub use redact::Redacted;
pub use refs::Swap;
pub use repository::Repository;
pub use sign::Signature;
pub use store::{Flushed, GitStore};
pub use tidy::Tidied;
pub use verify::Signed;
