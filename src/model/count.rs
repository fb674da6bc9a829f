//! How many of something, in words: the one place that makes plurals.

use super::Quantity;

/// `1 cluster`, `4,750 clusters`. Of what is one, or takes an `s` as many.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// `1 cluster`, `2 clusters`, `3500m cpu`: an amount of a resource. Only what is counted in things has a plural.
#[must_use]
pub fn amount(of: Quantity, resource: &str) -> String {
    match resource.strip_suffix('s') {
        Some(one) if of == Quantity::units(1) => format!("{of} {one}"),
        _ => format!("{of} {resource}"),
    }
}

/// `4,750`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural_and_long_numbers_can_be_read() {
        let told = [0, 1, 2, 999, 1000, 4_750, 1_234_567].map(|number| count(number, "cluster"));
        let wanted = [
            "0 clusters",
            "1 cluster",
            "2 clusters",
            "999 clusters",
            "1,000 clusters",
            "4,750 clusters",
            "1,234,567 clusters",
        ];
        assert_eq!(told, wanted);
    }
}
