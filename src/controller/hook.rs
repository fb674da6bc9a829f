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

    /// What a header claims, if it has the form of a proof at all.
    pub(super) fn claim(self, header: &[u8]) -> Option<HookCredential> {
        match self {
            Self::Gitlab => Some(HookCredential::Token(header.to_owned())),
            Self::Github | Self::Generic => {
                header.strip_prefix(b"sha256=").and_then(unhex).map(HookCredential::Signature)
            }
        }
    }
}

/// What a caller says to prove that it knows the secret.
pub(super) enum HookCredential {
    /// The secret itself.
    Token(Vec<u8>),
    /// The HMAC of the body.
    Signature(Vec<u8>),
}

impl HookCredential {
    /// A check that gets the body as it comes, part by part; `None` where the claim is wrong whatever the
    /// body is. Comparisons take as long for a wrong one as for a right one.
    pub(super) fn check(self, secret: &Secret) -> Option<Check> {
        match self {
            Self::Signature(tag) => Some(Check { mac: secret.mac(&[]), tag: Some(tag) }),
            Self::Token(token) => {
                let expected = secret.mac(&secret.0).finalize();
                secret.mac(&token).verify(&expected.into_bytes()).ok()?;
                Some(Check { mac: secret.mac(&[]), tag: None })
            }
        }
    }
}

/// The check of a body, of which nothing is kept.
pub(super) struct Check {
    mac: Hmac<Sha256>,
    /// What must come out; `None` where the proof has been given already.
    tag: Option<Vec<u8>>,
}

impl Check {
    /// The next part of the body.
    pub(super) fn update(&mut self, part: &[u8]) {
        self.mac.update(part);
    }

    /// Whether the proof is good for the whole body.
    pub(super) fn passes(self) -> bool {
        self.tag.is_none_or(|tag| self.mac.verify_slice(&tag).is_ok())
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

    /// Whether a header proves a body that comes in two parts.
    fn proves(caller: Caller, secret: &[u8], header: &[u8], body: &[u8]) -> bool {
        let check = caller.claim(header).and_then(|claim| claim.check(&Secret(secret.to_vec())));
        check.is_some_and(|mut check| {
            let (start, end) = body.split_at(body.len() / 2);
            check.update(start);
            check.update(end);
            check.passes()
        })
    }

    /// The example in GitHub's documentation on validating webhook deliveries.
    #[test]
    fn githubs_own_example_is_accepted_and_nothing_near_it() {
        let secret = b"It's a Secret to Everybody";
        let good = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let github = |secret, header, body| proves(Caller::Github, secret, header, body);
        assert!(github(secret, good, b"Hello, World!"));
        assert!(proves(Caller::Generic, secret, good, b"Hello, World!"));
        assert!(!github(secret, good, b"Hello, World?"));
        assert!(!github(b"other", good, b"Hello, World!"));
    }

    #[test]
    fn what_has_not_the_form_of_a_signature_is_told_before_any_body() {
        let good = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert!(Caller::Github.claim(good).is_some());
        for wrong in [&good[..70], &good[7..], b"sha256=", b"", &[0xff; 71]] {
            assert!(Caller::Github.claim(wrong).is_none());
            assert!(Caller::Generic.claim(wrong).is_none());
        }
    }

    #[test]
    fn gitlab_sends_the_secret_itself_and_a_wrong_one_needs_no_body() {
        let secret = Secret(b"tea".to_vec());
        assert!(proves(Caller::Gitlab, b"tea", b"tea", b"anything"));
        for wrong in [&b"te"[..], b"teas", b"", b"TEA"] {
            assert!(Caller::Gitlab.claim(wrong).is_none_or(|claim| claim.check(&secret).is_none()));
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
