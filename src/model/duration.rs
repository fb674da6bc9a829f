//! Durations as documents say them.

/// Seconds of a duration such as `1h`, `90m` or `1h30m`; `None` where it is none, or zero.
#[must_use]
pub fn duration_seconds(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut total = 0_i64;
    for (unit, factor) in [('h', 3600), ('m', 60), ('s', 1)] {
        if let Some((number, after)) = rest.split_once(unit) {
            if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let number: i64 = number.parse().ok()?;
            total = total.checked_add(number.checked_mul(factor)?)?;
            rest = after;
        }
    }
    (rest.is_empty() && total > 0).then_some(total)
}
