//! Who may ring: the signatures of webhooks. What a webhook says is not read, only who sent it.

use std::fmt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The largest secret that is read.
const MOST_SECRET: u64 = 4096;

/// Who calls, and so where the proof stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// `X-Hub-Signature-256: sha256=<hex of the HMAC of the body>`.
    Github,
    /// `X-Gitlab-Token: <the secret>`.
    Gitlab,
    /// `X-Signature: sha256=<hex of the HMAC of the body>`, as Flux's generic-hmac receivers have it.
    Generic,
}

impl Caller {
    pub(super) fn parse(kind: &str) -> Option<Self> {
        match kind {
            "github" => Some(Self::Github),
            "gitlab" => Some(Self::Gitlab),
            "generic" => Some(Self::Generic),
            _ => None,
        }
    }

    /// The header with the proof.
    pub(super) fn header(self) -> &'static str {
        match self {
            Self::Github => "x-hub-signature-256",
            Self::Gitlab => "x-gitlab-token",
            Self::Generic => "x-signature",
        }
    }

    /// Whether the proof is good. The comparison takes as long for a wrong one as for a right one.
    pub(super) fn proves(self, secret: &Secret, proof: &[u8], body: &[u8]) -> bool {
        match self {
            Self::Gitlab => {
                let expected = secret.mac(&secret.0).finalize();
                secret.mac(proof).verify(&expected.into_bytes()).is_ok()
            }
            Self::Github | Self::Generic => {
                let Some(tag) = proof.strip_prefix(b"sha256=").and_then(unhex) else {
                    return false;
                };
                secret.mac(body).verify_slice(&tag).is_ok()
            }
        }
    }
}

/// The secret that a caller knows. It is never shown.
pub(super) struct Secret(Vec<u8>);

impl Secret {
    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(bytes);
        mac
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The file that holds the secret. It is read for every call, so that a secret can be exchanged while
/// the controller runs.
#[derive(Clone, Debug)]
pub struct SecretFile(PathBuf);

impl SecretFile {
    /// The secret in a file, without the line break at its end.
    ///
    /// # Errors
    /// The file cannot be read, is empty or too large to be a secret.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, super::Error> {
        let file = Self(path.into());
        file.read()?;
        Ok(file)
    }

    #[expect(clippy::disallowed_methods, reason = "a secret comes from a file, never from argv")]
    pub(super) fn read(&self) -> Result<Secret, super::Error> {
        let failed = |detail: String| super::Error::Secret { path: self.0.clone(), detail };
        let size = std::fs::metadata(&self.0).map_err(|e| failed(e.to_string()))?.len();
        if size > MOST_SECRET {
            return Err(failed(format!("it has {size} bytes, and a secret at most {MOST_SECRET}")));
        }
        let mut bytes = std::fs::read(&self.0).map_err(|e| failed(e.to_string()))?;
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        if bytes.is_empty() {
            return Err(failed("it is empty".to_owned()));
        }
        Ok(Secret(bytes))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() != 64 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.chunks_exact(2).map(|two| Some(digit(two[0])? << 4 | digit(two[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The example in GitHub's documentation on validating webhook deliveries.
    #[test]
    fn githubs_own_example_is_accepted_and_nothing_near_it() {
        let secret = Secret(b"It's a Secret to Everybody".to_vec());
        let good = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert!(Caller::Github.proves(&secret, good, b"Hello, World!"));
        assert!(Caller::Generic.proves(&secret, good, b"Hello, World!"));
        assert!(!Caller::Github.proves(&secret, good, b"Hello, World?"));
        assert!(!Caller::Github.proves(&secret, &good[..70], b"Hello, World!"));
        assert!(!Caller::Github.proves(&secret, &good[7..], b"Hello, World!"), "no sha256=");
        assert!(!Caller::Github.proves(&Secret(b"other".to_vec()), good, b"Hello, World!"));
        assert!(!Caller::Github.proves(&secret, &[0xff; 71], b""));
    }

    #[test]
    fn gitlab_sends_the_secret_itself() {
        let secret = Secret(b"tea".to_vec());
        assert!(Caller::Gitlab.proves(&secret, b"tea", b"anything"));
        for wrong in [&b"te"[..], b"teas", b"", b"TEA"] {
            assert!(!Caller::Gitlab.proves(&secret, wrong, b"anything"));
        }
    }

    #[test]
    fn a_secret_is_a_small_file_that_is_not_empty_and_is_never_shown() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        assert!(SecretFile::new(file.path()).unwrap_err().to_string().contains("it is empty"));
        file.write_all(b"tea\r\n").unwrap();
        let secret = SecretFile::new(file.path()).unwrap().read().unwrap();
        assert_eq!(secret.0, b"tea");
        assert!(!format!("{secret:?}").contains("tea"));
        file.write_all(&[b'x'; 4995]).unwrap();
        assert!(SecretFile::new(file.path()).unwrap_err().to_string().contains("5000 bytes"));
    }
}
