//! One session with a forge: bounded calls, each with the token, none further than the address that it is for.

use std::fmt;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use jiff::Timestamp;
use kube::client::Body;
use kube::{Client, Config};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::address::ForgeTarget;
use super::call::{Call, Dialect};
use super::error::Error;
use crate::diag::visible;

/// How many bytes of an answer are read: a page of GitHub's longest comments fits. GitLab's and Gitea's may be longer.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// How often a call is tried where the forge does not answer.
const TRIES: u32 = 3;
/// How many characters of a forge's own words are told.
const MOST_WORDS: usize = 200;
/// For how long a forge that asks for it is left alone, at least and at most.
const ALONE: (u64, u64) = (60, 3600);

/// What opens the API. It is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes a token as it stands in the environment.
    ///
    /// # Errors
    /// It can be none: it is empty, or has what no header may have.
    pub fn new(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::NoToken);
        }
        let is_plain = text.bytes().all(|b| b.is_ascii_graphic());
        if is_plain { Ok(Self(text.to_owned())) } else { Err(Error::BadToken) }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[token]")
    }
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// All of them together.
    pub whole: Duration,
    /// One call, each time it is tried.
    pub call: Duration,
    /// The pause before the second try; the next is four times as long.
    pub pause: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(10),
            call: Duration::from_secs(4),
            pause: Duration::from_millis(250),
        }
    }
}

/// A session.
pub(super) struct Session<'a> {
    client: Client,
    target: &'a ForgeTarget,
    token: &'a Token,
    limits: CallLimits,
    now: Timestamp,
}

impl<'a> Session<'a> {
    pub(super) fn open(
        target: &'a ForgeTarget,
        token: &'a Token,
        limits: CallLimits,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let down = |detail: String| Error::Down {
            what: format!("connecting to {}", target.shown()),
            detail,
        };
        let origin: Uri = target.origin.parse().map_err(|_| down("no address".to_owned()))?;
        // kube's client is an HTTP client like any other: it verifies with the system's certificates, and neither
        // follows a redirect nor, told so, tries again.
        let mut config = Config::new(origin);
        config.default_retry = false;
        config.connect_timeout = Some(limits.call);
        config.proxy_url = target.proxy.as_ref().map(|proxy| proxy.uri.clone());
        let client = Client::try_from(config).map_err(|error| down(error.to_string()))?;
        Ok(Self { client, target, token, limits, now })
    }

    /// Makes a call, again where the forge does not answer and it may be. `null` is the answer that there is none.
    pub(super) async fn call(&self, dialect: &dyn Dialect, call: &Call) -> Result<Value, Error> {
        let mut pause = self.limits.pause;
        let mut tries = 1;
        loop {
            let answer = timeout(self.limits.call, self.once(dialect, call)).await;
            let answer = answer.unwrap_or_else(|_| {
                Err(self.unreachable(call, &format!("no answer within {:?}", self.limits.call)))
            });
            match answer {
                Err(Error::Down { .. } | Error::Unreachable { .. })
                    if call.repeatable && tries < TRIES =>
                {
                    sleep(pause).await;
                    pause *= 4;
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    async fn once(&self, dialect: &dyn Dialect, call: &Call) -> Result<Value, Error> {
        let request = self.request(dialect, call)?;
        let answer = self.client.send(request).await;
        let answer = answer.map_err(|error| self.unreachable(call, &causes(&error)))?;
        let (parts, body) = answer.into_parts();
        let body =
            Limited::new(body, MOST_BYTES).collect().await.map_err(|error| match error
                .downcast_ref::<LengthLimitError>(
            ) {
                Some(_) => Error::TooLarge { what: call.what.clone(), most: MOST_BYTES },
                None => self.down(call, &*error),
            })?;
        let body = body.to_bytes();
        if parts.status.is_success() {
            return serde_json::from_slice(&body)
                .map_err(|_| self.down(call, &"the answer is no JSON"));
        }
        if parts.status == StatusCode::NOT_FOUND && call.may_be_absent {
            return Ok(Value::Null);
        }
        Err(self.refusal(call, parts.status, &parts.headers, &body))
    }

    fn request(&self, dialect: &dyn Dialect, call: &Call) -> Result<Request<Body>, Error> {
        let (header, before) = dialect.token();
        let mut secret = HeaderValue::from_str(&format!("{before}{}", self.token.0))
            .map_err(|_| Error::BadToken)?;
        secret.set_sensitive(true);
        let body = call.body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default();
        Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.target.base, call.path))
            .header(header, secret)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("carp/", env!("CARGO_PKG_VERSION")))
            .header("x-github-api-version", "2022-11-28")
            .body(Body::from(body))
            .map_err(|error| self.down(call, &error))
    }

    fn refusal(&self, call: &Call, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
        let (what, detail) = (call.what.clone(), self.words(&said(body)));
        let code = status.as_u16();
        if let Some(after) = left_alone(status, headers, self.now) {
            return Error::Limited { what, after };
        }
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Error::NotAllowed { what, status: code, detail }
            }
            StatusCode::NOT_FOUND => Error::NotFound { what },
            _ if status.is_redirection() => Error::Moved { what, status: code },
            _ if status.is_server_error() => {
                Error::Down { what, detail: format!("{code}: {detail}") }
            }
            _ => Error::Refused { what, status: code, detail },
        }
    }

    fn down(&self, call: &Call, error: &dyn fmt::Display) -> Error {
        Error::Down { what: call.what.clone(), detail: self.words(&error.to_string()) }
    }

    fn unreachable(&self, call: &Call, detail: &str) -> Error {
        let (host, way) = (self.target.host().to_owned(), self.target.way());
        Error::Unreachable { what: call.what.clone(), host, detail: self.words(detail), way }
    }

    /// Words from outside, on one line and not too many. A forge that repeats the token repeats it to nobody.
    fn words(&self, text: &str) -> String {
        let text = text.replace(&self.token.0, "[token]");
        let short: String = text.chars().take(MOST_WORDS).collect();
        visible::line(short.trim()).into_owned()
    }
}

/// An error with what caused it, each once: an HTTP client says why a connection failed in the last of them.
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    for cause in std::iter::successors(error.source(), |error| error.source()) {
        let words = cause.to_string();
        if !said.contains(&words) {
            said.push_str(": ");
            said.push_str(&words);
        }
    }
    said
}

/// What a forge says of itself in the body of an answer.
fn said(body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    // GitLab says `error`, or `message` that is a text or an object.
    let told = ["message", "error"].iter().map(|field| &value[*field]).find(|told| !told.is_null());
    match told {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "nothing more was said".to_owned(),
    }
}

/// For how long the forge asks to be left alone; `None` where it does not.
fn left_alone(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<i64>().ok();
    let is_spent = number("x-ratelimit-remaining") == Some(0);
    let after = number("retry-after");
    let refused = status == StatusCode::FORBIDDEN && (is_spent || after.is_some());
    if status != StatusCode::TOO_MANY_REQUESTS && !refused {
        return None;
    }
    let reset = number("x-ratelimit-reset").or_else(|| number("ratelimit-reset"));
    let seconds = after.or_else(|| reset.map(|at| at - now.as_second())).unwrap_or_default();
    let (least, most) = ALONE;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or_default().clamp(least, most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_to_nobody_and_is_one() {
        assert_eq!(format!("{:?}", Token::new(" secret\n").unwrap()), "[token]");
        assert_eq!(Token::new("  "), Err(Error::NoToken));
        for bad in ["a b", "a\nPRIVATE-TOKEN: x", "é"] {
            assert_eq!(Token::new(bad), Err(Error::BadToken));
        }
    }

    #[test]
    fn a_limit_is_told_from_a_refusal() {
        let of = |status: u16, headers: &[(&'static str, &str)]| {
            let headers = headers.iter().map(|(name, value)| {
                (http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            });
            let status = StatusCode::from_u16(status).unwrap();
            let now = Timestamp::from_second(1000).unwrap();
            left_alone(status, &headers.collect(), now).map(|after| after.as_secs())
        };
        assert_eq!(of(403, &[]), None);
        assert_eq!(of(403, &[("x-ratelimit-remaining", "17")]), None);
        let spent = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1300")];
        assert_eq!(of(403, &spent), Some(300));
        assert_eq!(of(403, &[("retry-after", "5")]), Some(60), "at least a minute");
        assert_eq!(of(429, &[("retry-after", "999999")]), Some(3600), "an hour at most");
        assert_eq!(of(429, &[]), Some(60));
        assert_eq!(of(200, &spent), None);
    }
}
