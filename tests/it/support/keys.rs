//! Throw-away keys that sign commits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A key that `ssh-keygen` made, in a folder of its own.
pub(crate) struct SshKey {
    dir: TempDir,
}

impl SshKey {
    /// `None` where there is no `ssh-keygen`.
    pub(crate) fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "throw-away", "-f"]);
        command.arg(dir.path().join("key")).stdin(Stdio::null());
        let output = command.output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(Self { dir })
    }

    /// The file with the private key.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.path().join("key")
    }

    /// The public key: its type and its value.
    pub(crate) fn public(&self) -> String {
        let text = std::fs::read_to_string(self.dir.path().join("key.pub")).unwrap();
        text.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }

    /// The line of an allowed-signers file that lets somebody sign with it.
    pub(crate) fn allowed(&self, principal: &str) -> String {
        format!("{principal} {}", self.public())
    }

    /// A file that allows it and nobody else.
    pub(crate) fn allowed_file(&self, principal: &str) -> PathBuf {
        let path = self.dir.path().join("allowed");
        std::fs::write(&path, self.allowed(principal) + "\n").unwrap();
        path
    }
}

/// A home of `gpg` with one key, whose agent ends when this is dropped.
pub(crate) struct GpgHome {
    dir: TempDir,
    /// What `gpg` in it is told besides: the time of a key that has ended.
    always: Vec<&'static str>,
}

impl GpgHome {
    /// `None` where there is no `gpg`.
    pub(crate) fn new(who: &str) -> Option<Self> {
        Self { dir: tempfile::tempdir().unwrap(), always: Vec::new() }.with_key(who, "0")
    }

    /// The same with a key that was good for one day in 2020, where it is always that day.
    pub(crate) fn ended(who: &str) -> Option<Self> {
        let always = vec!["--faked-system-time=20200101T120000"];
        Self { dir: tempfile::tempdir().unwrap(), always }.with_key(who, "1d")
    }

    fn with_key(self, who: &str, time: &str) -> Option<Self> {
        let args = ["--batch", "--passphrase", "", "--quick-generate-key", who, "ed25519", "sign"];
        let output = self.command("gpg").args(&self.always).args(args).arg(time).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(self)
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The public key of somebody in its armour.
    pub(crate) fn public(&self, who: &str) -> String {
        let output = self.command("gpg").args(["--armor", "--export", who]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("BEGIN PGP PUBLIC KEY BLOCK"), "{text}");
        text
    }

    /// The same after its owner took it back, which this home does not know: it goes on signing.
    pub(crate) fn revoked(&self, who: &str) -> String {
        let listed = self.command("gpg").args(["--with-colons", "--list-keys"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let key = listed.lines().find_map(|line| line.strip_prefix("fpr:")).unwrap();
        // gpg makes the certificate with the key, and breaks its armour, lest somebody uses it by chance.
        let file = format!("openpgp-revocs.d/{}.rev", key.trim_matches(':'));
        let text = std::fs::read_to_string(self.path().join(file)).unwrap();
        let text = text.replace(":-----BEGIN", "-----BEGIN");
        let other = Self { dir: tempfile::tempdir().unwrap(), always: Vec::new() };
        for (name, text) in [("key", self.public(who)), ("revocation", text)] {
            let file = other.path().join(name);
            std::fs::write(&file, text).unwrap();
            let output = other.command("gpg").args(["--batch", "--import"]).arg(&file).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        other.public(who)
    }

    /// A program that signs with the key in it, for git's `gpg.program`.
    #[cfg(unix)]
    pub(crate) fn program(&self) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join("gpg-here");
        let (home, always) = (self.path().display(), self.always.join(" "));
        let script = format!("#!/bin/sh\nGNUPGHOME={home} exec gpg {always} \"$@\"\n");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("GNUPGHOME", self.path()).stdin(Stdio::null());
        command
    }
}

impl Drop for GpgHome {
    fn drop(&mut self) {
        let _ = self.command("gpgconf").args(["--kill", "all"]).output();
    }
}
