//! Hints from folders: the refs of a repository on this machine. A hint only makes the next turn come
//! sooner; where the system loses one, or tells none at all, polling finds what changed.

use std::path::Path;
use std::sync::Arc;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::turns::Shared;
use super::wakeup::Hint;

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches the refs of a Git directory. `None` where the system cannot: then there is polling.
    #[must_use]
    pub fn refs(git_dir: &Path, shared: &Arc<Shared>) -> Option<Self> {
        let wakeup = Arc::clone(shared);
        let changed = move |event: notify::Result<notify::Event>| {
            // What cannot be told apart is a hint, too.
            if event.is_err() || event.is_ok_and(|event| matters(&event)) {
                wakeup.wakeup.ring(Hint::Folder);
            }
        };
        let watch = || -> notify::Result<RecommendedWatcher> {
            let mut watcher = notify::recommended_watcher(changed)?;
            watcher.watch(&git_dir.join("refs"), RecursiveMode::Recursive)?;
            // `packed-refs` is replaced, so its folder is watched.
            watcher.watch(git_dir, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        };
        match watch() {
            Ok(watcher) => Some(Self { _watcher: watcher }),
            Err(error) => {
                tracing::warn!("changes in {} are found by polling: {error}", git_dir.display());
                None
            }
        }
    }
}

/// Whether an event may be a ref that moved. Lock files come before every one, and what was only read
/// did not change.
fn matters(event: &notify::Event) -> bool {
    if matches!(event.kind, EventKind::Access(_)) {
        return false;
    }
    event.paths.is_empty()
        || event.paths.iter().any(|path| {
            let is_lock = path.extension().is_some_and(|extension| extension == "lock");
            let is_ref = path.components().any(|part| part.as_os_str() == "refs");
            !is_lock && (is_ref || path.ends_with("packed-refs"))
        })
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind};

    use super::*;

    fn created(path: &str) -> notify::Event {
        notify::Event::new(EventKind::Create(CreateKind::File)).add_path(path.into())
    }

    #[test]
    fn a_ref_that_moves_matters_and_nothing_beside_it() {
        assert!(matters(&created("/f/.git/refs/heads/main")));
        assert!(matters(&created("/f/.git/packed-refs")));
        assert!(!matters(&created("/f/.git/refs/heads/main.lock")));
        assert!(!matters(&created("/f/.git/index")));
        let read = notify::Event::new(EventKind::Access(AccessKind::Any));
        assert!(!matters(&read.add_path("/f/.git/refs/heads/main".into())));
        assert!(matters(&notify::Event::new(EventKind::Other)), "events were lost");
    }
}
