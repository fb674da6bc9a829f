//! One document of YAML, read from its first character to its last.

use std::cell::RefCell;

use serde_json::Value;
use serde_saphyr::{MessageFormatter as _, UserMessageFormatter};

use crate::pattern::{Patterns, ReadDocument, SharedWords};

/// Depth of the deepest document that is read; the CRDs reach 60.
const MAX_DEPTH: usize = 128;

thread_local! {
    static KNOWN: RefCell<Patterns> = RefCell::default();
}

/// Why a text is not YAML, in one line, and the line of the text from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    /// What is wrong.
    pub(super) message: String,
    /// Where, where it is known.
    pub(super) line: Option<u32>,
}

/// Reads one document. Words that YAML 1.1 takes for booleans and numbers with a leading zero are read
/// as Kubernetes reads them.
fn read(text: &str) -> Result<Value, YamlError> {
    let options = serde_saphyr::options! {
        legacy_octal_numbers: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| YamlError {
        line: error.location().and_then(|l| u32::try_from(l.line()).ok()),
        message: UserMessageFormatter.format_message(&error).into_owned(),
    })
}

/// Reads one document as [`read`] does, by its words where others like it were read before.
pub(super) fn parse(text: &str) -> Result<ReadDocument, YamlError> {
    KNOWN.with_borrow_mut(|known| known.parse(text, read))
}

/// Reads one document as [`read`] does, whose words are known, and what others share with it.
pub(super) fn parse_words(
    text: &str,
    words: &[&str],
    shared: &SharedWords,
) -> Result<ReadDocument, YamlError> {
    KNOWN.with_borrow_mut(|known| known.parse_words(text, words, shared, read))
}
