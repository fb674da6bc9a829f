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
}

impl GpgHome {
    /// `None` where there is no `gpg`.
    pub(crate) fn new(who: &str) -> Option<Self> {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        let args = ["--batch", "--passphrase", "", "--quick-generate-key", who, "ed25519", "sign"];
        let output = home.command("gpg").args(args).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(home)
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
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
