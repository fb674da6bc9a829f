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
    /// The workers' location; `None`: of workers that nobody declared yet.
    pub location: Option<String>,
    /// Their pool.
    pub pool: Option<String>,
    /// How many.
    pub fits: u64,
    /// How many of these only once workers have grown beyond their capacity.
    pub grown: u64,
}

impl RunwayCount {
    /// `12`, or `10000+`.
    pub(super) fn words(&self) -> String {
        format!("{}{}", self.fits, if self.at_least { "+" } else { "" })
    }

    /// `westeurope 8, eastus (gpu) 4`.
    pub(super) fn where_words(&self) -> String {
        let room = |room: &RoomView| {
            let location = room.location.as_deref().unwrap_or("new workers");
            let pool = room.pool.as_ref().map(|pool| format!(" ({pool})")).unwrap_or_default();
            let grown = match room.grown {
                0 => String::new(),
                grown => format!(", {grown} of them once workers have grown"),
            };
            format!("{location}{pool} {}{grown}", room.fits)
        };
        self.rooms.iter().map(room).collect::<Vec<_>>().join("; ")
    }
}
