//! Text from outside, with the credentials taken out of its URLs.

use std::fmt;

/// Text of Git or a person in which no URL has a user, password or query left. [`Error`](super::Error)
/// holds foreign text in this form only, so a token cannot slip into a message.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Redacted(String);

impl Redacted {
    /// Takes the credentials out of every URL in a text.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(redact(text.as_ref()))
    }

    /// The text without credentials.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let after = at + "://".len();
        out.push_str(&rest[..after]);
        let url = &rest[after..];
        let end =
            url.find(|c: char| c.is_whitespace() || "'\"<>`".contains(c)).unwrap_or(url.len());
        let over_ssh = rest[..at].ends_with("ssh");
        out.push_str(&without_credentials(&url[..end], over_ssh));
        rest = &url[end..];
    }
    out.push_str(rest);
    out
}

/// What follows `scheme://`, without user and query. The user of an ssh URL is an account name such
/// as `git`, and stays; its password goes.
fn without_credentials(url: &str, over_ssh: bool) -> String {
    let authority_end = url.find(['/', '?', '#']).unwrap_or(url.len());
    let authority = &url[..authority_end];
    let in_authority = authority.rfind('@');
    let host = &authority[in_authority.map_or(0, |at| at + 1)..];
    // A mirror's URL has another one in its path, with credentials of its own. And an unescaped `/` in a
    // password ends the authority early; what then looks like a port is part of the password.
    let host_start =
        if url.contains("://") || !ends_in_port(host) { url.rfind('@') } else { in_authority };
    let (user, host) = match host_start {
        Some(at) => (&url[..at], &url[at + 1..]),
        None => ("", url),
    };
    let host = host.split('?').next().unwrap_or(host);
    match user.split(':').next() {
        Some(account) if over_ssh && is_account(account) => format!("{account}@{host}"),
        _ => host.to_owned(),
    }
}

/// Whether this is the name of an account. Anything else is shown to nobody: it may be part of a secret, and
/// read again it would be another URL.
fn is_account(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.~+%".contains(c);
    !name.is_empty() && name.chars().all(fits)
}

/// Whether an authority is a host with a port that is a number, or without one.
fn ends_in_port(authority: &str) -> bool {
    let after_host = authority.rsplit(']').next().unwrap_or(authority);
    after_host.split_once(':').is_none_or(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Redacted::new(text).as_str(), expected);
    }

    #[test]
    fn users_and_passwords_go() {
        check("https://user:token@host/org/repo", "https://host/org/repo");
        check("https://token@host/r.git", "https://host/r.git");
        check("http://u:p@127.0.0.1:8080/r", "http://127.0.0.1:8080/r");
        check("https://u:p@ss@host/r", "https://host/r");
        check("https://u:to/ken@host/r", "https://host/r");
        check("https://u@x:to/ken@host/r", "https://host/r");
        check("https://u:p@[::1]:80/r", "https://[::1]:80/r");
        check("ssh://git:secret@host/r", "ssh://git@host/r");
        check("ssh://:secret@host/r", "ssh://host/r");
        check("ssh://?x:secret@host/r", "ssh://");
        check("ssh://a/b?c:d://secret@host/r", "ssh://host/r");
        check("https://mirror/https://u:p@host/r", "https://host/r");
        check("https://u:p@mirror/https://token@host/r", "https://host/r");
        check("https://mirror/https://host/r", "https://mirror/https://host/r");
    }

    #[test]
    fn tokens_in_a_query_go() {
        check("https://host/r?private_token=abc", "https://host/r");
    }

    #[test]
    fn what_is_no_credential_stays() {
        check("git@github.com:org/repo", "git@github.com:org/repo");
        check("ssh://git@host:22/r", "ssh://git@host:22/r");
        check("https://host:8443/a@v1", "https://host:8443/a@v1");
        check("https://[::1]:80/a@v1", "https://[::1]:80/a@v1");
        check("no URL at all", "no URL at all");
    }

    #[test]
    fn every_url_of_a_message_is_found() {
        check(
            "fatal: unable to access 'https://u:p@a/r/': see \"http://x:y@b\" and ssh://c@d",
            "fatal: unable to access 'https://a/r/': see \"http://b\" and ssh://c@d",
        );
    }

    #[test]
    fn debug_is_redacted_too() {
        assert_eq!(format!("{:?}", Redacted::new("https://u:p@h")), "\"https://h\"");
    }
}
