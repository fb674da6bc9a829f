//! Sums of resources. A resource of which there is nothing is left out, so that equal amounts are
//! equal maps.

use crate::model::{Quantity, Resources};

/// How much of a resource there is; nothing where it is not named.
pub(super) fn of(amounts: &Resources, resource: &str) -> Quantity {
    amounts.get(resource).copied().unwrap_or_default()
}

/// Adds amounts to others.
pub(super) fn add(to: &mut Resources, amounts: &Resources) {
    change(to, amounts, Quantity::plus);
}

/// Adds amounts to others so many times.
pub(super) fn add_times(to: &mut Resources, amounts: &Resources, times: u64) {
    change(to, amounts, |sum, amount| sum.plus(amount.times(times)));
}

/// Takes amounts from others.
pub(super) fn take(from: &mut Resources, amounts: &Resources) {
    change(from, amounts, Quantity::minus);
}

/// What of some amounts goes beyond others.
pub(super) fn beyond(amounts: &Resources, others: &Resources) -> Resources {
    let more = |(resource, amount): (&String, &Quantity)| {
        let more = amount.minus(of(others, resource));
        (more > Quantity::ZERO).then(|| (resource.clone(), more))
    };
    amounts.iter().filter_map(more).collect()
}

fn change(to: &mut Resources, amounts: &Resources, with: impl Fn(Quantity, Quantity) -> Quantity) {
    let to = &mut **to;
    // Mostly both name the same resources, and nothing need be searched for.
    let (mut sums, mut amounts, mut other, mut is_used_up) =
        (to.iter_mut(), amounts.iter(), None, false);
    for (resource, amount) in amounts.by_ref() {
        let Some((_, there)) = sums.next().filter(|(name, _)| *name == resource) else {
            other = Some((resource, amount));
            break;
        };
        *there = with(*there, *amount);
        is_used_up |= *there == Quantity::ZERO;
    }
    if is_used_up {
        to.retain(|_, there| *there != Quantity::ZERO);
    }
    for (resource, amount) in other.into_iter().chain(amounts) {
        if let Some(there) = to.get_mut(resource) {
            *there = with(*there, *amount);
            if *there == Quantity::ZERO {
                to.remove(resource);
            }
        } else if *amount != Quantity::ZERO {
            to.insert(resource.clone(), with(Quantity::ZERO, *amount));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_and_taken_leaves_no_trace() {
        let demand: Resources = [("mem".to_owned(), Quantity::units(2))].into();
        let before: Resources = [("clusters".to_owned(), Quantity::units(1))].into();
        let mut sum = before.clone();
        add(&mut sum, &demand);
        add(&mut sum, &demand);
        assert_eq!(of(&sum, "mem"), Quantity::units(4));
        take(&mut sum, &demand);
        take(&mut sum, &demand);
        assert_eq!(sum, before);
    }

    /// `a=3 b=2`.
    fn amounts(text: &str) -> Resources {
        let one = |pair: &str| {
            let (resource, amount) = pair.split_once('=').unwrap();
            (resource.to_owned(), Quantity::units(amount.parse().unwrap()))
        };
        text.split_whitespace().map(one).collect()
    }

    #[test]
    fn amounts_of_other_resources_are_added_and_taken() {
        for (there, other, sum) in [
            ("", "a=1 b=2", "a=1 b=2"),
            ("a=1 b=2", "a=3 b=4", "a=4 b=6"),
            ("a=1 b=2 d=3", "a=1 c=1 d=1", "a=2 b=2 c=1 d=4"),
            ("b=2", "a=1 b=1 c=1", "a=1 b=3 c=1"),
            ("a=1 c=1", "a=1", "a=2 c=1"),
        ] {
            let mut with = amounts(there);
            add(&mut with, &amounts(other));
            assert_eq!(with, amounts(sum), "{there} and {other}");
            take(&mut with, &amounts(other));
            assert_eq!(with, amounts(there), "{sum} without {other}");
        }
    }

    #[test]
    fn only_what_is_more_goes_beyond() {
        let more = beyond(&amounts("a=3 b=2 c=1 d=1"), &amounts("a=1 b=2 c=5"));
        assert_eq!(more, amounts("a=2 d=1"));
    }
}
