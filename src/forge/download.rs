//! Files that releases publish: asked for without a credential, within bounds, and each had as a whole or not at all.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, timeout_at};

use super::download_error::{DownloadError, MOST_REDIRECTS};
use super::hop::{Hop, HopAnswer, HopLimits, is_local};
use super::proxy::ProxySettings;

/// How often a file is asked for where nobody answers.
const TRIES: u32 = 3;

/// What files may take.
#[derive(Clone, Copy, Debug)]
pub struct DownloadLimits {
    /// The time until all of them are there.
    pub whole: Duration,
    /// The time until somebody answers at all.
    pub connect: Duration,
    /// The time in which nothing more of a file comes.
    pub silence: Duration,
    /// The pause before the second try; the next is four times as long. A host may ask for a longer one.
    pub pause: Duration,
    /// The bytes of each.
    pub bytes: usize,
}

impl Default for DownloadLimits {
    /// The largest file of a release is that of Azure Service Operator: some 250 definitions, the largest of 1.3 MiB (its pull
    /// request 4826). All that a fleet wants, some 60 MiB, are there in five minutes at 2 Mbit/s.
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(300),
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(60),
            pause: Duration::from_millis(500),
            bytes: 128 << 20,
        }
    }
}

/// Files that are read one after the other: within one time for all of them, and none of a host that could not be reached
/// for one before.
pub struct Downloads {
    runtime: Runtime,
    proxies: ProxySettings,
    limits: DownloadLimits,
    until: Instant,
    /// The hosts that could not be reached.
    unreachable: BTreeSet<String>,
}

impl Downloads {
    /// Begins; the time for all files runs from here.
    ///
    /// # Errors
    /// The machine has no room for it.
    pub fn begin(proxies: ProxySettings, limits: DownloadLimits) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let until = Instant::now() + limits.whole;
        Ok(Self { runtime, proxies, limits, until, unreachable: BTreeSet::new() })
    }

    /// The most bytes of a file.
    #[must_use]
    pub fn most(&self) -> usize {
        self.limits.bytes
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It was not had, or not as a whole.
    pub fn read(&mut self, address: &str) -> Result<Vec<u8>, DownloadError> {
        let read = self.runtime.block_on(self.tried(address));
        if let Err(DownloadError::Unreachable { host, .. }) = &read {
            self.unreachable.insert(host.clone());
        }
        read
    }

    async fn tried(&self, address: &str) -> Result<Vec<u8>, DownloadError> {
        let (mut pause, mut tries) = (self.limits.pause, 1);
        loop {
            match self.followed(address).await {
                Err(error) if error.may_pass() && tries < TRIES => {
                    let wait = error.after().unwrap_or_default().max(pause);
                    if wait >= self.until.saturating_duration_since(Instant::now()) {
                        return Err(given_up(error));
                    }
                    sleep(wait).await;
                    pause *= 4;
                    tries += 1;
                }
                ended => return ended,
            }
        }
    }

    /// Reads a file at whatever address the first one leads to.
    async fn followed(&self, address: &str) -> Result<Vec<u8>, DownloadError> {
        let DownloadLimits { connect, silence, bytes, whole, .. } = self.limits;
        let may_be_local = is_local(address);
        let mut hop = Hop::of(address, &self.proxies, may_be_local)?;
        for _ in 0..=MOST_REDIRECTS {
            if self.unreachable.contains(&hop.host) {
                return Err(DownloadError::StillUnreachable { host: hop.host });
            }
            let late = || DownloadError::Late { host: hop.host.clone(), whole };
            if Instant::now() >= self.until {
                return Err(late());
            }
            let reading = hop.read(HopLimits { connect, silence, bytes });
            match timeout_at(self.until, reading).await.unwrap_or_else(|_| Err(late()))? {
                HopAnswer::File(bytes) => return Ok(bytes),
                // What is encrypted does not lead to this machine: nobody outside says what is asked of it.
                HopAnswer::Elsewhere(to) => hop = Hop::of(&to, &self.proxies, may_be_local)?,
            }
        }
        Err(DownloadError::Redirects)
    }
}

/// What is told of a failure that there is no time to see pass.
fn given_up(error: DownloadError) -> DownloadError {
    match error {
        DownloadError::Answered { host, status, after: Some(after), .. } => {
            DownloadError::LeftAlone { host, status, after }
        }
        error => error,
    }
}
