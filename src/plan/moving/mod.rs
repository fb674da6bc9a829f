//! Moves: which of the clusters that something names begin to move ([`begin`]), and where those go whose worker
//! takes nothing any more ([`target`]). [`rebalance`] names clusters where a person asks for it.
//!
//! No flavor can carry a cluster to another worker, so a move is a rebuild: a deletion by evidence on the
//! old worker, and a new, empty cluster on the new one, whose place there is kept from the first commit on.
//! Where the old worker is not heard of nothing is deleted: the move waits until a person says that the
//! worker is gone for ever (`abandon`), and is called off if it comes back. See `docs/adr/0032`.

mod begin;
mod rebalance;
mod target;
#[cfg(test)]
mod tests;
mod together;

pub(super) use begin::{begin, begin_for_violations};
pub(super) use rebalance::rebalance;
pub(super) use target::{choose_again, give_up};
pub(super) use together::note as note_together;
