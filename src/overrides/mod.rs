//! Overrides: what policies change in objects that templates made.
//!
//! The room knows objects as values and nothing of files, folders or templates. `applying` says which policies a
//! cluster has on its worker, and a worker itself; these are [`ObjectEdits`](crate::model::ObjectEdits), which whoever renders asks once
//! all objects of a folder are there, and before any check. Kinds of changes that are done alike share a file.
//!
//! | change | file |
//! |---|---|
//! | `jsonPatch` | `json_patch` |
//! | `mergePatch` | `merge_patch` |
//! | `image` | `image` |
//! | `command`, `args` | `items` |
//! | `labels`, `annotations` | `entries` |
//! | `field` | `field` |
//!
//! Policies have their turns from the lowest priority to the highest, and in the order of their names; which objects
//! one selects is told by the objects as they were rendered, so no policy selects by what another one wrote. What is
//! carp's own stays (`own`), and so do bounds on what comes out (`bounds`).

mod apply;
mod applying;
mod bounds;
mod containers;
mod entries;
mod field;
mod image;
mod items;
mod json_patch;
mod merge_patch;
mod own;
mod select;
#[cfg(test)]
mod tests;
mod trouble;

pub use apply::{Effects, Overrides, effects};
pub use applying::{applying, applying_to_layers, applying_to_worker, selects_cluster};
