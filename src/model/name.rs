//! The name of a cluster or worker, which becomes a path, a namespace and a label value.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The name of a ManagedCluster, a Worker or another object of the fleet: a DNS-1123 label of at most
/// 40 characters. The bound leaves room for a pool of 12 and a hash within the 63 characters of a
/// label value (`reference`: CAPZ allows 44 for an AzureCluster, a MachineDeployment's name is a
/// label).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The longest name, in characters.
    pub const MAX: usize = 40;

    /// The only way to obtain a name.
    ///
    /// # Errors
    /// The text is not such a label; the error says which rule it breaks.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if let Some(wrong) = text.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
            return Err(NameError::Character(wrong));
        }
        if text.starts_with('-') || text.ends_with('-') {
            return Err(NameError::Dash);
        }
        if text.len() > Self::MAX {
            return Err(NameError::TooLong(text.len()));
        }
        Ok(Self(Arc::from(text)))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a text is not a [`Name`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is no character.
    #[error("a name has at least one character")]
    Empty,
    /// A character that DNS labels do not have.
    #[error("a name has lower-case letters, digits and `-` only, not {0:?}")]
    Character(char),
    /// A dash at an end.
    #[error("a name begins and ends with a letter or digit")]
    Dash,
    /// More characters than fit.
    #[error("a name has at most 40 characters, not {0}")]
    TooLong(usize),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dns_labels_of_forty_characters_are_names() {
        for good in ["a", "pay-eu", "0", &"x".repeat(40)] {
            assert!(Name::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "..", "a/b", ".git", "Prod", "-a", "a-", "x:y", "🐟", &"x".repeat(41)] {
            assert!(Name::parse(bad).is_err(), "{bad}");
        }
    }
}
