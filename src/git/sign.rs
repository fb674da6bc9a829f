//! Signing a commit as git would: the same programs, the same settings, the same signature.
//!
//! libgit2 does not sign, and `git commit-tree -S` wants the tree on disk before there is a pack. So the
//! bytes of the commit are given to the program that git would give them to (git-config(1), `gpg.*` and
//! `user.signingKey`).

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::Command;
use std::time::Duration;

use super::external;
use super::program::ASK;
use super::program_output::ProgramOutput;
use super::{CommitDraft, Error, Redacted, Repository};
use crate::model::api::{Signing, SigningFormat};

/// How long a signing program may take. An agent may have to ask a person to touch a key.
const LIMIT: Duration = Duration::from_secs(60);

/// A signature in its armour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(String);

impl Signature {
    /// The text, as it stands in a commit's header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// With what a commit is signed, after git's settings.
struct Means {
    format: SigningFormat,
    program: String,
    key: String,
}

impl Means {
    fn tried(&self) -> String {
        format!("`{}` with the key `{}`", self.program, self.key)
    }

    fn failed(&self, detail: impl AsRef<str>) -> Error {
        Error::Signing { tried: Redacted::new(self.tried()), detail: Redacted::new(detail) }
    }
}

impl Repository {
    /// Signs a commit that is to be made. What the fleet leaves open git's own settings say:
    /// `user.signingKey` and the `program` of the format.
    ///
    /// # Errors
    /// There is no key or no such program; it failed, or did not answer within a minute.
    pub fn sign(&self, draft: &CommitDraft, signing: &Signing) -> Result<Signature, Error> {
        self.sign_within(draft, signing, LIMIT)
    }

    fn sign_within(
        &self,
        draft: &CommitDraft,
        signing: &Signing,
        limit: Duration,
    ) -> Result<Signature, Error> {
        let means = self.means(draft, signing)?;
        let payload = draft.to_bytes();
        let signed = match means.format {
            SigningFormat::Ssh => ssh(&means, &payload, limit),
            SigningFormat::Openpgp => openpgp(&means, &payload, limit),
        };
        let signature = signed.map_err(|e| means.failed(e.to_string()))??;
        // Some builds of gpg end lines as Windows does.
        Ok(Signature(signature.replace('\r', "")))
    }

    fn means(&self, draft: &CommitDraft, signing: &Signing) -> Result<Means, Error> {
        let format = signing.format;
        let (programs, otherwise): (&[&str], _) = match format {
            SigningFormat::Ssh => (&["gpg.ssh.program"], "ssh-keygen"),
            SigningFormat::Openpgp => (&["gpg.openpgp.program", "gpg.program"], "gpg"),
        };
        let mut program = None;
        for name in programs {
            program = program.or(self.setting(name, Some("path"), None)?);
        }
        let program = program.unwrap_or_else(|| otherwise.to_owned());
        // A file may begin with `~`, which git knows how to read.
        let kind = (format == SigningFormat::Ssh).then_some("path");
        let key = self.setting("user.signingKey", kind, signing.key.as_deref())?;
        let key = match (key.filter(|key| !key.is_empty()), format) {
            (Some(key), _) => key,
            (None, SigningFormat::Openpgp) => format!("{} <{}>", draft.name, draft.email),
            (None, SigningFormat::Ssh) => {
                let detail = "no key is named; set spec.git.signing.key, or git's user.signingKey";
                let (tried, detail) =
                    (Redacted::new(format!("`{program}`")), Redacted::new(detail));
                return Err(Error::Signing { tried, detail });
            }
        };
        Ok(Means { format, program, key })
    }

    /// One of git's settings, with `instead` in place of what is configured.
    fn setting(
        &self,
        name: &str,
        kind: Option<&str>,
        instead: Option<&str>,
    ) -> Result<Option<String>, Error> {
        let mut args = Vec::new();
        if let Some(value) = instead {
            args.extend(["-c".to_owned(), format!("{name}={value}")]);
        }
        args.push("config".to_owned());
        args.extend(kind.map(|kind| format!("--type={kind}")));
        args.extend(["--get".to_owned(), name.to_owned()]);
        let output = self.git(args, ASK)?;
        match output.code {
            Some(0) => Ok(Some(output.stdout.trim_end_matches('\n').to_owned())),
            // What git ends with where the setting is not there (git-config(1)).
            Some(1) => Ok(None),
            _ => Err(Error::Program {
                what: format!("reading git's setting `{name}`"),
                line: super::outcome::why(&output),
            }),
        }
    }
}

/// `ssh-keygen -Y sign -n git`, with the text in a file, beside which it writes the signature: as git
/// calls it, so that what stands in for `ssh-keygen` works here too.
fn ssh(means: &Means, payload: &[u8], limit: Duration) -> io::Result<Result<String, Error>> {
    let folder = tempfile::tempdir()?;
    let written = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        File::create(&path).and_then(|mut file| file.write_all(bytes)).map(|()| path)
    };
    let mut command = program(means);
    command.args(["-Y", "sign", "-n", "git", "-f"]);
    match literal_key(&means.key) {
        Some(key) => command.arg(written("key.pub", format!("{key}\n").as_bytes())?).arg("-U"),
        None => command.arg(&means.key),
    };
    let text = written("commit", payload)?;
    command.arg(&text);
    let output = external::run(&mut command, b"", limit)?;
    if output.code != Some(0) {
        return Ok(Err(means.failed(why(&output))));
    }
    let mut signature = String::new();
    File::open(text.with_extension("sig"))?.read_to_string(&mut signature)?;
    Ok(Ok(signature))
}

/// A public key that stands in the setting itself (git-config(1), `user.signingKey`).
fn literal_key(key: &str) -> Option<&str> {
    key.strip_prefix("key::").or_else(|| key.starts_with("ssh-").then_some(key))
}

fn openpgp(means: &Means, payload: &[u8], limit: Duration) -> io::Result<Result<String, Error>> {
    let mut command = program(means);
    command.args(["--status-fd=2", "-bsau", &means.key]);
    let output = external::run(&mut command, payload, limit)?;
    let created = output.stderr.lines().any(|line| line.starts_with("[GNUPG:] SIG_CREATED "));
    if output.code == Some(0) && created {
        return Ok(Ok(output.stdout));
    }
    Ok(Err(means.failed(why(&output))))
}

fn program(means: &Means) -> Command {
    let mut command = Command::new(&means.program);
    command.env("LC_ALL", "C").env_remove("LANGUAGE");
    command
}

/// What a program says about why it failed: its last words, without those that are for programs.
fn why(output: &ProgramOutput) -> String {
    let said = output.stderr.lines().map(str::trim);
    let said: Vec<_> = said.filter(|l| !l.is_empty() && !l.starts_with("[GNUPG:]")).collect();
    match said.last() {
        Some(last) => (*last).to_owned(),
        None => "it says nothing".to_owned(),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::model::Id;

    fn repository() -> (tempfile::TempDir, Repository) {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(folder.path(), "main").unwrap();
        (folder, repository)
    }

    fn draft() -> CommitDraft {
        CommitDraft {
            tree: Id::EMPTY_DIR,
            parents: Vec::new(),
            message: "subject\n".to_owned(),
            name: "carp".to_owned(),
            email: "carp@example.com".to_owned(),
            time: "2026-01-02T03:04:05Z".parse().unwrap(),
        }
    }

    /// Lets a script stand in for the signing program.
    fn stand_in(repository: &Repository, folder: &std::path::Path, script: &str) {
        let path = folder.join("signer");
        File::create(&path).unwrap().write_all(script.as_bytes()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        repository.configure("gpg.ssh.program", path.to_str().unwrap()).unwrap();
    }

    fn with_ssh(key: &str) -> Signing {
        Signing { format: SigningFormat::Ssh, key: Some(key.to_owned()) }
    }

    #[test]
    fn what_stands_in_for_ssh_keygen_is_called_as_git_calls_it() {
        let (folder, repository) = repository();
        let script = "#!/bin/sh\nfor last; do :; done\n\
                      { echo \"$1 $2 $3 $4 $5 $6\"; cat \"$last\"; } > \"$last.sig\"\n";
        stand_in(&repository, folder.path(), script);
        let signature = repository.sign(&draft(), &with_ssh("/keys/carp")).unwrap();
        let payload = String::from_utf8(draft().to_bytes()).unwrap();
        assert_eq!(signature.as_str(), format!("-Y sign -n git -f /keys/carp\n{payload}"));
    }

    #[test]
    fn a_program_that_hangs_or_fails_is_told_and_bounded() {
        let (folder, repository) = repository();
        stand_in(&repository, folder.path(), "#!/bin/sh\nexec sleep 600\n");
        let within = |limit| repository.sign_within(&draft(), &with_ssh("/k"), limit);
        let error = within(Duration::from_millis(100)).unwrap_err().to_string();
        assert!(
            error.contains("no answer within") && error.contains("with the key `/k`"),
            "{error}"
        );
        stand_in(&repository, folder.path(), "#!/bin/sh\necho 'no such key' >&2\nexit 1\n");
        let error = within(LIMIT).unwrap_err().to_string();
        assert!(error.contains("no such key; spec.git.signing"), "{error}");
        assert!(error.ends_with("nothing was pushed"), "{error}");
    }

    #[test]
    fn without_a_key_nothing_is_signed() {
        let (_folder, repository) = repository();
        let ssh = Signing { format: SigningFormat::Ssh, key: None };
        repository.configure("user.signingKey", "").unwrap();
        let error = repository.sign(&draft(), &ssh).unwrap_err().to_string();
        assert!(error.contains("no key is named"), "{error}");
    }
}
