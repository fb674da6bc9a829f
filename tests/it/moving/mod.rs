//! Moves to their end: workers that apply what is committed and report what became of it, or fall silent.

mod drains;
mod losses;
mod midway;
mod rebalances;
mod stage;
