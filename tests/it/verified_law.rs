//! What `validate` verifies besides the documents is brought forward over edits, new clusters and removals: it says what a look
//! at everything says, over random histories of clusters and of the policies that select them.

use proptest::prelude::*;

use crate::affected_law::Standing;
use crate::memo_law::{Edit, apply};
use crate::support::breadth;

/// A policy of placement with this selector of clusters.
fn policy(name: &str, selector: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
         clusterSelector: {selector}\n"
    )
}

fn selector(n: u8) -> String {
    match n % 5 {
        0 => format!("{{names: [r{:02}, r{:02}]}}", n % 12, n / 2 % 12),
        1 => format!("{{matchLabels: {{team: t{}}}}}", n % 3),
        2 => format!("{{matchLabels: {{tag: t{}}}}}", n / 5 % 3),
        3 => "{matchExpressions: [{key: tag, operator: Exists}]}".to_owned(),
        _ => "{}".to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(16, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_verified_is_what_verifying_finds(
        policies in prop::collection::vec(any::<u8>(), 0..4),
        overrides in any::<Option<u8>>(),
        history in prop::collection::vec((0..6_u8, any::<u8>(), any::<u8>()), 1..9),
    ) {
        let mut standing = Standing::new();
        for cluster in 0..4 {
            apply(&mut standing.world, &Edit::Add(cluster));
        }
        for (at, of) in policies.iter().enumerate() {
            let name = format!("p{at}");
            standing.world.write(&format!("policies/{name}.yaml"), &policy(&name, &selector(*of)));
        }
        // One that loads.
        if let Some(n) = overrides {
            apply(&mut standing.world, &Edit::Override(n & !3));
        }
        for _ in 0..3 {
            standing.run();
        }
        for (kind, cluster, how) in history {
            let edit = match kind {
                0 => Edit::Add(cluster),
                1 => Edit::Remove(cluster),
                2 => Edit::Tag(cluster, how),
                3 => Edit::Label(cluster, how),
                4 => Edit::Pause(cluster, how & 1 != 0),
                _ => Edit::Comment(cluster, how),
            };
            apply(&mut standing.world, &edit);
            standing.is_found();
            standing.run();
            standing.is_found();
            standing.run();
            standing.is_found();
        }
    }
}

/// The small fleet with clusters more, which stands with these policies.
fn with(policies: &[(&str, &str)], more: &[u8], overrides: Option<u8>) -> Standing {
    let mut standing = Standing::new();
    for n in more {
        apply(&mut standing.world, &Edit::Add(*n));
    }
    if let Some(n) = overrides {
        apply(&mut standing.world, &Edit::Override(n));
    }
    for (name, selector) in policies {
        standing.world.write(&format!("policies/{name}.yaml"), &policy(name, selector));
    }
    for _ in 0..4 {
        standing.run();
    }
    assert!(standing.is_found(), "a look at everything left it");
    standing
}

#[test]
fn a_policy_that_selects_nobody_is_told_of_after_an_edit() {
    let mut standing = with(&[("p", "{names: [nobody]}")], &[2], None);
    apply(&mut standing.world, &Edit::Pause(2, true));
    assert!(standing.is_found(), "it is edited");
    assert!(standing.run() && standing.run() && standing.is_found(), "and stands");
    apply(&mut standing.world, &Edit::Tag(2, 1));
    assert!(!standing.is_found(), "the labels that there are may help");
}

#[test]
fn a_removal_says_nothing_of_policies_that_select_others() {
    let of = |selector| {
        let mut standing = with(&[("p", selector)], &[2], None);
        apply(&mut standing.world, &Edit::Remove(2));
        let before = standing.is_found();
        assert!(standing.run() && standing.run());
        assert_eq!(standing.is_found(), before);
        before
    };
    assert!(of("{}"), "it selects others");
    assert!(of("{names: [r02, alpha]}"), "it selects another");
    assert!(!of("{names: [r02]}"), "it selects nobody any more");
}

#[test]
fn what_an_override_finds_to_do_stands_where_it_was_not_tried() {
    let mut standing = with(&[], &[2], Some(8));
    for edit in [Edit::Pause(2, true), Edit::Add(3)] {
        apply(&mut standing.world, &edit);
        assert!(standing.is_found(), "{edit:?}");
        assert!(standing.run() && standing.run() && standing.is_found(), "{edit:?}");
    }
    let file = "fleet/clusters/alpha.yaml";
    let text = standing.world.files[file].replacen("spec:\n", "spec:\n  paused: true\n", 1);
    standing.world.write(file, &text);
    assert!(!standing.is_found(), "it was tried on the first");
}
