//! The signals that ask a process to end.

use super::Error;

/// SIGTERM and SIGINT, one after the other; where there are no signals, Ctrl-C.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Listens from now on: the signals no longer end the process by themselves. It must be called inside a
    /// tokio runtime.
    ///
    /// # Errors
    /// The system takes no handler.
    pub fn new() -> Result<Self, Error> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate()).map_err(Error::runtime)?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt()).map_err(Error::runtime)?,
        })
    }

    /// Ready when the next one comes.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            // Without signals nothing ever comes.
            std::future::pending::<()>().await;
        }
    }
}
