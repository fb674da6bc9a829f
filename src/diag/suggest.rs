//! "Did you mean …?": the name that was meant, where a name is not known.

/// The candidate that is most like what was written, if one is like it at all.
#[must_use]
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = written.to_lowercase();
    let bound = (written.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|c| (strsim::osa_distance(&wanted, &c.to_lowercase()), c))
        .filter(|(distance, _)| *distance <= bound)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A help that names the nearest candidate, or lists them where none is near and they are few.
#[must_use]
pub fn help<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    if let Some(near) = nearest(written, candidates.clone()) {
        return format!("did you mean `{near}`?");
    }
    let all: Vec<_> = candidates.into_iter().collect();
    match all.len() {
        0 => format!("{what}: there are none"),
        1..=20 => format!("{what}: {}", all.join(", ")),
        count => format!("{what}: {}, and {} more", all[..10].join(", "), count - 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        assert_eq!(nearest("lables", ["name", "labels"]), Some("labels"));
        assert_eq!(nearest("NodePools", ["nodePools", "network"]), Some("nodePools"));
        assert_eq!(nearest("colour", ["version", "location"]), None);
    }

    #[test]
    fn where_nothing_is_near_all_are_listed() {
        assert_eq!(help("x", ["small", "large"], "classes"), "classes: small, large");
        assert_eq!(help("x", [], "classes"), "classes: there are none");
        let many: Vec<_> = (0..25).map(|i| format!("location{i}")).collect();
        let text = help("x", many.iter().map(String::as_str), "locations");
        assert!(text.ends_with("location9, and 15 more"), "{text}");
    }
}
