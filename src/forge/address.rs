//! Where a repository is on a forge, worked out of the address that git or a browser has for it.

use super::error::Error;
use super::proxy::{ForgeProxy, ProxySettings, way};
use crate::model::api::ForgeKind;

/// A repository on a forge, and the address of its API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeTarget {
    /// Which API is spoken.
    pub kind: ForgeKind,
    /// The scheme and host of the API: `https://api.github.com`.
    pub(super) origin: String,
    /// What its paths begin with: `/api/v4`.
    pub(super) base: &'static str,
    /// The repository: `org/fleet`.
    pub(super) repository: String,
    /// Where the repository is, as it is shown.
    shown: String,
    /// Through which proxy it is reached; `None`: directly.
    pub(super) proxy: Option<ForgeProxy>,
}

/// Hosts whose forge is known. Others are named by people: a guess from a name such as `git.example.com` would
/// send a token with a request that its forge does not know.
const KNOWN: [(&str, ForgeKind); 4] = [
    ("github.com", ForgeKind::GitHub),
    ("gitlab.com", ForgeKind::GitLab),
    ("codeberg.org", ForgeKind::Gitea),
    ("gitea.com", ForgeKind::Gitea),
];

/// Hosts that only git speaks to, and the ones whose page it is.
const FOR_GIT: [(&str, &str); 2] =
    [("ssh.github.com", "github.com"), ("altssh.gitlab.com", "gitlab.com")];

impl ForgeTarget {
    /// The repository of an address: of git's (`https://…`, `ssh://…`, `git@host:path`), or of a browser's.
    /// Credentials in it are left out.
    ///
    /// # Errors
    /// It is none of a forge, its forge is not known and `kind` does not name it, or it is not safe.
    pub fn of(kind: Option<ForgeKind>, address: &str) -> Result<Self, Error> {
        let place = ForgePlace::of(address).ok_or_else(|| Error::NoAddress(harmless(address)))?;
        let ForgePlace { scheme, host, repository } = place;
        if scheme == "http" && !is_this_machine(&host) {
            return Err(Error::Insecure(format!("http://{host}")));
        }
        let known = KNOWN.iter().find(|(name, _)| *name == host).map(|(_, kind)| *kind);
        let kind = kind.or(known).ok_or_else(|| Error::UnknownKind(host.clone()))?;
        let shown = format!("{host}/{repository}");
        let (origin, base) = match kind {
            ForgeKind::GitHub if host == "github.com" => ("https://api.github.com".to_owned(), ""),
            ForgeKind::GitHub if host.ends_with(".ghe.com") => (format!("https://api.{host}"), ""),
            ForgeKind::GitHub => (format!("{scheme}://{host}"), "/api/v3"),
            ForgeKind::GitLab => (format!("{scheme}://{host}"), "/api/v4"),
            ForgeKind::Gitea => (format!("{scheme}://{host}"), "/api/v1"),
        };
        Ok(Self { kind, origin, base, repository, shown, proxy: None })
    }

    /// This address, reached through a proxy where the settings name one for it.
    ///
    /// # Errors
    /// What they name is no proxy.
    pub fn through(self, proxies: &ProxySettings) -> Result<Self, Error> {
        // Without TLS only this machine is spoken to: through a proxy the token would leave it in the clear.
        let is_safe = self.origin.starts_with("https://");
        let proxy = is_safe.then(|| proxies.proxy(&self.origin)).transpose()?.flatten();
        Ok(Self { proxy, ..self })
    }

    /// Who answers for the API, with its port.
    pub(super) fn host(&self) -> &str {
        self.origin.split_once("://").map_or(&self.origin, |(_, host)| host)
    }

    /// How it is reached, in words for an error.
    pub(super) fn way(&self) -> String {
        way(self.proxy.as_ref())
    }

    /// Where the repository is, without scheme and credentials.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

struct ForgePlace {
    scheme: &'static str,
    host: String,
    repository: String,
}

impl ForgePlace {
    fn of(address: &str) -> Option<Self> {
        // `git@host:org/fleet` has no scheme, and a path has a `/` before any colon.
        let (scheme, authority, path) = if let Some((scheme, rest)) = address.split_once("://") {
            let (authority, path) = rest.split_once('/')?;
            (scheme, authority, path)
        } else {
            let (authority, path) = address.split_once(':')?;
            if authority.contains(['/', '\\']) || authority.len() < 2 {
                return None;
            }
            ("ssh", authority, path)
        };
        let host = authority.rsplit('@').next()?.to_ascii_lowercase();
        let (scheme, host) = match scheme {
            "https" => ("https", host),
            "http" => ("http", host),
            // The port is git's own.
            "ssh" | "git+ssh" | "ssh+git" => ("https", host.split(':').next()?.to_owned()),
            _ => return None,
        };
        let host = FOR_GIT
            .iter()
            .find(|(git, _)| *git == host)
            .map_or(host, |(_, page)| (*page).to_owned());
        let path = path.split(['?', '#']).next()?.trim_matches('/');
        let repository = path.strip_suffix(".git").unwrap_or(path).to_owned();
        let fits = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
        };
        let is_host = !host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:[]".contains(&b));
        let is_repository = repository.contains('/') && repository.split('/').all(fits);
        (is_host && is_repository).then_some(Self { scheme, host, repository })
    }
}

/// Whether a host, with or without a port, is this machine.
pub(super) fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    ["127.0.0.1", "::1", "localhost"].contains(&name)
}

/// What may be shown of what is no address: nothing before an `@`, which may be a secret.
fn harmless(address: &str) -> String {
    let shown = address.rsplit('@').next().unwrap_or_default();
    crate::diag::visible::line(shown.split('?').next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(kind: Option<ForgeKind>, address: &str) -> String {
        match ForgeTarget::of(kind, address) {
            Ok(t) => format!("{} {}{} {}", t.kind.name(), t.origin, t.base, t.repository),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_api_follows_from_the_address_that_git_has() {
        let github = "GitHub https://api.github.com our/fleet";
        for address in [
            "https://github.com/our/fleet.git",
            "https://x-access-token:secret@github.com/our/fleet",
            "git@github.com:our/fleet.git",
            "ssh://git@ssh.github.com:443/our/fleet.git",
            "https://GitHub.com/our/fleet/",
        ] {
            assert_eq!(api(None, address), github, "{address}");
        }
        assert_eq!(
            api(None, "git@gitlab.com:a/b/fleet.git"),
            "GitLab https://gitlab.com/api/v4 a/b/fleet"
        );
        assert_eq!(
            api(None, "https://codeberg.org/a/fleet"),
            "Gitea https://codeberg.org/api/v1 a/fleet"
        );
        let own = [
            (ForgeKind::GitHub, "GitHub https://git.example.com:8443/api/v3 a/b"),
            (ForgeKind::GitLab, "GitLab https://git.example.com:8443/api/v4 a/b"),
            (ForgeKind::Gitea, "Gitea https://git.example.com:8443/api/v1 a/b"),
        ];
        for (kind, wanted) in own {
            assert_eq!(api(Some(kind), "https://git.example.com:8443/a/b.git"), wanted);
        }
        let tenant = api(Some(ForgeKind::GitHub), "https://our.ghe.com/a/b");
        assert_eq!(tenant, "GitHub https://api.our.ghe.com a/b");
    }

    #[test]
    fn what_is_not_encrypted_goes_through_no_proxy() {
        let env = |name: &str| {
            ["http_proxy", "https_proxy", "all_proxy"]
                .contains(&name)
                .then_some("http://p.example.com:1")
        };
        let through = |address: &str| {
            let target = ForgeTarget::of(Some(ForgeKind::Gitea), address).unwrap();
            target.through(&ProxySettings::of(env)).unwrap().proxy.is_some()
        };
        assert!(through("https://git.example.com/a/b"));
        assert!(
            !through("http://127.0.0.1:3000/a/b"),
            "the token would leave the machine in the clear"
        );
        assert!(!through("http://localhost/a/b"));
    }

    #[test]
    fn what_is_not_certain_or_not_safe_is_not_guessed() {
        let said = api(None, "https://git.example.com/a/b");
        assert!(said.starts_with("which forge is at git.example.com is not known"), "{said}");
        let said = api(None, "https://github.com.evil.example/a/b");
        assert!(said.contains("is not known"), "{said}");
        let said = api(Some(ForgeKind::GitHub), "http://git.example.com/a/b");
        assert!(said.contains("is not https"), "{said}");
        let said = api(Some(ForgeKind::GitHub), "http://127.0.0.1.evil.example/a/b");
        assert!(said.contains("is not https"), "{said}");
        assert!(api(Some(ForgeKind::Gitea), "http://[::1]:3000/a/b").starts_with("Gitea http"));
        for none in [
            "/srv/fleet.git",
            "../fleet",
            "C:\\fleet",
            "file:///srv/a/b",
            "https://h",
            "https://h/../b",
            "git@h:fleet",
        ] {
            let said = api(Some(ForgeKind::GitHub), none);
            assert!(said.contains("is no address of a repository"), "{none}: {said}");
        }
        let said = api(None, "https://me:secret@h");
        assert!(!said.contains("secret"), "{said}");
    }
}
