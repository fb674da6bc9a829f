//! What did not load: an object whose document is broken is not gone.

use crate::model::{Fleet, Name};

/// Whether the fleet has a broken document of that very kind and name. A kind that could not be read
/// may be any.
pub(super) fn names(fleet: &Fleet, kind: &str, name: &Name) -> bool {
    fleet.unloaded.iter().any(|u| {
        u.name.as_deref() == Some(name.as_str()) && u.kind.as_deref().is_none_or(|k| k == kind)
    })
}

/// Whether a broken document of the fleet may be of that kind and name: what could not be read of it
/// may be anything.
pub(super) fn may_be(fleet: &Fleet, kind: &str, name: &Name) -> bool {
    fleet.unloaded.iter().any(|u| {
        u.name.as_deref().is_none_or(|n| n == name.as_str())
            && u.kind.as_deref().is_none_or(|k| k == kind)
    })
}

/// Whether a broken overlay is, or may be, the worker's.
pub(super) fn overlay(fleet: &Fleet, name: &Name) -> bool {
    fleet.unloaded.iter().any(|u| match (&u.kind, &u.name) {
        (Some(kind), named) => {
            kind == "WorkerOverlay" && named.as_ref().is_none_or(|named| named == name.as_str())
        }
        (None, Some(named)) => named == name.as_str(),
        // Where neither can be read, nothing new is placed anywhere.
        (None, None) => false,
    })
}
