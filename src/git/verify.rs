//! Whether a commit is signed by somebody who may.
//!
//! `git verify-commit` answers, with the signers in a file or a key ring made for this one question, so
//! that nobody's own settings let in more.

use std::io::Write as _;

use super::outcome::why;
use super::program::ASK;
use super::program_output::ProgramOutput;
use super::repository::oid;
use super::{Error, Redacted, Repository};
use crate::model::{Allowed, AllowedSigner, Id};

/// What a commit's signature is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// It is good, and of this principal.
    By(String),
    /// It is good, and of an allowed OpenPGP key with this fingerprint.
    ByKey(String),
    /// It is missing, bad, or of nobody who may sign.
    NotByAllowed(Redacted),
}

/// What git says of a good SSH signature; the principal and the key follow.
const GOOD: &str = "Good \"git\" signature for ";
/// What it says of one whose key is that of no allowed signer.
const OF_A_STRANGER: &str = "Good \"git\" signature with ";
/// What the armour of each kind of signature begins with (gitformat-signature(5)).
const SSH: &[u8] = b"-----BEGIN SSH SIGNATURE-----";
const OPENPGP: [&[u8]; 2] = [b"-----BEGIN PGP SIGNATURE-----", b"-----BEGIN PGP MESSAGE-----"];

impl Repository {
    /// Looks who signed a commit. Only signatures by these signers count.
    ///
    /// # Errors
    /// The commit is not here, or git or gpg cannot be run.
    pub fn signed(&self, commit: Id, allowed: &Allowed) -> Result<Signed, Error> {
        let signature = match self.inner.extract_signature(&oid(commit), Some("gpgsig")) {
            Ok((signature, _)) => signature,
            Err(_) if !self.has_commit(commit)? => {
                return Err(Error::Program {
                    what: format!("looking who signed commit {commit}"),
                    line: Redacted::new("it is not here"),
                });
            }
            Err(_) => return Ok(not("it has no signature")),
        };
        let is = |begin: &[u8]| signature.starts_with(begin);
        if is(SSH) && !allowed.ssh.is_empty() {
            self.by_ssh(commit, &allowed.ssh)
        } else if OPENPGP.iter().any(|begin| is(begin)) && !allowed.openpgp.is_empty() {
            self.by_openpgp(commit, &allowed.openpgp)
        } else {
            Ok(not(match (allowed.ssh.is_empty(), allowed.openpgp.is_empty()) {
                (false, true) => "its signature is not one of SSH, and only SSH keys are listed",
                (true, false) => {
                    "its signature is not one of OpenPGP, and only OpenPGP keys are listed"
                }
                _ => "its signature is of a kind that is not listed",
            }))
        }
    }

    fn by_ssh(&self, commit: Id, signers: &[AllowedSigner]) -> Result<Signed, Error> {
        let failed = |e: std::io::Error| Error::Program {
            what: "writing the list of allowed signers".to_owned(),
            line: Redacted::new(e.to_string()),
        };
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        for signer in signers {
            writeln!(file, "{}", signer.line()).map_err(failed)?;
        }
        let allowed = format!("gpg.ssh.allowedSignersFile={}", file.path().display());
        let output = self.verify_commit(commit, &[&allowed, "gpg.ssh.program=ssh-keygen"], None)?;
        let said = |start: &str| output.stderr.lines().find_map(|l| l.strip_prefix(start));
        let principal = said(GOOD).and_then(|rest| rest.rsplit_once(" with "));
        match (output.code, principal) {
            (Some(0), Some((principal, _))) => Ok(Signed::By(principal.to_owned())),
            _ => Ok(match said(OF_A_STRANGER) {
                Some(key) => not(&format!("its key is that of no allowed signer ({key})")),
                None => not(&format!("its signature is not good: {}", why(&output))),
            }),
        }
    }

    /// Lets git look at a signature, with settings of its own.
    pub(super) fn verify_commit(
        &self,
        commit: Id,
        settings: &[&str],
        variable: Option<(&str, &std::ffi::OsStr)>,
    ) -> Result<ProgramOutput, Error> {
        let commit = commit.to_string();
        let mut args = vec!["--no-replace-objects", "-c", "gpg.minTrustLevel=undefined"];
        for setting in settings {
            args.extend(["-c", setting]);
        }
        args.extend(["verify-commit", "--raw", &commit]);
        self.git_with(args, variable, ASK)
    }
}

pub(super) fn not(why: &str) -> Signed {
    Signed::NotByAllowed(Redacted::new(why))
}
