//! The address of a repository in `carp.yaml`: one that git takes from anywhere, and no credential in it.

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;

/// What git reaches a repository by.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Checks an address that carp itself fetches from or pushes to.
pub(super) fn check(url: &str, path: &FieldPath, out: &mut Findings) {
    no_credentials(url, path, out);
    if !is_address(url) {
        let help = "write https://…, ssh://…, git@host:path, or an absolute path";
        let message = "this is not the address of a Git repository";
        out.add(Code::InvalidValue, path.clone(), message, help);
    }
}

/// Git keeps what it is given: a password in an address is read by everybody who reads the fleet, and
/// stays in its history.
pub(super) fn no_credentials(url: &str, path: &FieldPath, out: &mut Findings) {
    if has_credentials(url) {
        let message = "a credential stands in this address";
        let help = "take it out, and out of use; git finds credentials by itself: a credential helper, an \
                    ssh key (gitcredentials(7))";
        out.add(Code::InvalidValue, path.clone(), message, help);
    }
}

fn has_credentials(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // A `/` in a password ends the authority early.
    let user = authority.rsplit_once('@').or_else(|| {
        rest.rsplit_once('@').filter(|_| {
            authority.split_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_err())
        })
    });
    match user {
        Some((user, _)) if scheme == "ssh" => user.contains(':'),
        Some(_) => true,
        None => false,
    }
}

fn is_address(url: &str) -> bool {
    if url.starts_with('-') || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return false;
    }
    match url.split_once("://") {
        Some((scheme, rest)) => SCHEMES.contains(&scheme) && !rest.is_empty(),
        None if url.starts_with('/') => true,
        // `host:path`; two colons would name a helper program of git's.
        None => url.split_once(':').is_some_and(|(host, path)| {
            !host.is_empty() && !host.contains('/') && !path.is_empty() && !path.starts_with(':')
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_git_takes_from_anywhere() {
        for good in [
            "https://git.example.com/a.git",
            "ssh://git@git.example.com/a",
            "git@git.example.com:a/b.git",
            "/srv/git/a.git",
            "file:///srv/git/a.git",
        ] {
            assert!(is_address(good) && !has_credentials(good), "{good}");
        }
        for bad in ["", "../a", "a/b", "ext::sh -c x", "ext::x", "--upload-pack=x", "ftp://a/b"] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn a_credential_is_found() {
        for bad in [
            "https://token@git.example.com/a",
            "https://u:p@git.example.com/a",
            "https://u:p/w@git.example.com/a",
            "ssh://git:secret@git.example.com/a",
        ] {
            assert!(has_credentials(bad), "{bad}");
        }
        assert!(!has_credentials("https://git.example.com:8443/a@v1"));
    }
}
