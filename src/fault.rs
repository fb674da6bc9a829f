//! Named points before and after all that a run writes, at which a test lets it fail.
//!
//! `CARP_FAULT=<point>=<action>` arms one of them, and `<point>@2=<action>` its second time. Only builds
//! with debug assertions know how: in a release a point is nothing.

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A place in a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        impl Point {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// What it is called.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)*
                }
            }
        }
    };
}

points! {
    /// Before refs are brought from a remote.
    BeforeFetch = "fetch.before",
    /// After refs were brought from a remote.
    AfterFetch = "fetch.after",
    /// Before a pack is begun.
    BeforePack = "pack.before",
    /// When the pack is in its temporary file.
    HalfPack = "pack.half",
    /// Before pack and index are brought to the disk.
    BeforeSync = "sync.before",
    /// When pack and index have their names.
    AfterPack = "pack.after",
    /// When their folder is on the disk, too.
    AfterSync = "sync.after",
    /// Before a local ref moves.
    BeforeRef = "ref.before",
    /// After a local ref moved.
    AfterRef = "ref.after",
    /// Before a push.
    BeforePush = "push.before",
    /// After a push, whatever came of it.
    AfterPush = "push.after",
    /// Before the memo is written.
    BeforeMemo = "memo.before",
    /// When the memo is in its temporary file.
    HalfMemo = "memo.half",
    /// When the memo has its name.
    AfterMemo = "memo.after",
    /// Before a clone of carp's own is made.
    BeforeClone = "clone.before",
    /// When it is made and empty.
    AfterClone = "clone.after",
    /// Before a damaged clone of carp's own is moved away.
    BeforeDiscard = "discard.before",
    /// When it has another name.
    HalfDiscard = "discard.half",
    /// When it is gone.
    AfterDiscard = "discard.after",
}

/// Passes a point.
///
/// # Errors
/// The point is armed and says so.
#[cfg(not(debug_assertions))]
#[inline]
pub fn at(_: Point) -> std::io::Result<()> {
    Ok(())
}

#[cfg(debug_assertions)]
pub use armed::{arm, at};

#[cfg(debug_assertions)]
mod armed {
    use std::io::{self, Write as _};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::Point;

    /// The system's number for a full disk.
    const ENOSPC: i32 = 28;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum FaultAction {
        /// The process dies at once, as if it were killed.
        Abort,
        /// The step fails.
        Error,
        /// The step fails because the disk is full.
        Full,
        /// The step never ends.
        Hang,
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Armed {
        point: Point,
        action: FaultAction,
        /// At which passage, from 1.
        passage: u32,
    }

    static ARMED: OnceLock<Armed> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    /// Arms a point, once in a process.
    ///
    /// # Errors
    /// The text is not `<point>[@<passage>]=abort|error|enospc|hang`.
    pub fn arm(text: &str) -> Result<(), String> {
        let armed = parse(text).ok_or_else(|| {
            let names: Vec<_> = Point::ALL.iter().map(|point| point.name()).collect();
            format!(
                "`{text}` is not POINT[@N]=abort|error|enospc|hang; the points are {}",
                names.join(", ")
            )
        })?;
        let _ = ARMED.set(armed);
        Ok(())
    }

    fn parse(text: &str) -> Option<Armed> {
        let (point, action) = text.split_once('=')?;
        let (name, passage) = point.split_once('@').unwrap_or((point, "1"));
        let action = match action {
            "abort" => FaultAction::Abort,
            "error" => FaultAction::Error,
            "enospc" => FaultAction::Full,
            "hang" => FaultAction::Hang,
            _ => return None,
        };
        let point = Point::ALL.iter().copied().find(|point| point.name() == name)?;
        Some(Armed { point, action, passage: passage.parse().ok()? })
    }

    /// Passes a point.
    ///
    /// # Errors
    /// The point is armed and says so.
    pub fn at(point: Point) -> io::Result<()> {
        let Some(armed) = ARMED.get().filter(|armed| armed.point == point) else { return Ok(()) };
        if PASSED.fetch_add(1, Ordering::SeqCst) + 1 != armed.passage {
            return Ok(());
        }
        // The test looks for this line: it shows that the point was hit.
        let _ = writeln!(io::stderr(), "fault: {} ({:?})", point.name(), armed.action);
        match armed.action {
            FaultAction::Abort => std::process::abort(),
            FaultAction::Error => Err(io::Error::other(format!("the fault {}", point.name()))),
            FaultAction::Full => Err(io::Error::from_raw_os_error(ENOSPC)),
            FaultAction::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_fault_is_a_point_a_passage_and_an_action() {
            let armed = |point, action, passage| Some(Armed { point, action, passage });
            assert_eq!(parse("push.after=abort"), armed(Point::AfterPush, FaultAction::Abort, 1));
            assert_eq!(parse("memo.half@2=enospc"), armed(Point::HalfMemo, FaultAction::Full, 2));
            for wrong in ["", "push.after", "push=abort", "push.after=boom", "push.after@x=abort"] {
                assert_eq!(parse(wrong), None, "{wrong}");
            }
        }

        #[test]
        fn every_point_has_a_name_of_its_own() {
            for (at, point) in Point::ALL.iter().enumerate() {
                let same = |other: &&Point| other.name() == point.name();
                assert_eq!(Point::ALL.iter().position(|p| same(&p)), Some(at));
            }
        }
    }
}
