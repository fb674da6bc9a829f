//! Keeping carp's own clone small. Every turn leaves a pack or two; here they are put together. A
//! person's clone is never touched: that is theirs to tidy.
#![expect(clippy::disallowed_methods, reason = "this room looks at folders")]

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::outcome::why;
use super::{Error, Repository};

/// How many packs there may be before they are put together.
const MOST_PACKS: usize = 40;
/// How often everything is gone through, and what nothing names is dropped.
const EVERY: SignedDuration = SignedDuration::from_hours(24);
/// How long either may take. What is stopped half-way leaves temporary files that the next one removes.
const LIMIT: Duration = Duration::from_secs(120);
/// When everything was gone through last.
const STAMP: &str = "tidied";

/// What was done to keep a clone small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tidied {
    /// Nothing: there was no need.
    No,
    /// The small packs were put together; what that costs follows the size of what is new.
    Packs,
    /// Everything was gone through.
    All,
}

impl Repository {
    /// Lets the small packs of fetches stay packs, which would become loose objects otherwise, and keeps
    /// git from tidying by itself in the background.
    pub(super) fn keep_packs(&self) -> Result<(), Error> {
        for (key, value) in
            [("fetch.unpackLimit", "1"), ("gc.auto", "0"), ("maintenance.auto", "false")]
        {
            let known = self.inner.config().and_then(|config| config.get_string(key));
            if known.as_deref() != Ok(value) {
                self.configure(key, value)?;
            }
        }
        Ok(())
    }

    /// Puts packs together where there are many, and goes through everything once a day. Bounded in
    /// time; only for a clone that nobody but carp uses.
    ///
    /// # Errors
    /// Git failed. Nothing is lost then, and the clone is as good as before.
    pub fn tidy(&self, now: Timestamp) -> Result<Tidied, Error> {
        let stamp = self.carp_dir().join(STAMP);
        let last = std::fs::read_to_string(&stamp).ok().and_then(|text| text.trim().parse().ok());
        let last: Option<Timestamp> = last.filter(|last| *last <= now);
        let is_due = last.is_some_and(|last| now.duration_since(last) >= EVERY);
        let done = if is_due {
            self.tidied("tidying", &["gc", "--quiet"])?;
            Tidied::All
        } else if self.packs() > MOST_PACKS {
            self.tidied("putting packs together", &["repack", "-d", "-q", "--geometric=2"])?;
            Tidied::Packs
        } else {
            Tidied::No
        };
        if last.is_none() || is_due {
            let written = std::fs::create_dir_all(self.carp_dir())
                .and_then(|()| std::fs::write(&stamp, format!("{now}\n")));
            // Without the stamp, the day begins anew.
            let _ = written;
        }
        Ok(done)
    }

    fn tidied(&self, what: &str, args: &[&str]) -> Result<(), Error> {
        let output = self.git(args, LIMIT)?;
        if output.code == Some(0) {
            return Ok(());
        }
        Err(Error::Program { what: format!("{what} in {}", self.name()), line: why(&output) })
    }

    fn packs(&self) -> usize {
        let Ok(entries) = std::fs::read_dir(self.inner.commondir().join("objects/pack")) else {
            return 0;
        };
        let is_pack = |name: std::ffi::OsString| name.to_string_lossy().ends_with(".pack");
        entries.flatten().filter(|entry| is_pack(entry.file_name())).count()
    }
}
