//! What many tests begin with: it is made once a process, and each test gets a copy that goes its own way.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Values by what they are made of.
pub(crate) struct Prepared<K, T>(Mutex<BTreeMap<K, Arc<OnceLock<T>>>>);

impl<K: Clone + Ord, T: Clone> Prepared<K, T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// A copy of what is made of `key`. Whoever asks first makes it, and the others wait for it alone.
    pub(crate) fn of(&self, key: K, make: impl FnOnce(&K) -> T) -> T {
        let known = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(key.clone()).or_default().clone()
        };
        known.get_or_init(|| make(&key)).clone()
    }
}

/// All files of a folder, to be laid into others.
#[derive(Clone)]
pub(crate) struct Archive(Arc<[u8]>);

impl Archive {
    pub(crate) fn of(folder: &Path) -> Self {
        let output = Command::new("tar").args(["-c", "-C"]).arg(folder).arg(".").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(output.stdout.into())
    }

    pub(crate) fn lay_into(&self, folder: &Path) {
        let mut tar = Command::new("tar");
        let mut tar = tar.args(["-x", "-C"]).arg(folder).stdin(Stdio::piped()).spawn().unwrap();
        tar.stdin.take().unwrap().write_all(&self.0).unwrap();
        assert!(tar.wait().unwrap().success());
    }
}
