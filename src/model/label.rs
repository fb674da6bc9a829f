//! What an API server takes for keys and values of labels (k8s.io/apimachinery, `pkg/util/validation`).

/// The longest name of a key, without its domain, and the longest value.
const LONGEST: usize = 63;
/// The longest domain of a key.
const LONGEST_DOMAIN: usize = 253;

/// Whether text is the key of a label, an annotation or a taint: a name, perhaps after `domain/`.
#[must_use]
pub fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        None => is_qualified(key),
        Some((domain, name)) => {
            domain.len() <= LONGEST_DOMAIN
                && domain.split('.').all(is_dns_label)
                && is_qualified(name)
        }
    }
}

/// Whether text is the value of a label or a taint, which may be empty.
#[must_use]
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_qualified(value)
}

/// Whether text is a DNS-1123 label: at most 63 lower-case letters, digits and inner dashes.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    (1..=LONGEST).contains(&bytes.len())
        && bytes.iter().all(|b| letter(*b) || *b == b'-')
        && bytes.first().is_some_and(|b| letter(*b))
        && bytes.last().is_some_and(|b| letter(*b))
}

fn is_qualified(text: &str) -> bool {
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= LONGEST
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_have_a_domain_and_values_may_be_empty() {
        for key in ["a", "A_b.c-1", "example.com/a", "a.b-c.d/e"] {
            assert!(is_label_key(key), "{key}");
        }
        let long = "a".repeat(64);
        for key in ["", "-a", "a b", "/a", "a/", "a/b/c", "Example.com/a", &long] {
            assert!(!is_label_key(key), "{key}");
        }
        assert!(is_label_value("") && is_label_value("v1.2_3"));
        assert!(!is_label_value("two words") && !is_label_value(&long));
    }
}
