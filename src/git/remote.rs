//! What a remote has.

use super::outcome::explain;
use super::{Error, Redacted, Repository};
use crate::model::Id;

impl Repository {
    /// The refs of a remote (a name or a URL) that match a pattern, sorted. A pattern is a full name,
    /// or one with a `*` at its end. A ref that is not there is not in the answer.
    ///
    /// # Errors
    /// The remote cannot be reached or does not let us in.
    pub fn ls_remote(&self, remote: &str, patterns: &[&str]) -> Result<Vec<(String, Id)>, Error> {
        check_remote(remote)?;
        for pattern in patterns {
            check_ref(pattern)?;
        }
        let args = ["ls-remote", "--refs", "--quiet", remote];
        let output = self.ask(args.iter().chain(patterns))?;
        if output.code != Some(0) {
            return Err(explain("listing refs", &self.shown(remote), &output));
        }
        let mut refs: Vec<_> = output.stdout.lines().filter_map(parse_line).collect();
        // Git matches the end of a name too: `refs/heads/main` finds `refs/heads/refs/heads/main`.
        refs.retain(|(name, _)| patterns.iter().any(|pattern| matches(pattern, name)));
        refs.sort();
        Ok(refs)
    }

    /// Where one ref of a remote is now; `None` if it is not there.
    ///
    /// # Errors
    /// As for [`Repository::ls_remote`].
    pub fn remote_ref(&self, remote: &str, name: &str) -> Result<Option<Id>, Error> {
        Ok(self.ls_remote(remote, &[name])?.pop().map(|(_, id)| id))
    }

    /// The branch that a remote's `HEAD` names, such as `refs/heads/main`; `None` where it names none.
    ///
    /// # Errors
    /// As for [`Repository::ls_remote`].
    pub fn remote_head(&self, remote: &str) -> Result<Option<String>, Error> {
        check_remote(remote)?;
        let output = self.ask(["ls-remote", "--symref", "--quiet", remote, "HEAD"])?;
        if output.code != Some(0) {
            return Err(explain("asking for the default branch", &self.shown(remote), &output));
        }
        let symref = |line: &str| Some(line.strip_prefix("ref: ")?.split_once('\t')?.0.to_owned());
        Ok(output.stdout.lines().find_map(symref))
    }

    /// A remote as it is shown: its name with its URL, without credentials.
    pub(super) fn shown(&self, remote: &str) -> String {
        match self.remote_url(remote) {
            Some(url) => format!("{remote} ({url})"),
            None => remote.to_owned(),
        }
    }
}

/// Refuses what git would take for an option.
pub(super) fn check_remote(remote: &str) -> Result<(), Error> {
    plausible(remote, "the name or address of a remote")
}

/// Refuses what git would take for an option, or for more than one ref.
pub(super) fn check_ref(name: &str) -> Result<(), Error> {
    if name.starts_with("refs/") && !name.contains(':') {
        return plausible(name, "the full name of a ref");
    }
    Err(Error::Argument { what: "the full name of a ref", value: Redacted::new(name) })
}

fn plausible(value: &str, what: &'static str) -> Result<(), Error> {
    let bad = value.is_empty() || value.starts_with('-') || value.chars().any(char::is_control);
    if bad { Err(Error::Argument { what, value: Redacted::new(value) }) } else { Ok(()) }
}

fn parse_line(line: &str) -> Option<(String, Id)> {
    let (id, name) = line.split_once('\t')?;
    Some((name.to_owned(), id.parse().ok()?))
}

/// Whether a name is a pattern's, which is a full name or one that ends with `*`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_name_or_the_beginning_of_one() {
        assert!(matches("refs/heads/main", "refs/heads/main"));
        assert!(!matches("refs/heads/main", "refs/heads/refs/heads/main"));
        assert!(matches("refs/heads/carp/observed/*", "refs/heads/carp/observed/w1"));
        assert!(!matches("refs/heads/carp/observed/*", "refs/heads/carp/status"));
    }

    #[test]
    fn what_looks_like_an_option_is_refused() {
        assert!(check_remote("--upload-pack=evil").is_err());
        assert!(check_remote("").is_err());
        assert!(check_remote("origin").is_ok());
        assert!(check_ref("main").is_err());
        assert!(check_ref("refs/heads/a:refs/heads/b").is_err());
    }
}
