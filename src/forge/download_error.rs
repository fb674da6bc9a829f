//! Why a file that is published was not had.

use std::time::Duration;

use super::error::Error;

/// How many redirects are followed: GitHub's release files are one away.
pub(super) const MOST_REDIRECTS: usize = 5;

/// Why a file was not had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// What comes unencrypted may come of anybody.
    #[error("`{0}` is not https, and only this machine is asked without")]
    Insecure(String),
    /// It cannot be asked for.
    #[error("`{0}` is no address of a file")]
    NoAddress(String),
    /// What names the proxy names none.
    #[error(transparent)]
    Proxy(Error),
    /// It is not there.
    #[error(
        "there is no such file (404): the release may be called otherwise, or not be published yet"
    )]
    NotFound,
    /// It is not for everybody.
    #[error("it was refused ({status}); carp sends no credential for what is published")]
    Refused {
        /// The code of the answer.
        status: u16,
    },
    /// It is always elsewhere.
    #[error("it leads from one address to another, more than {MOST_REDIRECTS} times")]
    Redirects,
    /// An answer without end.
    #[error("it has more than {} MiB, which no release has", .most >> 20)]
    TooLarge {
        /// How many bytes are read.
        most: usize,
    },
    /// An answer that brings no file.
    #[error("{host} answered {status}: {}; it was {way}", answered(*.status))]
    Answered {
        /// The host that was asked.
        host: String,
        /// The code of the answer.
        status: u16,
        /// For how long the host asks to be left alone.
        after: Option<Duration>,
        /// Whether that was through a proxy, and which.
        way: String,
    },
    /// The host asks to be left alone for longer than anybody waits.
    #[error(
        "{host} answered {status}, and asks to be left alone for {} s; run it again then", after.as_secs()
    )]
    LeftAlone {
        /// The host that was asked.
        host: String,
        /// The code of the answer.
        status: u16,
        /// For how long.
        after: Duration,
    },
    /// A part of it came.
    #[error("{host} did not send all of it: {detail}; it was {way}")]
    Down {
        /// The host that was asked.
        host: String,
        /// What came.
        detail: String,
        /// Whether that was through a proxy, and which.
        way: String,
    },
    /// Nothing came back.
    #[error("{host} cannot be reached: {detail}; it was {way}")]
    Unreachable {
        /// The host that was asked.
        host: String,
        /// Every cause, the outermost first.
        detail: String,
        /// Whether that was through a proxy, and which.
        way: String,
    },
    /// The host could not be reached for a file before.
    #[error("{host} cannot be reached, as is told above; it was not asked again")]
    StillUnreachable {
        /// The host.
        host: String,
    },
    /// All files together took too long.
    #[error("{host} was given no more time: all files together may take {} s", whole.as_secs())]
    Late {
        /// The host that was asked, or would have been.
        host: String,
        /// How long all files may take.
        whole: Duration,
    },
}

impl DownloadError {
    /// Whether the same request may fare better in a moment.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Down { .. } | Self::Unreachable { .. } => true,
            // Request Timeout, Too Many Requests, and the failures of a server but for Not Implemented and HTTP Version Not
            // Supported, which stay (RFC 9110, section 15; RFC 6585, section 4).
            Self::Answered { status, .. } => {
                matches!(status, 408 | 429) || *status >= 500 && !matches!(status, 501 | 505)
            }
            _ => false,
        }
    }

    /// For how long the host asks to be left alone before the next try.
    pub(super) fn after(&self) -> Option<Duration> {
        match self {
            Self::Answered { after, .. } => *after,
            _ => None,
        }
    }
}

/// What an answer without a file says, in words.
fn answered(status: u16) -> &'static str {
    match status {
        204 | 205 => "there is nothing in this file",
        206 => "it sent a part of the file, though all of it was asked for",
        304 => "it says that nothing changed, though nobody named what was there before",
        300..=399 => "it is elsewhere, and the answer does not say where",
        407 => "the proxy wants a user and a password (HTTPS_PROXY)",
        408 | 504 => "it took too long there",
        429 => "it gets too many requests",
        500..=599 => "something failed there",
        _ => "that is no file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_a_file_is_told_in_words_and_asked_for_again_where_it_may_pass() {
        let of = |status| {
            let (host, way) = ("x.example.com".to_owned(), "asked".to_owned());
            DownloadError::Answered { host, status, after: None, way }
        };
        for (status, said, may_pass) in [
            (201, "that is no file", false),
            (204, "nothing in this file", false),
            (206, "a part of the file", false),
            (302, "does not say where", false),
            (304, "nothing changed", false),
            (407, "the proxy wants a user", false),
            (429, "too many requests", true),
            (500, "something failed there", true),
            (501, "something failed there", false),
            (503, "something failed there", true),
            (504, "took too long there", true),
        ] {
            let told = of(status).to_string();
            assert!(told.starts_with(&format!("x.example.com answered {status}: ")), "{told}");
            assert!(told.contains(said), "{told}");
            assert_eq!(of(status).may_pass(), may_pass, "{status}");
        }
    }
}
