//! Whether a commit is signed with one of some OpenPGP keys: `gpg` in a home of its own, which holds these
//! keys and nothing else and is gone afterwards.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::external;
use super::program_output::ProgramOutput;
use super::verify::{Signed, not};
use super::{Error, Redacted, Repository};
use crate::model::{Id, OpenpgpKey};

/// How long reading the keys may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Where nothing is fetched, nobody is asked and no daemon is left behind.
const SETTINGS: &str = "batch\nno-tty\nno-autostart\nno-auto-key-retrieve\nno-auto-check-trustdb\n";

/// A home of gpg.
struct Home {
    folder: TempDir,
    /// The fingerprints of the keys in it.
    keys: BTreeSet<String>,
}

impl Repository {
    pub(super) fn by_openpgp(&self, commit: Id, keys: &[OpenpgpKey]) -> Result<Signed, Error> {
        let failed = |e: io::Error| Error::Program {
            what: format!("looking who signed commit {}", commit.short()),
            line: Redacted::new(match e.kind() {
                io::ErrorKind::NotFound => "`gpg` cannot be run; install GnuPG".to_owned(),
                _ => format!("gpg: {e}"),
            }),
        };
        let home = Home::with(keys).map_err(failed)?;
        if home.keys.is_empty() {
            return Ok(not("gpg finds no key in what is listed"));
        }
        let settings = ["gpg.program=gpg", "gpg.openpgp.program=gpg"];
        let variable = ("GNUPGHOME", home.folder.path().as_os_str());
        let output = self.verify_commit(commit, &settings, Some(variable))?;
        Ok(judged(&output, &home.keys))
    }
}

impl Home {
    fn with(keys: &[OpenpgpKey]) -> io::Result<Self> {
        let folder = private_folder()?;
        File::create(folder.path().join("gpg.conf"))?.write_all(SETTINGS.as_bytes())?;
        // Where this file is, gpg writes none that would let a daemon keep the keys.
        File::create(folder.path().join("common.conf"))?;
        let mut imported = BTreeSet::new();
        for key in keys {
            let mut command = Command::new("gpg");
            command.env("GNUPGHOME", folder.path()).env("LC_ALL", "C").env_remove("LANGUAGE");
            command.args(["--status-fd=1", "--import"]);
            let output = external::run(&mut command, key.armoured().as_bytes(), LIMIT)?;
            imported.extend(
                said(&output.stdout, "IMPORT_OK")
                    .filter_map(|words| Some(words.split(' ').nth(1)?.to_owned())),
            );
        }
        Ok(Self { folder, keys: imported })
    }
}

/// A folder that nobody else looks into; gpg asks for that.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("carp-gpg-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

/// What gpg says for programs (its DETAILS, "General status codes"), by its word.
fn said<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("[GNUPG:] "));
    lines.filter_map(move |line| line.strip_prefix(word)?.strip_prefix(' '))
}

/// What a look at a signature came to. One signature must be good, of a listed key that has neither ended
/// nor been revoked, and there must be no other.
fn judged(output: &ProgramOutput, keys: &BTreeSet<String>) -> Signed {
    let text = &output.stderr;
    let is = |word| said(text, word).next().is_some();
    for (word, why) in [
        ("EXPKEYSIG", "its OpenPGP key has expired"),
        ("REVKEYSIG", "its OpenPGP key is revoked"),
        ("EXPSIG", "its signature has expired"),
        ("BADSIG", "its signature is not good: it is of something else"),
    ] {
        if is(word) {
            return not(why);
        }
    }
    if let Some(key) = said(text, "NO_PUBKEY").next() {
        return not(&format!("its OpenPGP key is none of those listed ({key})"));
    }
    let valid: Vec<_> = said(text, "VALIDSIG").collect();
    // The last word is the fingerprint of the key itself; the first one may be that of a subkey.
    let of = valid.first().and_then(|words| words.split(' ').next_back());
    let good = output.code == Some(0) && said(text, "GOODSIG").count() == 1 && valid.len() == 1;
    match of.filter(|key| good && keys.contains(*key)) {
        Some(key) => Signed::ByKey(key.to_owned()),
        None => not("gpg does not find its signature good"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAAA";

    fn of(code: i32, lines: &[&str]) -> Signed {
        let lines: Vec<_> = lines.iter().map(|line| format!("[GNUPG:] {line}")).collect();
        let output =
            ProgramOutput { code: Some(code), stdout: String::new(), stderr: lines.join("\n") };
        judged(&output, &[KEY.to_owned()].into())
    }

    #[test]
    fn only_one_good_signature_of_a_listed_key_counts() {
        let (good, valid) = ("GOODSIG AA alice", "VALIDSIG BBBB 2026-11-01 1 0 4 0 22 10 00 AAAA");
        assert_eq!(of(0, &["NEWSIG", good, valid]), Signed::ByKey(KEY.to_owned()));
        for (code, lines, why) in [
            (1, &[good, valid][..], "not find"),
            (0, &[good], "not find"),
            (0, &[valid], "not find"),
            (0, &[good, valid, good, valid], "not find"),
            (0, &[good, "VALIDSIG BBBB 2026-11-01 1 0 4 0 22 10 00 CCCC"], "not find"),
            (1, &["EXPKEYSIG AA alice", valid], "has expired"),
            (1, &["REVKEYSIG AA alice", valid], "is revoked"),
            (1, &["EXPSIG AA alice", valid], "signature has expired"),
            (1, &["BADSIG AA alice"], "not good"),
            (1, &["ERRSIG AA 22 10 00 1 9 -", "NO_PUBKEY AA"], "none of those listed (AA)"),
        ] {
            match of(code, lines) {
                Signed::NotByAllowed(told) => assert!(told.as_str().contains(why), "{told}"),
                other => panic!("{lines:?}: {other:?}"),
            }
        }
    }
}
