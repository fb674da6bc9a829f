//! A public OpenPGP key in its armour (RFC 9580, 6.2), as `gpg --armor --export` prints it.

/// The most bytes of a key; a key that many people signed has some ten thousand.
pub const MAX_OPENPGP_KEY: usize = 64 * 1024;

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";

/// One armoured block. What is in it only `gpg` knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenpgpKey(String);

impl OpenpgpKey {
    /// Reads a block.
    ///
    /// # Errors
    /// It is none; the message says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.contains("PRIVATE KEY") {
            return Err("it is a private key".to_owned());
        }
        if text.len() > MAX_OPENPGP_KEY {
            return Err(format!("it is larger than {} KiB", MAX_OPENPGP_KEY / 1024));
        }
        let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
        let Some(inner) = lines.strip_prefix(&[BEGIN]).and_then(|rest| rest.strip_suffix(&[END]))
        else {
            return Err(format!("it does not stand between `{BEGIN}` and `{END}`"));
        };
        // Headers such as `Comment: …` end at the first empty line.
        let body = match inner.iter().position(|line| line.is_empty()) {
            Some(at) if inner[..at].iter().all(|line| line.contains(": ")) => &inner[at + 1..],
            _ => return Err("no empty line stands before what it holds".to_owned()),
        };
        let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        match body.iter().find(|line| line.is_empty() || !line.chars().all(base64)) {
            Some(line) => Err(format!("`{line}` is no line of a key")),
            None if body.is_empty() => Err("there is nothing in it".to_owned()),
            None => Ok(Self(format!("{}\n", lines.join("\n")))),
        }
    }

    /// The block, with one final newline.
    #[must_use]
    pub fn armoured(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(inner: &str) -> String {
        format!("{BEGIN}\n{inner}{END}\n")
    }

    #[test]
    fn a_block_is_read_with_its_headers() {
        let text = block("Comment: alice\n\nmDMEZw==\n=ab+/\n");
        assert_eq!(OpenpgpKey::parse(&text).unwrap().armoured(), text);
        assert_eq!(OpenpgpKey::parse(&format!("\n{text}\n")).unwrap().armoured(), text);
        assert!(OpenpgpKey::parse(&block("\nmDME\n").replace('\n', "\r\n")).is_ok());
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let long = block(&format!("\n{}\n", "A".repeat(MAX_OPENPGP_KEY)));
        for (text, why) in [
            ("", "does not stand between"),
            ("ssh-ed25519 AAAA", "does not stand between"),
            (&*block("\nmDME\n").replace("PUBLIC", "PRIVATE"), "private key"),
            (&*block("mDME\n"), "no empty line"),
            (&*block("\n"), "nothing in it"),
            (&*block("\nmD ME\n"), "no line of a key"),
            (&*block(&format!("\nmDME\n{END}\n{BEGIN}\n\nmDME\n")), "no line of a key"),
            (&*long, "larger than 64 KiB"),
        ] {
            let error = OpenpgpKey::parse(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
