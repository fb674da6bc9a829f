//! Who may sign: a line of an SSH allowed-signers file (ssh-keygen(1), ALLOWED SIGNERS).

/// One line: `alice@example.com ssh-ed25519 AAAA…`, options between the two, a comment after them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllowedSigner {
    /// Who it is, or patterns of that.
    pub principals: Vec<String>,
    /// Options, the key's type and the key.
    rest: String,
}

/// What the types of SSH keys begin with.
const KEY_TYPES: [&str; 3] = ["ssh-", "ecdsa-", "sk-"];
/// The options that a line may have.
const OPTIONS: [&str; 4] = ["cert-authority", "namespaces=", "valid-after=", "valid-before="];

impl AllowedSigner {
    /// Reads a line.
    ///
    /// # Errors
    /// It is none; the message says what is missing.
    pub fn parse(line: &str) -> Result<Self, String> {
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return Err("it has more than one line".to_owned());
        }
        let words = words(line)?;
        let (principals, after) = words.split_first().ok_or("it is empty")?;
        let principals: Vec<String> =
            principals.trim_matches('"').split(',').map(str::to_owned).collect();
        if principals.iter().any(String::is_empty) || principals[0].starts_with('#') {
            return Err("it does not begin with who signs".to_owned());
        }
        let is_type = |word: &&String| KEY_TYPES.iter().any(|start| word.starts_with(start));
        let at = after.iter().position(|word| is_type(&word)).ok_or("it has no public key")?;
        for option in after[..at].iter().flat_map(|word| options(word)) {
            if !OPTIONS.iter().any(|known| option.to_ascii_lowercase().starts_with(known)) {
                return Err(format!("`{option}` is no option of an allowed signer"));
            }
        }
        let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        // Every key begins with the length of its type's name, which is less than 256.
        let key =
            after.get(at + 1).filter(|key| key.starts_with("AAAA") && key.chars().all(base64));
        if key.is_none() {
            return Err(format!("what follows `{}` is not a public key", after[at]));
        }
        Ok(Self { principals, rest: after[..=at + 1].join(" ") })
    }

    /// The line, without its comment.
    #[must_use]
    pub fn line(&self) -> String {
        self.line_for(&self.principals.join(","))
    }

    /// The line as it is for one principal only.
    #[must_use]
    pub fn line_for(&self, principal: &str) -> String {
        format!("\"{principal}\" {}", self.rest)
    }

    /// The key: its type and its value, without options.
    #[must_use]
    pub fn key(&self) -> &str {
        let before = self.rest.rmatch_indices(' ').nth(1);
        before.map_or(&*self.rest, |(at, _)| &self.rest[at + 1..])
    }

    /// Whether it names a principal outright, not by a pattern.
    #[must_use]
    pub fn names(&self, principal: &str) -> bool {
        self.principals.iter().any(|name| name == principal)
    }
}

/// The words of a line; blanks in quotes part none.
fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            ' ' | '\t' if !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                quoted ^= c == '"';
                word.push(c);
            }
        }
    }
    if quoted {
        return Err("a quotation mark is not closed".to_owned());
    }
    words.extend((!word.is_empty()).then_some(word));
    Ok(words)
}

/// The options in a word; commas in quotes part none.
fn options(word: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in word.chars() {
        quoted ^= c == '"';
        match (c, all.last_mut()) {
            (',', _) if !quoted => all.push(String::new()),
            (_, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA";

    #[test]
    fn a_line_has_principals_options_and_a_key() {
        let signer = AllowedSigner::parse(&format!("a@x,b@x \t {KEY} a comment")).unwrap();
        assert_eq!(signer.principals, ["a@x", "b@x"]);
        assert_eq!(signer.line(), format!("\"a@x,b@x\" {KEY}"));
        assert_eq!(signer.line_for("b@x"), format!("\"b@x\" {KEY}"));
        assert!(signer.names("a@x") && !signer.names("a"));
        let more = format!("*@x namespaces=\"git,file\",valid-before=\"20300101\" {KEY}");
        let signer = AllowedSigner::parse(&more).unwrap();
        assert!(!signer.names("a@x"), "a pattern is no name");
        assert_eq!(signer.key(), KEY);
        assert!(signer.line().contains(" namespaces=\"git,file\",valid-before=\"20300101\" ssh-"));
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for (line, why) in [
            ("", "empty"),
            ("# a comment", "who signs"),
            (KEY, "no public key"),
            ("a@x", "no public key"),
            ("a@x ssh-ed25519", "not a public key"),
            ("a@x ssh-ed25519 x", "not a public key"),
            ("a@x no-touch-required ssh-ed25519 AAAA", "no option"),
            ("a@x ssh-ed25519 AAAA\nb@x ssh-ed25519 AAAA", "more than one line"),
            ("\"a@x ssh-ed25519 AAAA", "not closed"),
        ] {
            let error = AllowedSigner::parse(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
