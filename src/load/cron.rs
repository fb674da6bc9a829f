//! Times of cron, as a CronJob of Kubernetes takes them: five fields of numbers (robfig/cron/v3,
//! `ParseStandard`, which also takes names of months and days; numbers say the same).

/// The fields, each with its bounds.
const FIELDS: [(&str, u32, u32); 5] = [
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 6),
];

/// What is wrong with a schedule; `None` where a CronJob takes it.
pub(super) fn fault(schedule: &str) -> Option<String> {
    let fields: Vec<_> = schedule.split(' ').collect();
    if fields.len() != FIELDS.len() || fields.contains(&"") {
        return Some(format!("`{schedule}` is not five fields with one blank between them"));
    }
    let wrong = |(text, (_, low, high)): &(&&str, &(&str, u32, u32))| {
        !text.split(',').all(|part| is_part(part, *low, *high))
    };
    let (text, (what, low, high)) = fields.iter().zip(&FIELDS).find(wrong)?;
    Some(format!("`{text}` is no {what}, which is from {low} to {high}"))
}

/// `*`, a number, or a range, each with a step or without.
fn is_part(part: &str, low: u32, high: u32) -> bool {
    let (range, step) = part.split_once('/').map_or((part, None), |(r, s)| (r, Some(s)));
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|n| plain && (low..=high).contains(n))
    };
    let steps = step.is_none_or(|step| {
        let plain = !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit());
        plain && step.parse().is_ok_and(|n: u32| (1..=high).contains(&n))
    });
    let ranges = match range.split_once('-') {
        Some((from, to)) => {
            let both: Option<(u32, u32)> = number(from).zip(number(to));
            both.is_some_and(|(from, to)| from <= to)
        }
        None => range == "*" || number(range).is_some(),
    };
    steps && ranges
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn a_schedule_has_five_fields_within_their_bounds() {
        for good in ["0 */6 * * *", "5,35 0-23/2 1 1-12 0", "59 23 31 12 6"] {
            assert_eq!(fault(good), None, "{good}");
        }
        for (bad, told) in [
            ("@daily", "`@daily` is not five fields with one blank between them"),
            ("0  6 * * *", "`0  6 * * *` is not five fields with one blank between them"),
            ("60 * * * *", "`60` is no minute, which is from 0 to 59"),
            ("0 24 * * *", "`24` is no hour, which is from 0 to 23"),
            ("0 0 0 * *", "`0` is no day of the month, which is from 1 to 31"),
            ("0 0 * JAN *", "`JAN` is no month, which is from 1 to 12"),
            ("*/0 * * * *", "`*/0` is no minute, which is from 0 to 59"),
            ("5-1 * * * *", "`5-1` is no minute, which is from 0 to 59"),
            ("+5 * * * *", "`+5` is no minute, which is from 0 to 59"),
        ] {
            assert_eq!(fault(bad).as_deref(), Some(told));
        }
    }
}
