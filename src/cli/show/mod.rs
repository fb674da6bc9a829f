//! Values to text: every output of every command is a function here, and prints nothing itself.

pub mod age;
pub mod code;
pub mod crds;
mod data_stores;
pub mod demo;
pub mod drain;
pub mod explain;
pub mod fields;
pub mod findings;
pub mod forge;
pub mod kind;
mod palette;
pub mod plan;
pub mod progress;
pub mod reconcile;
pub mod replay;
pub mod schema;
pub mod simulate;
pub mod status;
pub mod status_forms;
mod status_view;
mod status_waiting;
pub mod tables;
pub mod templates;
mod wrap;

pub use crate::model::count;
pub use data_stores::DataStoreRow;
pub use demo::DemoView;
pub use drain::DrainedView;
pub use explain::{
    ExplainRow, ExplainView, LossView, LostView, MemberRow, OverrideView, PolicyView, PoolRow,
    ReasonView, RemedyView, SecretView, StepView, WaitRow,
};
pub use palette::{Colour, Palette, Tone};
pub use plan::{progress_words, waiting_words};
pub use replay::{ReplayRow, ReplayView};
pub use status::Extent;
pub use status_view::{ClusterStatusRow, PoolStatusRow, StatusView, WorkerStatusRow};
pub use templates::{FlavorRow, TemplateRow, TemplateTestRow};

/// A length as the `u64` that counts are.
pub(crate) fn len<T>(items: &[T]) -> u64 {
    items.len() as u64
}

/// Names for a line: that many of them, and how many more there are.
#[must_use]
pub(crate) fn first(names: &[impl ToString], shown: usize) -> String {
    let first: Vec<_> = names.iter().take(shown).map(ToString::to_string).collect();
    match names.len().saturating_sub(shown) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A value as JSON with its `schemaVersion` first, and a final newline.
pub(crate) fn versioned(schema: u32, view: &impl serde::Serialize) -> String {
    #[derive(serde::Serialize)]
    struct Versioned<'a, T> {
        #[serde(rename = "schemaVersion")]
        schema: u32,
        #[serde(flatten)]
        view: &'a T,
    }
    let text = serde_json::to_string_pretty(&Versioned { schema, view });
    text.expect("views serialise to JSON") + "\n"
}
