//! One address that a file is asked for at, and what it answers: the file, another address, or why neither.

use std::time::Duration;

use http::header::{
    ACCEPT, CONTENT_LENGTH, DATE, HeaderMap, LOCATION, RETRY_AFTER, TRANSFER_ENCODING, USER_AGENT,
};
use http::{Request, Response, StatusCode, Uri, Version};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use jiff::fmt::rfc2822;
use kube::client::Body;
use kube::{Client, Config};

use super::address::is_this_machine;
use super::client::causes;
use super::download_error::DownloadError;
use super::location::resolved;
use super::proxy::{ForgeProxy, ProxySettings, way};
use crate::diag::visible;

/// How many characters of what others say are told.
const MOST_WORDS: usize = 200;

/// What one request may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopLimits {
    /// The time until somebody answers at all.
    pub(super) connect: Duration,
    /// The time in which nothing more comes.
    pub(super) silence: Duration,
    /// The bytes of a file.
    pub(super) bytes: usize,
}

pub(super) fn is_local(address: &str) -> bool {
    let Ok(uri) = address.parse::<Uri>() else { return false };
    uri.scheme_str() == Some("http")
        && uri.authority().is_some_and(|of| is_this_machine(of.as_str()))
}

/// What an address answers.
pub(super) enum HopAnswer {
    File(Vec<u8>),
    Elsewhere(String),
}

/// One address, and how it is reached.
pub(super) struct Hop {
    origin: String,
    pub(super) host: String,
    path: String,
    proxy: Option<ForgeProxy>,
}

impl Hop {
    pub(super) fn of(
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

    pub(super) async fn read(&self, limits: HopLimits) -> Result<HopAnswer, DownloadError> {
        let origin: Uri =
            self.origin.parse().map_err(|_| DownloadError::NoAddress(shown(&self.origin)))?;
        // As the forge's: it verifies with the system's certificates, and follows and repeats nothing by itself.
        let mut config = Config::new(origin);
        config.default_retry = false;
        config.connect_timeout = Some(limits.connect);
        config.read_timeout = Some(limits.silence);
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
        limits: HopLimits,
    ) -> Result<HopAnswer, DownloadError> {
        let (parts, body) = answer.into_parts();
        match parts.status.as_u16() {
            200 => {}
            404 | 410 => return Err(DownloadError::NotFound),
            status @ (401 | 403) => return Err(DownloadError::Refused { status }),
            301 | 302 | 303 | 307 | 308 if parts.headers.contains_key(LOCATION) => {
                let to = parts.headers[LOCATION].to_str();
                let to = to.map_err(|_| self.answered(parts.status, &parts.headers))?;
                return Ok(HopAnswer::Elsewhere(resolved(&self.origin, &self.path, to.trim())));
            }
            _ => return Err(self.answered(parts.status, &parts.headers)),
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

    fn answered(&self, status: StatusCode, headers: &HeaderMap) -> DownloadError {
        let (host, way) = (self.host.clone(), way(self.proxy.as_ref()));
        DownloadError::Answered { host, status: status.as_u16(), after: after(headers), way }
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

/// For how long an answer asks that nobody comes back: in seconds, or up to a moment, which is compared with the answer's own
/// clock (RFC 9110, section 10.2.3).
fn after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let said = text(RETRY_AFTER)?;
    if let Ok(seconds) = said.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let seconds = moment(said)?.as_second() - moment(text(DATE)?)?.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
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
    fn a_host_says_in_two_ways_for_how_long_it_is_left_alone() {
        let of = |all: &[(http::HeaderName, &str)]| {
            let all = all.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
            after(&all.collect()).map(|after| after.as_secs())
        };
        let now = (DATE, "Mon, 23 Nov 2026 10:00:00 GMT");
        assert_eq!(of(&[(RETRY_AFTER, "7")]), Some(7));
        let until = (RETRY_AFTER, "Mon, 23 Nov 2026 10:01:30 GMT");
        assert_eq!(of(&[now.clone(), until.clone()]), Some(90));
        assert_eq!(of(std::slice::from_ref(&until)), None, "nobody knows what time it is there");
        assert_eq!(of(&[(DATE, until.1), (RETRY_AFTER, now.1)]), Some(0), "it has passed");
        for none in ["-1", "soon", "99999999999999999999999"] {
            assert_eq!(of(&[now.clone(), (RETRY_AFTER, none)]), None, "{none}");
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
