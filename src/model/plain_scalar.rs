//! Texts that every writer of YAML writes alike, wherever they stand.

use crate::pattern::is_special_word;

/// Whether a text is a word that every writer leaves as it is.
#[must_use]
pub fn is_plain_word(text: &str) -> bool {
    let of_words = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(of_words)
        && !text.ends_with(':')
        && !is_special_word(text)
}

/// Whether a text is one short line in ASCII without blanks around it: whether it is quoted does not hang on where it stands.
#[must_use]
pub fn is_plain_line(text: &str) -> bool {
    (1..80).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && text.trim().len() == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_may_take_for_something_else_is_no_word() {
        for text in ["a", "v1.34.1", "sha256:0ab", "carp.dev/digest"] {
            assert!(is_plain_word(text) && is_plain_line(text), "{text}");
        }
        for text in ["", "1", "-a", "a:", "a b", "No", "null", "é", "a#b", "~"] {
            assert!(!is_plain_word(text), "{text}");
        }
        let long = "a ".repeat(50);
        for text in ["", " a", "a\n", "é", long.as_str()] {
            assert!(!is_plain_line(text), "{text}");
        }
    }
}
