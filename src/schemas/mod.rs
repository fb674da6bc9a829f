//! What API servers accept: objects held against the `CustomResourceDefinition`s of a set, as a server would hold them,
//! and stricter: a field that the server would drop is a fault. Bytes in, verdicts out.
//!
//! A set is what somebody put into a folder, and is trusted as little as templates are: `bounds` says how large a
//! definition may be, `cost` what its rules may take, and expressions are of the kind that end
//! (`kind`). A definition is read when the first object of its kind is checked, and compiled once.
//!
//! What a server does besides is not done here: formats of texts, and rules that compare with the object before.

mod bounds;
mod cost;
mod definition;
mod extent;
mod kind;
mod published;
mod rules;
mod set;
mod structural;
mod words;

pub use published::{PublishedDefinition, published_definitions};
pub use set::CrdSet;
