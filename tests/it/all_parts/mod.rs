//! The whole loop against a real API server: a fleet, what carp renders of it, what Flux applies of that,
//! what Cluster API makes of it, what the agent reports, and what carp then says. And the way back: what
//! people remove goes step by step, each by what the agent reports of the one before.
//!
//! Flux, the controllers of Cluster API and the one of namespaces are played by the test; everything else
//! is real. It waits most of its time for others, and the first tests by name begin first.

mod deleting;
mod retiring;
mod running;
mod story;
mod twins;
