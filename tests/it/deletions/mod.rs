//! Deletions to their end, step by step, each by what the worker reports; and their twins, in which what is
//! reported is late, stale, of another cluster, incomplete or contradicts itself, so that nothing moves.

mod abandoned;
mod back;
mod delete;
mod orphan;
mod story;
mod workers;
