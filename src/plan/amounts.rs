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

fn change(to: &mut Resources, amounts: &Resources, with: fn(Quantity, Quantity) -> Quantity) {
    let to = &mut **to;
    // Mostly both name the same resources, and nothing need be searched for.
    if to.len() == amounts.len() && to.keys().eq(amounts.keys()) {
        for (there, amount) in to.values_mut().zip(amounts.values()) {
            *there = with(*there, *amount);
        }
        if to.values().any(|there| *there == Quantity::ZERO) {
            to.retain(|_, there| *there != Quantity::ZERO);
        }
        return;
    }
    for (resource, amount) in amounts {
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

    #[test]
    fn only_what_is_more_goes_beyond() {
        let amounts = |text: &str| -> Resources {
            let one = |pair: &str| {
                let (resource, amount) = pair.split_once('=').unwrap();
                (resource.to_owned(), Quantity::units(amount.parse().unwrap()))
            };
            text.split(' ').map(one).collect()
        };
        let more = beyond(&amounts("a=3 b=2 c=1 d=1"), &amounts("a=1 b=2 c=5"));
        assert_eq!(more, amounts("a=2 d=1"));
    }
}
