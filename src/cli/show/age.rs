//! Durations as kubectl writes them (`k8s.io/apimachinery`, `pkg/util/duration/duration.go`).

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// `5m`, `3d4h`, `2y10d`: the more it is, the coarser. A time that lies ahead is `0s`.
#[must_use]
pub fn duration(seconds: i64) -> String {
    let with = |unit: i64, name: &str, rest: i64, rest_name: &str| match seconds % unit / rest {
        0 => format!("{}{name}", seconds / unit),
        more => format!("{}{name}{more}{rest_name}", seconds / unit),
    };
    match seconds {
        ..=0 => "0s".to_owned(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => with(MINUTE, "m", 1, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => with(HOUR, "h", MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => with(DAY, "d", HOUR, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => with(YEAR, "y", DAY, "d"),
        s => format!("{}y", s / YEAR),
    }
}

/// How long ago a time was.
#[must_use]
pub fn since(time: Timestamp, now: Timestamp) -> String {
    duration(now.as_second().saturating_sub(time.as_second()))
}

/// How long ago a time was that stands there as text; what is no time gives `-`.
#[must_use]
pub fn since_text(time: Option<&str>, now: Timestamp) -> String {
    time.and_then(|t| t.parse().ok()).map_or_else(|| "-".to_owned(), |t| since(t, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_in_kubectl() {
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (10 * 60, "10m"),
            (179 * 60, "179m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 240, "3h4m"),
            (8 * 3600, "8h"),
            (47 * 3600, "47h"),
            (2 * 86_400, "2d"),
            (3 * 86_400 + 4 * 3600, "3d4h"),
            (8 * 86_400, "8d"),
            (2 * 365 * 86_400 + 10 * 86_400, "2y10d"),
            (9 * 365 * 86_400, "9y"),
        ] {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn what_is_no_time_has_no_age() {
        let now = "2026-11-01T09:00:00Z".parse().unwrap();
        assert_eq!(since_text(Some("2026-11-01T08:55:00Z"), now), "5m");
        assert_eq!(since_text(Some("x"), now), "-");
        assert_eq!(since_text(None, now), "-");
    }
}
