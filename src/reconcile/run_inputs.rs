//! What a run sees before it proposes anything.

use super::options::Options;
use super::{FleetPlace, Names};
use crate::git::{GitStore, Repository};
use crate::model::Id;
use crate::model::api::FleetSpec;

/// What a run sees before it proposes anything.
pub(super) struct RunInputs<'a> {
    pub(super) place: &'a FleetPlace,
    pub(super) options: &'a Options,
    pub(super) repository: &'a Repository,
    pub(super) names: &'a Names,
    pub(super) store: &'a GitStore<'a>,
    pub(super) spec: &'a FleetSpec,
    pub(super) input: Id,
}
