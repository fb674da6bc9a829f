//! Share used: the largest share of a resource's capacity that is used after the pick, over the
//! resources that the cluster takes, as an exact fraction. Smaller is better where clusters are spread,
//! larger where the policy packs them. For a cluster that fits nowhere now it is the share of what the
//! worker can grow to. Of workers that pools are making it is the share that stays unused: they are filled
//! one after the other, so that few are made.

use crate::model::api::Strategy;
use crate::model::{Quantity, Resources};
use crate::plan::amounts;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[
    DependsOn::Demand,
    DependsOn::Policies,
    DependsOn::Capacity,
    DependsOn::Ceiling,
    DependsOn::Allocated,
    DependsOn::Pending,
];

/// Numerator and denominator, in lowest terms.
pub(in crate::plan) fn after(request: &Request<'_>, candidate: &Candidate<'_>) -> (i128, i128) {
    let plan = &candidate.plan;
    let taken = request.demand().iter().filter(|(_, needs)| **needs != Quantity::ZERO);
    let amounts = taken.map(|(resource, needs)| {
        let used = candidate.allocated(resource).plus(*needs);
        (used, candidate.limit(resource))
    });
    // A policy that packs wants the larger share anyway.
    let is_filled = plan.pending.is_some() && request.strategy() == Strategy::Spread;
    lowest_terms(of_amounts(amounts, is_filled))
}

/// The share of what is used after the pick of each resource that the cluster takes and the most of it that counts; of a worker
/// that is to be filled what stays unused.
fn of_amounts(amounts: impl Iterator<Item = (Quantity, Quantity)>, is_filled: bool) -> (u64, u64) {
    let share = |(used, of): (Quantity, Quantity)| small(used.thousandths(), of.thousandths());
    filled(amounts.map(share).fold(NOTHING, larger), is_filled)
}

/// The share of what nobody takes anything of. What a share is of is at least 1.
pub(in crate::plan) const NOTHING: (u64, u64) = (0, 1);

/// The larger one of two shares.
pub(in crate::plan) fn larger(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
    if product(other.0, one.1) > product(one.0, other.1) { other } else { one }
}

/// What counts of a share: of a worker that is to be filled what stays unused.
pub(in crate::plan) fn filled((used, of): (u64, u64), is_filled: bool) -> (u64, u64) {
    if is_filled { (of.saturating_sub(used), of) } else { (used, of) }
}

/// A share as a number of 2^-126, rounded down: its higher and its lower half. Shares that differ do so by more than that, so they
/// are in order, and equal only where they are. What is used is at most what it is a share of.
pub(in crate::plan) fn in_order((used, of): (u64, u64)) -> [u64; 2] {
    let of = u128::from(of);
    let digit = |rest: u128| ((rest << 63) / of, (rest << 63) % of);
    let (high, rest) = digit(u128::from(used));
    let (low, _) = digit(rest);
    let half = |digit: u128| u64::try_from(digit).unwrap_or(u64::MAX);
    [half(high), half(low)]
}

fn lowest_terms((used, of): (u64, u64)) -> (i128, i128) {
    fraction(i128::from(used), i128::from(of))
}

/// A share of so many thousandths. Amounts that are small enough to be multiplied stand as they are, not in lowest terms: two shares
/// are compared all the same.
pub(in crate::plan) fn small(used: i128, capacity: i128) -> (u64, u64) {
    let small = |amount: i128| u64::try_from(amount).ok().filter(|amount| *amount <= MOST);
    match (small(used), small(capacity)) {
        (Some(used), Some(capacity)) if capacity > 0 => (used, capacity),
        _ => {
            let (used, capacity) = fraction(used, capacity);
            let fits = |amount| u64::try_from(amount).unwrap_or(MOST);
            (fits(used), fits(capacity))
        }
    }
}

/// The most that a part of a fraction can be.
const MOST: u64 = i64::MAX as u64;

/// The share used on the worker that a cluster is on, the cluster counted and these amounts not; `None`
/// where it is not known what the worker has.
pub(in crate::plan) fn there(
    request: &Request<'_>,
    candidate: &Candidate<'_>,
    without: &Resources,
) -> Option<(i128, i128)> {
    let plan = &candidate.plan;
    let taken = request.demand().iter().filter(|(_, needs)| **needs != Quantity::ZERO);
    let amounts = |(resource, _): (&String, &Quantity)| {
        let used = candidate.allocated(resource).minus(amounts::of(without, resource));
        Some((used, *plan.capacity.get(resource)?))
    };
    let amounts: Option<Vec<_>> = taken.map(amounts).collect();
    amounts.map(|amounts| lowest_terms(of_amounts(amounts.into_iter(), false)))
}

/// A fraction in its lowest terms, small enough that two can be multiplied. A worker without capacity
/// is never asked, and counts as full.
fn fraction(used: i128, capacity: i128) -> (i128, i128) {
    if capacity <= 0 || used < 0 {
        return (1, 1);
    }
    let divisor = greatest_common_divisor(used, capacity);
    let (mut used, mut capacity) = (used / divisor, capacity / divisor);
    while used > i128::from(MOST) || capacity > i128::from(MOST) {
        used >>= 1;
        capacity >>= 1;
    }
    (used, capacity.max(1))
}

/// What machines divide in one step is divided so: this stands in the innermost loop of a plan.
fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(mut a), Ok(mut b)) => {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            i128::from(a.max(1))
        }
        _ if b == 0 => a.max(1),
        _ => greatest_common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::world::check;

    #[test]
    fn the_worker_that_is_used_less_after_the_pick_is_taken() {
        check("worker w1 1/4; worker w2 2/9; cluster a", "a -> w2");
        check("worker w1 0/1; worker w2 8/10; cluster a", "a -> w2");
    }

    #[test]
    fn a_policy_that_packs_fills_one_worker_after_the_other() {
        let packs = "policy p for:env=dev packs; cluster a label:env=dev; cluster b label:env=dev;";
        check(&format!("worker w1 1/4; worker w2 2/9; {packs}"), "a -> w1; b -> w1");
        check(&format!("worker w1 2/4; worker w2 3/4; {packs}"), "a -> w2; b -> w1");
        check(
            &format!("worker w1 0/4; worker w2 0/9; {packs} cluster c"),
            "a -> w1; b -> w1; c -> w2",
        );
        // What is kept free stays free.
        check(&format!("worker w1 3/4 reserved=1; worker w2; {packs}"), "a -> w2; b -> w2");
    }

    #[test]
    fn packing_weighs_as_little_as_spreading() {
        check(
            "worker w1 8/9 at=eastus; worker w2 at=westeurope; policy p packs; cluster a",
            "a -> w2",
        );
    }

    #[test]
    fn equal_shares_are_equal_whatever_their_terms() {
        // 2/6 and 1/3 after the pick: the number of clusters decides.
        check("worker w1 1/6; worker w2 0/3; cluster a", "a -> w2");
    }

    #[test]
    fn the_largest_share_over_the_resources_counts() {
        check(
            "worker w1 0/10 cap:mem=4; worker w2 4/10 cap:mem=8; cluster a needs:mem=3",
            "a -> w2",
        );
    }

    #[test]
    fn of_what_can_grow_the_share_of_the_ceiling_counts() {
        check("worker w1 4/4 ceiling=6; worker w2 9/9 ceiling=20; cluster a", "a -> w2");
    }

    #[test]
    fn a_resource_that_the_cluster_does_not_take_does_not_count() {
        check(
            "worker w1 0/10 cap:mem=4; worker w2 1/10; cluster x on=w1 needs:mem=4; cluster a",
            "a -> w1; x on w1",
        );
    }

    #[test]
    fn shares_that_differ_differ_in_order() {
        let (most, half) = (MOST, MOST / 2);
        let shares = [
            (0, most),
            (1, most),
            (1, most - 1),
            (1, 3),
            (half - 1, most),
            (half, most - 1),
            (half, most - 2),
            (2, 3),
            (most - 2, most - 1),
            (most - 1, most),
            (most, most),
        ];
        let numbers = shares.map(in_order);
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
        assert_eq!(in_order((2, 6)), in_order((most / 7 * 2, most / 7 * 6)));
    }

    #[test]
    fn no_amount_is_too_large_and_no_capacity_is_divided_by() {
        assert_eq!(fraction(2, 4), (1, 2));
        assert_eq!(fraction(0, 4), (0, 1));
        assert_eq!(fraction(1, 0), (1, 1));
        let (used, capacity) = fraction(i128::MAX / 2, i128::MAX);
        assert!(used.checked_mul(capacity).is_some());
        assert!(capacity >= 1);
    }
}
