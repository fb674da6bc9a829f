//! By how much the best worker is better than the second one, for people.

use crate::model::{Rank, Term};

/// What the two have of the term that tells them apart, the better one first.
pub(super) fn between(best: &Rank, second: &Rank, term: Term) -> String {
    match term {
        Term::AffinityGroup => format!("{} before {}", group(best), group(second)),
        Term::SoftViolations => {
            format!("{} against {}", best.soft_violations, second.soft_violations)
        }
        Term::PreferredAffinity => {
            let (best, second) = (best.own_preferred(), second.own_preferred());
            if best == second {
                return "carp's own policy prefers it".to_owned();
            }
            format!("weight {best} against {second}")
        }
        Term::LocationDistance => {
            format!("{} against {}", distance(best.distance), distance(second.distance))
        }
        Term::ShareUsed => share(best.share, second.share),
        Term::Clusters => format!("{} against {}", best.clusters, second.clusters),
        Term::Name => format!("{} before {}", best.worker, second.worker),
    }
}

/// The place of the group as people count.
fn group(rank: &Rank) -> String {
    format!("group {}", rank.group.map_or(0, |at| at + 1))
}

fn distance(distance: u32) -> &'static str {
    match distance {
        0 => "same location",
        1 => "paired location",
        2 => "same geography",
        _ => "elsewhere",
    }
}

/// Whole per cents where they differ, otherwise the exact fractions.
fn share(best: (i128, i128), second: (i128, i128)) -> String {
    let percent = |(used, of): (i128, i128)| used.saturating_mul(100) / of.max(1);
    let (a, b) = (percent(best), percent(second));
    if a == b {
        return format!("{}/{} used against {}/{}", best.0, best.1, second.0, second.1);
    }
    format!("{a} % used against {b} %")
}

#[cfg(test)]
mod tests {
    use crate::plan::world::World;

    #[test]
    fn the_margin_speaks_of_the_deciding_term() {
        for (world, margin) in [
            ("worker w1; worker w2 taint:k=v:PreferNoSchedule; cluster a", "0 against 1"),
            (
                "worker w1 label:z=1; worker w2 label:z=2; policy p built-in prefer:1:z=1;
                 cluster a prefer:7:z=2",
                "weight 7 against 0",
            ),
            (
                "worker w1; worker w2 label:z=2; policy p built-in prefer:1:z=2; cluster a",
                "carp's own policy prefers it",
            ),
            (
                "worker w1 label:z=1; worker w2; policy p prefer:7:z=1; cluster a",
                "weight 7 against 0",
            ),
            (
                "worker w1 at=northeurope; worker w2 at=eastus; cluster a at=westeurope",
                "paired location against elsewhere",
            ),
            ("worker w1 0/4; worker w2 2/4; cluster a", "25 % used against 75 %"),
            ("worker w1 1/4; worker w2 3/8; cluster a", "1 against 3"),
            ("worker w1 0/4; worker w2 0/4; cluster a", "w1 before w2"),
        ] {
            let told = World::read(world).explain("a");
            assert_eq!(told.margin.as_deref(), Some(margin), "{world}");
        }
    }

    #[test]
    fn shares_that_round_alike_are_told_apart_exactly() {
        let told = World::read("worker w1 0/1000; worker w2 0/999; cluster a").explain("a");
        assert_eq!(told.margin.as_deref(), Some("1/1000 used against 1/999"));
    }
}
