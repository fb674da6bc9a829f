//! How many more clusters of a class fit.

use serde::Serialize;

/// The runway of one class for one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunwayRow {
    /// The class; `None`: clusters without one.
    pub class: Option<String>,
    /// The tenant; `None` where the fleet lists none.
    pub tenant: Option<String>,
    /// As it is.
    pub now: RunwayCount,
    /// With the changes; left out without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<RunwayCount>,
}

/// How many fit, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunwayCount {
    /// How many more.
    pub fits: u64,
    /// Whether that is only where counting ended.
    pub at_least: bool,
    /// Where they would go.
    pub rooms: Vec<RoomView>,
    /// What stops the next one, as codes.
    pub reasons: Vec<String>,
    /// The same in one line.
    pub limit: Option<String>,
}

/// How many of them are where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomView {
    /// The workers' location.
    pub location: String,
    /// Their pool.
    pub pool: Option<String>,
    /// How many.
    pub fits: u64,
    /// How many of these only once workers have grown beyond their capacity.
    pub grown: u64,
    /// How many of these only on workers that the pool would make.
    pub made: u64,
}

impl RunwayCount {
    /// `12`, or `10000+`.
    pub(super) fn words(&self) -> String {
        format!("{}{}", self.fits, if self.at_least { "+" } else { "" })
    }

    /// `westeurope 8; eastus (gpu) 4, 2 of them on new workers`.
    pub(super) fn where_words(&self) -> String {
        let room = |room: &RoomView| {
            let pool = room.pool.as_ref().map(|pool| format!(" ({pool})")).unwrap_or_default();
            let grown = of_them(room.grown, room.fits, "once workers have grown");
            let made = of_them(room.made, room.fits, "on new workers");
            format!("{}{pool} {}{grown}{made}", room.location, room.fits)
        };
        self.rooms.iter().map(room).collect::<Vec<_>>().join("; ")
    }
}

/// `, 2 of them once workers have grown`, or ` on new workers` where all are so.
fn of_them(some: u64, all: u64, what: &str) -> String {
    match some {
        0 => String::new(),
        some if some == all => format!(" {what}"),
        some => format!(", {some} of them {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_they_would_go_is_said_by_location_and_pool() {
        let room = |location: &str, pool: Option<&str>, [fits, grown, made]: [u64; 3]| RoomView {
            location: location.to_owned(),
            pool: pool.map(str::to_owned),
            fits,
            grown,
            made,
        };
        let rooms = vec![
            room("eastus", Some("gpu"), [4, 0, 2]),
            room("eastus", Some("us-more"), [20, 0, 20]),
            room("westeurope", None, [8, 3, 0]),
        ];
        assert_eq!(
            RunwayCount { rooms, ..RunwayCount::default() }.where_words(),
            "eastus (gpu) 4, 2 of them on new workers; eastus (us-more) 20 on new workers; \
             westeurope 8, 3 of them once workers have grown"
        );
    }
}
