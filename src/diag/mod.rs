//! How carp speaks about users' mistakes: plain data, collected, rendered at the edge.
//!
//! A [`Diagnostic`] names *what* is wrong, *where* (a file and a field path; line and column are found
//! by reading that document again when the finding is shown) and *what to do*. The world's failures
//! (a disk, a remote) are not diagnostics; each I/O room has an error enum of its own.

mod code;
mod diagnostic;
mod severity;
pub mod suggest;
pub mod visible;

pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, FieldPath, Place, Position, Step};
pub use severity::Severity;
