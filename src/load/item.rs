//! One document as it was read: what the rules look at among the others.

use super::body::Body;
use super::finding::Findings;
use crate::model::Fact;

/// One document below a root, whether it can be used or not.
pub(super) struct Item {
    pub(super) findings: Findings,
    /// Its kind as it was written, where that could be read.
    pub(super) kind: Option<String>,
    /// Its name, where that could be read.
    pub(super) name: Option<String>,
    /// Whether new placements may depend on it.
    pub(super) steers_placement: bool,
    /// Whether it is an override policy, or may be one.
    pub(super) may_override: bool,
    /// What it says, as far as that could be read.
    pub(super) body: Option<Body>,
    /// What the memo is to keep of it; `None` where it has it already.
    pub(super) fact: Option<Fact>,
    /// Whether it is made of what the memo knows of it, because its file has not changed.
    pub(super) is_remembered: bool,
}
