//! The proxy between carp and a forge: what the environment says of one, read as curl and git read it.

use std::fmt;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use super::error::Error;

/// What the environment says of proxies. It may have passwords, and is shown to nobody.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    https: String,
    http: String,
    all: String,
    none: String,
}

/// The proxy for a forge, with the password for it. It is shown without that.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ForgeProxy {
    pub(super) uri: Uri,
}

impl ProxySettings {
    /// Reads them: `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, each in capitals too where it has no small
    /// letters. `HTTP_PROXY` alone is not read, for a server may be made to set it (curl's manual, "ENVIRONMENT").
    pub fn of<'e>(env: impl Fn(&str) -> Option<&'e str>) -> Self {
        let said = |names: &[&str]| {
            let mut all = names.iter().filter_map(|name| env(name));
            all.find(|text| !text.trim().is_empty()).unwrap_or_default().trim().to_owned()
        };
        Self {
            https: said(&["https_proxy", "HTTPS_PROXY"]),
            http: said(&["http_proxy"]),
            all: said(&["all_proxy", "ALL_PROXY"]),
            none: said(&["no_proxy", "NO_PROXY"]),
        }
    }

    /// The proxy through which an address is reached; `None`: it is asked directly.
    ///
    /// # Errors
    /// What names the proxy is no address of one that carp speaks to.
    pub(super) fn proxy(&self, origin: &str) -> Result<Option<ForgeProxy>, Error> {
        let Ok(origin) = origin.parse::<Uri>() else { return Ok(None) };
        let own = if origin.scheme_str() == Some("https") { &self.https } else { &self.http };
        let said = if own.is_empty() { &self.all } else { own };
        // Which hosts are asked directly is asked of a proxy that is one, whatever the real one is called.
        let direct = Matcher::builder().all("http://proxy").no(self.none.as_str()).build();
        if said.is_empty() || direct.intercept(&origin).is_none() {
            return Ok(None);
        }
        ForgeProxy::parse(said).map(Some)
    }
}

impl ForgeProxy {
    /// Only what is an address as a whole is one: a password with a `/`, `?` or `#` in it would end the host, and be
    /// shown as what comes before it.
    fn parse(said: &str) -> Result<Self, Error> {
        let (scheme, rest) = said.split_once("://").unwrap_or(("http", said));
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => "http",
            "https" => "https",
            // As curl's socks5h: the proxy finds the host's address, as it does for HTTP.
            "socks" | "socks5" | "socks5h" => "socks5",
            _ => return Err(Error::BadProxy),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let uri: Uri = format!("{scheme}://{authority}").parse().map_err(|_| Error::BadProxy)?;
        // Nobody names himself to a SOCKS proxy: kube's connector sends no user.
        if scheme == "socks5" && authority.contains('@') {
            return Err(Error::ProxyUser);
        }
        let is_whole = uri.authority().is_some_and(|parsed| parsed.as_str() == authority);
        let host_and_port = authority.rsplit('@').next().unwrap_or_default();
        let port = uri
            .host()
            .filter(|host| !host.is_empty())
            .and_then(|host| host_and_port.strip_prefix(host));
        let is_port = |port: &str| {
            port.is_empty()
                || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
        };
        let is_address = is_whole && port.is_some_and(is_port);
        is_address.then_some(Self { uri }).ok_or(Error::BadProxy)
    }

    /// Where it is, without the user and the password.
    pub(super) fn shown(&self) -> String {
        let port = self.uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.uri.host().unwrap_or_default())
    }
}

/// How something is reached, in words for an error.
pub(super) fn way(proxy: Option<&ForgeProxy>) -> String {
    match proxy {
        Some(proxy) => format!("asked through the proxy {}", proxy.shown()),
        None => "asked directly, for no proxy is set for it (HTTPS_PROXY, NO_PROXY)".to_owned(),
    }
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[proxies]")
    }
}

impl fmt::Debug for ForgeProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(env: &[(&str, &str)], origin: &str) -> Result<Option<String>, Error> {
        let settings = ProxySettings::of(|name| {
            env.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        });
        Ok(settings.proxy(origin)?.map(|proxy| proxy.uri.to_string()))
    }

    fn proxy(env: &[(&str, &str)], origin: &str) -> Option<String> {
        chosen(env, origin).unwrap()
    }

    const GITHUB: &str = "https://api.github.com";

    #[test]
    fn a_proxy_is_chosen_as_curl_chooses_it() {
        assert_eq!(proxy(&[], GITHUB), None);
        let one = |name: &'static str| proxy(&[(name, "http://p.example.com:3128")], GITHUB);
        let there = Some("http://p.example.com:3128/".to_owned());
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            assert_eq!(one(name), there, "{name}");
        }
        for name in ["http_proxy", "HTTP_PROXY", "no_proxy"] {
            assert_eq!(one(name), None, "{name}: for another scheme, or none");
        }
        let both =
            [("HTTPS_PROXY", "capitals:1"), ("https_proxy", "small:1"), ("all_proxy", "all:1")];
        assert_eq!(proxy(&both, GITHUB).as_deref(), Some("http://small:1/"));
        let http = [("http_proxy", "small:1"), ("HTTP_PROXY", "capitals:1")];
        assert_eq!(proxy(&http, "http://127.0.0.1:80").as_deref(), Some("http://small:1/"));
        assert_eq!(proxy(&http[1..], "http://127.0.0.1:80"), None);
        let empty = [("https_proxy", " "), ("ALL_PROXY", "socks5h://s.example.com:1080")];
        assert_eq!(proxy(&empty, GITHUB).as_deref(), Some("socks5://s.example.com:1080/"));
    }

    #[test]
    fn some_hosts_are_asked_directly() {
        let direct = |none: &'static str, origin: &str| {
            proxy(&[("https_proxy", "p:1"), ("http_proxy", "p:1"), ("no_proxy", none)], origin)
                .is_none()
        };
        for none in ["*", "github.com", ".github.com", "localhost, api.github.com"] {
            assert!(direct(none, GITHUB), "{none}");
        }
        for none in ["", "hub.com", "gitlab.com,10.0.0.0/8"] {
            assert!(!direct(none, GITHUB), "{none}");
        }
        assert!(direct("10.0.0.0/8", "https://10.1.2.3:8443"));
        assert!(direct("127.0.0.1", "http://127.0.0.1:3000"));
    }

    #[test]
    fn a_password_is_shown_to_nobody() {
        let env =
            |name: &str| (name == "https_proxy").then_some("http://me:s3cret@p.example.com:3128");
        let settings = ProxySettings::of(env);
        let proxy = settings.proxy(GITHUB).unwrap().unwrap();
        let shown = format!("{settings:?} {proxy:?} {}", proxy.shown());
        assert_eq!(shown, "[proxies] p.example.com:3128 p.example.com:3128");
        assert!(proxy.uri.to_string().contains("me:s3cret@"), "it is for the proxy itself");
        let one = |said: &'static str| chosen(&[("https_proxy", said)], GITHUB);
        for bad in ["ftp://p:1", "http://", "http://a b", "ftp://me:s3cret@p:1"] {
            assert_eq!(one(bad), Err(Error::BadProxy), "{bad}");
        }
        assert!(!Error::BadProxy.to_string().contains("s3cret"));
        // What of a password ends a host is no part of an address.
        for bad in [
            "http://me:s3/cret@p:1",
            "http://s3/cret@p:1",
            "http://me:s3?cret@p:1",
            "http://me:s3#cret@p:1",
            "me:s3/cret@p:1",
            "http://me:s3cret",
            "http://p:1/path",
            "http://p:70000",
            "http://me:s3cret@",
            "http://me:s3cret@:1",
            "http://p:1//",
        ] {
            assert_eq!(one(bad), Err(Error::BadProxy), "{bad}");
        }
        for (good, uri) in [
            ("http://me:s3%2Fcret@p:1/", "http://me:s3%2Fcret@p:1/"),
            ("HTTP://me@p", "http://me@p/"),
            ("[::1]:3128", "http://[::1]:3128/"),
            ("Socks5h://p:1", "socks5://p:1/"),
        ] {
            assert_eq!(one(good), Ok(Some(uri.to_owned())), "{good}");
        }
    }

    #[test]
    fn a_user_for_a_socks_proxy_is_refused_for_nobody_would_send_it() {
        for said in ["socks5://me:s3cret@p:1", "socks5h://me@p:1"] {
            let error = chosen(&[("all_proxy", said)], GITHUB).unwrap_err();
            assert_eq!(error, Error::ProxyUser, "{said}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
