//! Whether a commit is signed by somebody who may.
//!
//! `git verify-commit` answers, with the signers in a file made for this one question, so that nobody's
//! own settings let in more.

use std::io::Write as _;

use super::outcome::why;
use super::program::ASK;
use super::repository::oid;
use super::{Error, Redacted, Repository};
use crate::model::{AllowedSigner, Id};

/// What a commit's signature is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// It is good, and of this principal.
    By(String),
    /// It is missing, bad, or of nobody who may sign.
    NotByAllowed(Redacted),
}

/// What git says of a good signature; the principal and the key follow.
const GOOD: &str = "Good \"git\" signature for ";
/// What it says of one whose key is that of no allowed signer.
const OF_A_STRANGER: &str = "Good \"git\" signature with ";

impl Repository {
    /// Looks who signed a commit. Only SSH signatures by these signers count.
    ///
    /// # Errors
    /// The commit is not here, or git cannot be run.
    pub fn signed(&self, commit: Id, signers: &[AllowedSigner]) -> Result<Signed, Error> {
        let not = |why: &str| Ok(Signed::NotByAllowed(Redacted::new(why)));
        let signature = match self.inner.extract_signature(&oid(commit), Some("gpgsig")) {
            Ok((signature, _)) => signature,
            Err(_) if !self.has_commit(commit)? => {
                return Err(Error::Program {
                    what: format!("looking who signed commit {commit}"),
                    line: Redacted::new("it is not here"),
                });
            }
            Err(_) => return not("it has no signature"),
        };
        // Git takes the program from the armour, and gpg would look into people's own key rings.
        if !signature.starts_with(b"-----BEGIN SSH SIGNATURE-----") {
            return not("its signature is not one of SSH, and only SSH keys are listed");
        }
        self.verify(commit, signers)
    }

    fn verify(&self, commit: Id, signers: &[AllowedSigner]) -> Result<Signed, Error> {
        let failed = |e: std::io::Error| Error::Program {
            what: "writing the list of allowed signers".to_owned(),
            line: Redacted::new(e.to_string()),
        };
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        for signer in signers {
            writeln!(file, "{}", signer.line()).map_err(failed)?;
        }
        let allowed = format!("gpg.ssh.allowedSignersFile={}", file.path().display());
        let commit = commit.to_string();
        let args = [
            "--no-replace-objects",
            "-c",
            &allowed,
            "-c",
            "gpg.ssh.program=ssh-keygen",
            "-c",
            "gpg.minTrustLevel=undefined",
            "verify-commit",
            "--raw",
            &commit,
        ];
        let output = self.git(args, ASK)?;
        let said = |start: &str| output.stderr.lines().find_map(|l| l.strip_prefix(start));
        let principal = said(GOOD).and_then(|rest| rest.rsplit_once(" with "));
        match (output.code, principal) {
            (Some(0), Some((principal, _))) => Ok(Signed::By(principal.to_owned())),
            _ => Ok(Signed::NotByAllowed(match said(OF_A_STRANGER) {
                Some(key) => Redacted::new(format!("its key is that of no allowed signer ({key})")),
                None => Redacted::new(format!("its signature is not good: {}", why(&output))),
            })),
        }
    }
}
