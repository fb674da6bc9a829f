//! A request to a forge as a value, and what the APIs have in common.

use serde_json::Value;

use crate::model::Id;

use super::report::ForgeReport;

/// How many statuses and requests a page has: no forge gives more than 50 in every version.
pub(super) const PAGE: usize = 50;
/// How many comments a page has: GitHub takes 65,536 characters in one, and what is read of an answer holds as many as
/// these, each character written in six bytes.
pub(super) const COMMENTS: usize = 20;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// What it does, as an error begins: `setting the status of commit 1a2b3c4d`.
    pub(super) what: String,
    pub(super) method: http::Method,
    /// The path below the API, with its query.
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// Whether it may be sent again where nobody knows whether it arrived.
    pub(super) repeatable: bool,
    /// Whether 404 is an answer: there is none.
    pub(super) may_be_absent: bool,
}

impl Call {
    pub(super) fn get(what: String, path: String) -> Self {
        let method = http::Method::GET;
        Self { what, method, path, body: None, repeatable: true, may_be_absent: false }
    }

    /// A request that makes the same of the same however often it is sent.
    pub(super) fn put(method: http::Method, what: String, path: String, body: Value) -> Self {
        Self { what, method, path, body: Some(body), repeatable: true, may_be_absent: false }
    }

    /// A request that makes something new each time.
    pub(super) fn make(what: String, path: String, body: Value) -> Self {
        let method = http::Method::POST;
        Self { what, method, path, body: Some(body), repeatable: false, may_be_absent: false }
    }
}

/// A status that stands on a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForgeStanding {
    /// Who set it, where the forge says so.
    pub(super) author: Option<u64>,
    pub(super) state: String,
    pub(super) description: String,
}

/// How one forge is spoken to: requests as values, and what is read in the answers.
pub(super) trait Dialect {
    /// The name of the header with the token, and what stands before the token in it.
    fn token(&self) -> (&'static str, &'static str);
    /// Who made a status or a comment.
    fn author(&self, made: &Value) -> Option<u64>;
    /// The word for how a commit fared.
    fn state(&self, report: &ForgeReport) -> &'static str;
    /// Asks for the statuses of a commit.
    fn statuses(&self, report: &ForgeReport) -> Call;
    /// carp's own one among them.
    fn standing(&self, answer: &Value, report: &ForgeReport) -> Option<ForgeStanding>;
    /// Sets it.
    fn set_status(&self, report: &ForgeReport) -> Call;
    /// Asks for the requests that brought a commit.
    fn requests(&self, commit: Id) -> Call;
    /// The number of the one that was merged.
    fn merged(&self, answer: &Value, report: &ForgeReport) -> Option<u64>;
    /// Asks for a page of the comments on it, from 1 on.
    fn comments(&self, number: u64, page: usize) -> Call;
    /// Comments on it.
    fn comment(&self, number: u64, body: &str) -> Call;
    /// Edits a comment on it.
    fn edit(&self, number: u64, comment: u64, body: &str) -> Call;
}

/// The text of a field; empty where it has none.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The elements of an answer that is a list.
pub(super) fn elements(answer: &Value) -> impl Iterator<Item = &Value> {
    answer.as_array().into_iter().flatten()
}

/// A path's part with everything but unreserved characters percent-encoded.
pub(super) fn encoded(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}
