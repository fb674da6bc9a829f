//! The bytes of a commit.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::model::Id;

/// A commit to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitDraft {
    /// The tree.
    pub tree: Id,
    /// The parents; the first is the commit that it follows.
    pub parents: Vec<Id>,
    /// Subject, body and trailers.
    pub message: String,
    /// Author and committer.
    pub name: String,
    /// Their address.
    pub email: String,
    /// The time of both, kept to the second in UTC.
    pub time: Timestamp,
}

impl CommitDraft {
    /// The body of Git's commit object.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("tree {}\n", self.tree);
        for parent in &self.parents {
            let _ = writeln!(text, "parent {parent}");
        }
        let who = format!(
            "{} <{}> {} +0000",
            identity(&self.name, "carp"),
            identity(&self.email, "carp@localhost"),
            // Git has no times before 1970.
            self.time.as_second().max(0)
        );
        let message = self.message.replace('\0', "");
        let _ = write!(text, "author {who}\ncommitter {who}\n\n{}\n", message.trim_end());
        text.into_bytes()
    }

    /// The bytes of the commit with a signature of it as the last header, each further line of which begins with a
    /// space.
    pub(super) fn to_signed_bytes(&self, signature: &str) -> Vec<u8> {
        let mut bytes = self.to_bytes();
        // No header of a draft is empty, so the first empty line ends them.
        let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap_or(bytes.len()) + 1;
        let header = format!("gpgsig {}\n", signature.trim_end().replace('\n', "\n "));
        bytes.splice(end..end, header.into_bytes());
        bytes
    }
}

/// A name or address as a commit's header can hold it: a line feed, `<` or `>` would end the field, and
/// what follows would be read as headers of its own.
fn identity(text: &str, otherwise: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect();
    let clean = clean.trim();
    if clean.is_empty() { otherwise.to_owned() } else { clean.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(name: &str, email: &str) -> CommitDraft {
        CommitDraft {
            tree: Id::EMPTY_DIR,
            parents: vec![Id::EMPTY_DIR],
            message: "subject\n\nbody\n".to_owned(),
            name: name.to_owned(),
            email: email.to_owned(),
            time: "2026-01-02T03:04:05.9Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_commit_reads_as_git_writes_it() {
        let text = String::from_utf8(draft("carp", "carp@example.com").to_bytes()).unwrap();
        let expected = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
parent 4b825dc642cb6eb9a060e54bf8d69288fbee4904
author carp <carp@example.com> 1767323045 +0000
committer carp <carp@example.com> 1767323045 +0000

subject

body
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_signature_is_the_last_header() {
        let bytes = draft("carp", "carp@example.com").to_signed_bytes("BEGIN\nabc\n\nEND\n");
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.ends_with(" +0000\ngpgsig BEGIN\n abc\n \n END\n\nsubject\n\nbody\n"),
            "{text}"
        );
    }

    #[test]
    fn an_identity_adds_no_header() {
        let text = String::from_utf8(draft("a\nparent x", "<b>\r\n").to_bytes()).unwrap();
        assert!(text.contains("author aparent x <b> 1767323045 +0000\n"), "{text}");
        assert_eq!(text.matches("\nparent ").count(), 1);
    }

    #[test]
    fn a_message_ends_at_no_nul() {
        let mut draft = draft("carp", "carp@example.com");
        draft.message = "sub\0ject".to_owned();
        let text = String::from_utf8(draft.to_bytes()).unwrap();
        assert!(text.ends_with("\n\nsubject\n"), "{text:?}");
    }

    #[test]
    fn an_empty_identity_is_carps_own() {
        let text = String::from_utf8(draft(" ", "<>").to_bytes()).unwrap();
        assert!(text.contains("author carp <carp@localhost> "), "{text}");
    }
}
