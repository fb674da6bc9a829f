//! The end of a process, when it comes: a turn without news takes some milliseconds, and to look for its end again and
//! again costs a tenth of that.

use std::process::Child;
use std::time::Duration;

/// Tells that a process has ended.
pub(super) struct ProcessEnd {
    /// What the system says it by; `None` where it does not, and then it is looked for.
    #[cfg(target_os = "linux")]
    told_by: Option<std::os::fd::OwnedFd>,
}

impl ProcessEnd {
    /// The end of a process that nobody has waited for yet.
    pub(super) fn of(child: &Child) -> Self {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Pid, PidfdFlags, pidfd_open};
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            // Before Linux 5.3, and where somebody forbids it, there is none.
            Self { told_by: pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = child;
            Self {}
        }
    }

    /// Waits until it may have come, or this process got a signal. `waited` is how long that was done before; returns how
    /// long it was done at least.
    pub(super) fn wait(&self, waited: Duration) -> Duration {
        #[cfg(target_os = "linux")]
        if let Some(fd) = &self.told_by {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let most = Timespec::try_from(LONGEST).ok();
            match poll(&mut [PollFd::new(fd, PollFlags::IN)], most.as_ref()) {
                Ok(0) => return LONGEST,
                Ok(_) | Err(rustix::io::Errno::INTR) => return Duration::ZERO,
                // What cannot be told, for want of memory say, is looked for.
                Err(_) => {}
            }
        }
        // Most are short, so it is looked for often at first.
        let pause = (waited / 20).clamp(Duration::from_millis(1), LONGEST);
        std::thread::sleep(pause);
        pause
    }
}

/// How long it is waited at once: so long it may take until a signal is handed on that another thread got.
const LONGEST: Duration = Duration::from_millis(20);

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::Command;

    use super::*;

    fn sleeping() -> Child {
        Command::new("sleep").arg("600").spawn().unwrap()
    }

    #[test]
    fn the_end_is_told_when_it_comes_and_not_before() {
        let mut child = sleeping();
        let end = ProcessEnd::of(&child);
        assert!(end.told_by.is_some(), "this kernel does not tell");
        assert_eq!(end.wait(Duration::ZERO), LONGEST);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        while end.wait(Duration::ZERO) == LONGEST {}
        assert!(child.try_wait().unwrap().is_some());
    }

    #[test]
    fn where_it_is_not_told_it_is_looked_for() {
        let mut child = sleeping();
        let end = ProcessEnd { told_by: None };
        assert_eq!(end.wait(Duration::ZERO), Duration::from_millis(1));
        assert_eq!(end.wait(Duration::from_secs(60)), LONGEST);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
