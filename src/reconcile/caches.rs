//! Where what a run learns lies in the Git directory, never committed: losing any of it costs time only.

use std::path::PathBuf;

use crate::git::Repository;
use crate::model::{Build, Memo, MemoKey};
use crate::store::{load_memo, save_memo};

/// Where the memo of a fleet lies.
fn memo_path(repository: &Repository, prefix: &str) -> PathBuf {
    let name = if prefix.is_empty() { "memo".to_owned() } else { prefix.replace('/', "-") };
    repository.carp_dir().join(format!("{name}.json"))
}

/// Where a cache of a fleet lies, those of several fleets apart.
pub(super) fn cache_file(repository: &Repository, prefix: &str, file: &str) -> PathBuf {
    let name = match prefix {
        "" => file.to_owned(),
        prefix => format!("{}-{file}", prefix.replace('/', "-")),
    };
    repository.carp_dir().join(name)
}

/// Whose memo is good: this version's.
fn memo_key(build: &Build) -> MemoKey {
    MemoKey { format: 1, build: build.version.clone() }
}

/// The memo of a fleet; an empty one where there is none, or no repository.
pub(super) fn memo_of(repository: Option<&Repository>, prefix: &str, build: &Build) -> Memo {
    let path = repository.map(|repository| memo_path(repository, prefix));
    path.map_or_else(Memo::default, |path| load_memo(&path, &memo_key(build)))
}

/// Keeps the memo for the next run.
pub(super) fn keep_memo(repository: &Repository, prefix: &str, build: &Build, memo: &mut Memo) {
    memo.key = Some(memo_key(build));
    let _ = save_memo(&memo_path(repository, prefix), memo);
}
