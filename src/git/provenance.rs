//! What carp's commits on the output branch say they were made from, whoever carried them there.

use jiff::Timestamp;

use super::{Error, Repository};
use crate::model::Id;

/// What a commit names in its trailers: see `docs/formats.md`. A commit that people made of carp's (a
/// squash, a rebase) names the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// `Carp-Input`: the commit that people wrote.
    pub input: Id,
    /// `Carp-Observed`: the status commit whose folded reports were read; `None` where there was none.
    pub observed: Option<Id>,
    /// `Carp-Time`: the time of the run; `None` where it cannot be read.
    pub time: Option<Timestamp>,
    /// `Carp-Version`: the carp that made it.
    pub version: Option<String>,
    /// `Carp-Plan`: the digest of the decisions, as it stands there.
    pub plan: Option<String>,
}

impl Provenance {
    /// Reads a message. Where people squashed several commits, the trailers may stand in the middle of
    /// what their host made of the messages, the newest last.
    fn read(message: &str) -> Option<Self> {
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        let value = |line: &str, key: &str| {
            line.strip_prefix(key)?.strip_prefix(": ").map(|value| value.trim().to_owned())
        };
        let is_input =
            |line: &str| value(line, "Carp-Input").is_some_and(|v| v.parse::<Id>().is_ok());
        let first = lines.iter().rposition(|line| is_input(line))?;
        let block: Vec<_> = lines[first..].iter().take_while(|l| l.starts_with("Carp-")).collect();
        let named = |key: &str| block.iter().find_map(|line| value(line, key));
        Some(Self {
            input: named("Carp-Input")?.parse().ok()?,
            observed: named("Carp-Observed").and_then(|id| id.parse().ok()),
            time: named("Carp-Time").and_then(|time| time.parse().ok()),
            version: named("Carp-Version"),
            plan: named("Carp-Plan"),
        })
    }
}

impl Repository {
    /// What a commit says it was made from; `None` where it is none of carp's.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn provenance(&self, commit: Id) -> Result<Option<Provenance>, Error> {
        Ok(Provenance::read(&self.message(commit)?))
    }

    /// What a commit says it was made from or, where it is a merge of a proposal and says nothing itself,
    /// what that proposal says. `None` where nothing of it is carp's.
    ///
    /// # Errors
    /// The commit, or one that it merged, is not here.
    pub fn made_from(&self, commit: Id) -> Result<Option<Provenance>, Error> {
        let merged = self.parents(commit)?;
        for said in [commit].iter().chain(merged.iter().skip(1)) {
            if let Some(said) = self.provenance(*said)? {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }

    /// The input commit of the last output, where an input commit does not contain it: the input branch
    /// was rewound. `output` is the tip of the output branch.
    ///
    /// # Errors
    /// A commit is not here; the clone is shallow and what is here shows no way between the two.
    pub fn rewound_from(&self, output: Option<Id>, input: Id) -> Result<Option<Id>, Error> {
        let Some(output) = output else { return Ok(None) };
        let Some(last) = self.last_input(output)? else { return Ok(None) };
        // A full clone has every commit that comes before the input; what it does not have is none of
        // them.
        let gone = !self.has_commit(last)? && !self.is_shallow();
        Ok((gone || !self.is_ancestor(last, input)?).then_some(last))
    }

    /// The input commit that carp's last commit on the output branch names. People commit there too: a
    /// revert, a merge of a proposal, or everything where it is the input branch.
    fn last_input(&self, output: Id) -> Result<Option<Id>, Error> {
        let mut commit = Some(output);
        while let Some(here) = commit {
            if let Some(said) = self.made_from(here)? {
                return Ok(Some(said.input));
            }
            commit = self.parents(here)?.first().copied();
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: &str = "Carp-Input: 1111111111111111111111111111111111111111";

    #[test]
    fn the_trailers_are_read() {
        let rest = "Carp-Observed: 2222222222222222222222222222222222222222\nCarp-Time: \
                    2026-11-01T09:00:00.5Z\nCarp-Version: 0.1.0\nCarp-Plan: sha256:ab";
        let said =
            Provenance::read(&format!("carp: subject\n\nbody\n\n{INPUT}\n{rest}\n")).unwrap();
        assert_eq!(said.input.to_string(), "1".repeat(40));
        assert_eq!(said.observed.unwrap().to_string(), "2".repeat(40));
        assert_eq!(said.time.unwrap().to_string(), "2026-11-01T09:00:00.5Z");
        assert_eq!(
            (said.version.as_deref(), said.plan.as_deref()),
            (Some("0.1.0"), Some("sha256:ab"))
        );
    }

    #[test]
    fn of_several_the_last_counts_and_nothing_of_the_others() {
        let other = "Carp-Input: 3333333333333333333333333333333333333333";
        let squash = format!(
            "Proposal (#7)\n\n* one\n\n  {INPUT}\n  Carp-Version: 0.1.0\n\n* two\n\n  {other}\n  Carp-Plan: \
             sha256:cd\n\nSigned-off-by: person <p@example.com>\n"
        );
        let said = Provenance::read(&squash).unwrap();
        assert_eq!(said.input.to_string(), "3".repeat(40));
        assert_eq!((said.version, said.plan.as_deref()), (None, Some("sha256:cd")));
    }

    #[test]
    fn a_message_without_an_input_is_nobodys() {
        for message in ["carp: status\n", "Carp-Input: nothing\n", "see Carp-Input\n", ""] {
            assert_eq!(Provenance::read(message), None, "{message:?}");
        }
    }
}
