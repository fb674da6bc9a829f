//! What went wrong between carp and a forge. No message has the token.

use std::time::Duration;

/// A failure that is told, and fails nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing says where the forge is.
    #[error(
        "`{0}` is no address of a repository on a forge; name the repository's page with --forge-url"
    )]
    NoAddress(String),
    /// A token would be sent in the clear.
    #[error("`{0}` is not https, and a token is sent in the clear to this machine only")]
    Insecure(String),
    /// Which API is spoken there is not known.
    #[error(
        "which forge is at {0} is not known; say so with spec.forge.kind in carp.yaml, or with --forge"
    )]
    UnknownKind(String),
    /// There is no token.
    #[error("CARP_FORGE_TOKEN is not set, and the forge takes nothing without a token")]
    NoToken,
    /// What names the proxy names none.
    #[error(
        "HTTPS_PROXY or ALL_PROXY has no address of a proxy (http://HOST:PORT, https:// or socks5://, a user and a \
         password before the host with `/`, `?`, `#` and `@` as %2F, %3F, %23 and %40); hosts that are to be asked \
         directly stand in NO_PROXY"
    )]
    BadProxy,
    /// A SOCKS proxy is to be told a name and a password.
    #[error(
        "HTTPS_PROXY or ALL_PROXY has a user for a SOCKS proxy, and carp names nobody to one; name a proxy that wants \
         none, or one for HTTP"
    )]
    ProxyUser,
    /// What is set is no token.
    #[error("CARP_FORGE_TOKEN is no token: it has a blank, or what is no plain character")]
    BadToken,
    /// The token may not do that.
    #[error(
        "{what} was not allowed ({status}: {detail}); `docs/operations.md` lists what the token must be allowed"
    )]
    NotAllowed {
        /// What was tried.
        what: String,
        /// The code of the answer.
        status: u16,
        /// What the forge said.
        detail: String,
    },
    /// It is not there, or the token does not see it.
    #[error("{what} found nothing there (404), or the token may not see it")]
    NotFound {
        /// What was tried.
        what: String,
    },
    /// The forge asks to be left alone for a while.
    #[error("{what} was too much for the forge's limit; it is left alone for {} s", after.as_secs())]
    Limited {
        /// What was tried.
        what: String,
        /// For how long.
        after: Duration,
    },
    /// The address is an old one. The token is not sent to wherever the answer points.
    #[error(
        "{what} was answered with a redirect ({status}), which is not followed; the repository may have a new \
         address: give it to the remote, or name it with --forge-url"
    )]
    Moved {
        /// What was tried.
        what: String,
        /// The code of the answer.
        status: u16,
    },
    /// The forge will not take it.
    #[error("{what} was refused ({status}: {detail})")]
    Refused {
        /// What was tried.
        what: String,
        /// The code of the answer.
        status: u16,
        /// What the forge said.
        detail: String,
    },
    /// Nothing came back.
    #[error("{what} failed: {host} cannot be reached: {detail}; it was {way}")]
    Unreachable {
        /// What was tried.
        what: String,
        /// The host that was asked.
        host: String,
        /// Every cause, the outermost first.
        detail: String,
        /// Whether that was through a proxy, and which.
        way: String,
    },
    /// The forge does not answer as it should.
    #[error("{what} failed: {detail}")]
    Down {
        /// What was tried.
        what: String,
        /// What came back.
        detail: String,
    },
    /// An answer without end.
    #[error("{what} was answered with more than {most} bytes")]
    TooLarge {
        /// What was tried.
        what: String,
        /// How many are read.
        most: usize,
    },
    /// All of it took too long.
    #[error("{host} did not answer within {whole:?}; it was {way}")]
    Slow {
        /// The host that was asked.
        host: String,
        /// How long all of it may take.
        whole: Duration,
        /// Whether that was through a proxy, and which.
        way: String,
    },
}

impl Error {
    /// Whether another call now would fare no better.
    pub(super) fn is_over(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Down { .. } | Self::Limited { .. } | Self::Slow { .. }
        )
    }
}
