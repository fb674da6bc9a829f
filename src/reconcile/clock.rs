//! The time of a run.

use jiff::Timestamp;

use super::Error;
use crate::model::api::FleetSpec;

/// The time, and who tells it. The room that reads the clock is `cli/`.
#[derive(Clone, Copy)]
pub struct RunClock {
    /// What a person gave with `--now`.
    pub given: Option<Timestamp>,
    /// What the clock on the wall said when the run began.
    pub wall: Timestamp,
}

/// The time of a run: what a person gave, else what the fleet pins, else the clock.
pub(super) fn now(clock: RunClock, spec: &FleetSpec) -> Result<Timestamp, Error> {
    if let Some(given) = clock.given {
        return Ok(given);
    }
    match &spec.example {
        Some(example) => example.now.parse().map_err(|_| Error::NotATime {
            text: example.now.clone(),
            whose: "spec.example.now in carp.yaml".to_owned(),
        }),
        None => Ok(clock.wall),
    }
}
