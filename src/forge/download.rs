//! A file that a release publishes: asked for without a credential, within bounds, and had as a whole or not at all.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_LENGTH, LOCATION, TRANSFER_ENCODING, USER_AGENT};
use http::{Request, Response, StatusCode, Uri, Version};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;
use kube::{Client, Config};
use tokio::time::{sleep, timeout};

use super::address::is_this_machine;
use super::client::causes;
use super::error::Error;
use super::proxy::{ForgeProxy, ProxySettings, way};
use crate::diag::visible;

/// How often a file is asked for where nobody answers.
const TRIES: u32 = 3;
/// How many redirects are followed: GitHub's release files are one away.
const MOST_REDIRECTS: usize = 5;
/// How many characters of what others say are told.
const MOST_WORDS: usize = 200;

/// What a file may take.
#[derive(Clone, Copy, Debug)]
pub struct DownloadLimits {
    /// The time until it is there, each time it is tried.
    pub whole: Duration,
    /// The time until somebody answers at all.
    pub connect: Duration,
    /// The pause before the second try; the next is four times as long.
    pub pause: Duration,
    /// Its bytes.
    pub bytes: usize,
}

impl Default for DownloadLimits {
    /// The largest file of a release is that of Azure Service Operator: some 250 definitions, the largest of 1.3 MiB (its pull
    /// request 4826).
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(300),
            connect: Duration::from_secs(10),
            pause: Duration::from_millis(500),
            bytes: 128 << 20,
        }
    }
}

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
    /// A part of it came, or somebody answered with a failure.
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
}

impl DownloadError {
    fn may_pass(&self) -> bool {
        matches!(self, Self::Down { .. } | Self::Unreachable { .. })
    }
}

/// Reads a file.
///
/// # Errors
/// It was not had, or not as a whole.
pub fn download(
    address: &str,
    proxies: &ProxySettings,
    limits: DownloadLimits,
) -> Result<Vec<u8>, DownloadError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| DownloadError::Unreachable {
        host: "this machine".to_owned(),
        detail: error.to_string(),
        way: "not asked yet".to_owned(),
    })?;
    runtime.block_on(async {
        let (mut pause, mut tries) = (limits.pause, 1);
        loop {
            match followed(address, proxies, limits).await {
                Err(error) if error.may_pass() && tries < TRIES => {
                    sleep(pause).await;
                    pause *= 4;
                    tries += 1;
                }
                ended => return ended,
            }
        }
    })
}

/// Reads a file at whatever address the first one leads to.
async fn followed(
    address: &str,
    proxies: &ProxySettings,
    limits: DownloadLimits,
) -> Result<Vec<u8>, DownloadError> {
    let mut hop = Hop::of(address, proxies, is_local(address))?;
    for _ in 0..=MOST_REDIRECTS {
        let reading = hop.read(limits);
        let read = timeout(limits.whole, reading).await.unwrap_or_else(|_| {
            Err(hop.down(&format!("it was not there within {:?}", limits.whole)))
        });
        match read? {
            HopAnswer::File(bytes) => return Ok(bytes),
            // What is encrypted does not lead to this machine: nobody outside says what is asked of it.
            HopAnswer::Elsewhere(to) => hop = Hop::of(&to, proxies, is_local(address))?,
        }
    }
    Err(DownloadError::Redirects)
}

fn is_local(address: &str) -> bool {
    let Ok(uri) = address.parse::<Uri>() else { return false };
    uri.scheme_str() == Some("http")
        && uri.authority().is_some_and(|of| is_this_machine(of.as_str()))
}

enum HopAnswer {
    File(Vec<u8>),
    Elsewhere(String),
}

/// One address, and how it is reached.
struct Hop {
    origin: String,
    host: String,
    path: String,
    proxy: Option<ForgeProxy>,
}

impl Hop {
    fn of(
        address: &str,
        proxies: &ProxySettings,
        may_be_local: bool,
    ) -> Result<Self, DownloadError> {
        let shown = || shown(address);
        let uri: Uri = address.parse().map_err(|_| DownloadError::NoAddress(shown()))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(DownloadError::NoAddress(shown()));
        };
        if scheme != "https" && !(may_be_local && is_local(address)) {
            return Err(DownloadError::Insecure(shown()));
        }
        if authority.as_str().contains('@') {
            return Err(DownloadError::NoAddress(shown()));
        }
        let host = authority.to_string();
        let origin = format!("{scheme}://{host}");
        let proxy = match scheme {
            "https" => proxies.proxy(&origin).map_err(DownloadError::Proxy)?,
            _ => None,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { origin, host, path, proxy })
    }

    async fn read(&self, limits: DownloadLimits) -> Result<HopAnswer, DownloadError> {
        let origin: Uri =
            self.origin.parse().map_err(|_| DownloadError::NoAddress(shown(&self.origin)))?;
        // As the forge's: it verifies with the system's certificates, and follows and repeats nothing by itself.
        let mut config = Config::new(origin);
        config.default_retry = false;
        config.connect_timeout = Some(limits.connect);
        config.read_timeout = Some(limits.whole);
        config.proxy_url = self.proxy.as_ref().map(|proxy| proxy.uri.clone());
        let client =
            Client::try_from(config).map_err(|error| self.unreachable(&error.to_string()))?;
        let request = Request::get(&self.path)
            .header(ACCEPT, "application/yaml, application/octet-stream, text/plain, */*")
            .header(USER_AGENT, concat!("carp/", env!("CARGO_PKG_VERSION")))
            .body(Body::empty())
            .map_err(|_| DownloadError::NoAddress(shown(&self.path)))?;
        let answer = client.send(request).await;
        self.whole(answer.map_err(|error| self.unreachable(&causes(&error)))?, limits).await
    }

    async fn whole(
        &self,
        answer: Response<Body>,
        limits: DownloadLimits,
    ) -> Result<HopAnswer, DownloadError> {
        let (parts, body) = answer.into_parts();
        match parts.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Err(DownloadError::NotFound),
            status if status.is_redirection() => {
                let to = parts.headers.get(LOCATION).and_then(|to| to.to_str().ok());
                let to = to.ok_or_else(|| self.down("a redirect to nowhere"))?;
                let is_path = to.starts_with('/') && !to.starts_with("//");
                let to = if is_path { format!("{}{to}", self.origin) } else { to.to_owned() };
                return Ok(HopAnswer::Elsewhere(to));
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(self.down(&format!("it answered {}", status.as_u16())));
            }
            status => return Err(DownloadError::Refused { status: status.as_u16() }),
        }
        // Where neither is said, nobody can tell half of it from all of it.
        let tells_its_end = parts.version > Version::HTTP_11
            || [CONTENT_LENGTH, TRANSFER_ENCODING]
                .iter()
                .any(|name| parts.headers.contains_key(name));
        if !tells_its_end {
            return Err(self.down("it does not say how long the file is"));
        }
        let body = Limited::new(body, limits.bytes).collect().await;
        let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => DownloadError::TooLarge { most: limits.bytes },
            None => self.down(&causes(&*error)),
        })?;
        Ok(HopAnswer::File(body.to_bytes().into()))
    }

    fn down(&self, detail: &str) -> DownloadError {
        let (host, way) = (self.host.clone(), way(self.proxy.as_ref()));
        DownloadError::Down { host, detail: words(detail), way }
    }

    fn unreachable(&self, detail: &str) -> DownloadError {
        let (host, way) = (self.host.clone(), way(self.proxy.as_ref()));
        DownloadError::Unreachable { host, detail: words(detail), way }
    }
}

/// An address without what may be a secret of somebody's: what a redirect leads to is signed in its query.
fn shown(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    words(plain.rsplit('@').next().unwrap_or_default())
}

/// Words from outside, on one line and not too many.
fn words(text: &str) -> String {
    let short: String = text.chars().take(MOST_WORDS).collect();
    visible::line(short.trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(address: &str, may_be_local: bool) -> Result<String, String> {
        let all = |name: &str| (name == "all_proxy").then_some("http://p.example.com:1");
        let hop = Hop::of(address, &ProxySettings::of(all), may_be_local);
        hop.map(|hop| format!("{}{} {}", hop.origin, hop.path, way(hop.proxy.as_ref())))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn only_what_is_encrypted_is_asked_for_but_on_this_machine() {
        assert_eq!(
            hop("https://x.example.com/a/b.yaml?c=d", false).unwrap(),
            "https://x.example.com/a/b.yaml?c=d asked through the proxy p.example.com:1"
        );
        let local = hop("http://127.0.0.1:3000/a", true).unwrap();
        assert!(local.starts_with("http://127.0.0.1:3000/a asked directly"), "{local}");
        for (address, said) in [
            ("http://x.example.com/a", "is not https"),
            ("http://127.0.0.1.evil.example/a", "is not https"),
            ("file:///etc/passwd", "is no address"),
            ("ftp://x.example.com/a", "is not https"),
            ("https://me:secret@x.example.com/a", "`x.example.com/a` is no address"),
            ("/a", "is no address"),
        ] {
            let told = hop(address, true).unwrap_err();
            assert!(told.contains(said) && !told.contains("secret"), "{address}: {told}");
        }
    }

    #[test]
    fn what_is_elsewhere_leads_not_to_this_machine() {
        let told = hop("http://127.0.0.1:3000/a?token=secret", false).unwrap_err();
        assert_eq!(
            told,
            "`http://127.0.0.1:3000/a` is not https, and only this machine is asked without"
        );
    }
}
