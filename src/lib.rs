//! carp manages Kubernetes clusters the way Kubernetes manages containers, with a Git repository as
//! its control plane.
//!
//! The rooms below stand on floors; an arrow (`use`) goes from a floor to a lower one only, which
//! `tests/it/architecture.rs` holds. `docs/architecture.md` shows the drawing.
//!
//! ```text
//! F5 cli         one file per subcommand
//! F4 reconcile controller agent kind replay simulate   one turn: observe → propose → commit → push; turn after turn; the worker side
//! F3 pipeline verify   propose, the only composition of the pure core; what people expect of their policies
//! F2 load plan render schemas overrides gate change status     git store observe forge service    (siblings, no arrow between any two)
//! F1 model       the nouns
//! F0 diag fault pattern   how carp speaks about mistakes; where a test lets a run fail; documents that are alike but for some words
//! ```
#![forbid(unsafe_code)]

pub mod cli;

pub mod agent;
pub mod controller;
pub mod kind;
pub mod reconcile;
pub mod replay;
pub mod simulate;

pub mod pipeline;
pub mod verify;

pub mod change;
pub mod forge;
pub mod gate;
pub mod git;
pub mod load;
pub mod observe;
pub mod overrides;
pub mod plan;
pub mod render;
pub mod schemas;
pub mod service;
pub mod status;
pub mod store;

pub mod model;

pub mod diag;
pub mod fault;
pub mod pattern;
