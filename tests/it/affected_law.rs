//! A run that looks only at what a change affects says what a run says that looks at everything, over random
//! histories.

use carp::change::plan_digest;
use carp::model::{Baseline, KnownDocuments, Proposal, Snapshot};
use carp::pipeline::{baseline, propose_affected};
use proptest::prelude::*;

use crate::memo_law::{Edit, apply, edits};
use crate::support::breadth;
use crate::support::small;
use crate::support::world::World;

/// A world, and what its last run left standing.
struct Standing {
    world: World,
    baseline: Option<(Baseline, KnownDocuments)>,
}

impl Standing {
    fn new() -> Self {
        let mut standing = Self { world: World::new(small::files()), baseline: None };
        standing.run();
        standing.run();
        assert!(standing.baseline.is_some(), "the second run changes nothing");
        standing
    }

    /// What a run says that looks at what is affected; `None` where that may be anything.
    fn propose(&self) -> Option<(Proposal, Baseline)> {
        let (before, documents) = self.baseline.as_ref()?;
        // The reports themselves are not read.
        let snapshot = Snapshot { reports: None, ..self.world.snapshot() };
        propose_affected(&snapshot, self.world.reported(), &self.world.store, before, documents)
            .unwrap()
    }

    /// Runs once, as a reconcile does; returns whether it looked at what is affected alone.
    fn run(&mut self) -> bool {
        let snapshot = self.world.snapshot();
        if let Some((proposal, next)) = self.propose() {
            let afresh = self.world.propose_afresh();
            assert_same(&proposal, &afresh);
            self.world.commit(&proposal);
            let (before, _) = self.baseline.as_mut().unwrap();
            *before = next;
            return true;
        }
        let proposal = self.world.run();
        self.baseline = baseline(
            &snapshot,
            self.world.reported(),
            &proposal,
            &self.world.store,
            &self.world.memo,
        )
        .unwrap();
        false
    }
}

/// Both write the same bytes, and tell the same.
#[track_caller]
fn assert_same(narrow: &Proposal, whole: &Proposal) {
    assert_eq!(narrow.message, whole.message);
    let paths = |p: &Proposal| p.changes.iter().map(|c| c.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(narrow), paths(whole));
    assert_eq!(narrow.tree, whole.tree);
    assert_eq!(narrow.fold_tree, whole.fold_tree);
    assert_eq!(narrow.status_tree, whole.status_tree);
    assert_eq!(narrow.counts, whole.counts);
    assert_eq!(narrow.reported, whole.reported);
    assert_eq!(narrow.form.is_some(), whole.form.is_some());
    let digest = |p: &Proposal| plan_digest(&p.plan, &p.previous);
    assert_eq!(digest(narrow), digest(whole));
    assert!(whole.diagnostics.is_empty(), "{:?}", whole.diagnostics);
    assert!(whole.plan.holds.is_empty() && whole.gates.is_empty());
    assert!(narrow.valid_until.is_none_or(|at| whole.valid_until.is_some_and(|by| at <= by)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 320), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_is_never_what_a_change_affects(history in edits()) {
        let mut standing = Standing::new();
        for edit in &history {
            apply(&mut standing.world, edit);
            standing.run();
            standing.run();
        }
    }
}

#[test]
fn a_status_that_waits_is_written_by_the_next_run() {
    let mut standing = Standing::new();
    apply(&mut standing.world, &Edit::Add(1));
    (0..2).for_each(|_| assert!(!standing.run()));
    apply(&mut standing.world, &Edit::Tag(1, 1));
    let (proposal, next) = standing.propose().expect("it affects one cluster");
    assert_ne!(proposal.status_tree, standing.world.status.unwrap());
    // The output is written, and the status branch was written just now.
    standing.world.output = Some(proposal.tree);
    let (before, _) = standing.baseline.as_mut().unwrap();
    *before = next.with_status_of(before);
    assert!(standing.run(), "the cluster is looked at again");
    assert_eq!(standing.world.propose_afresh().counts, standing.baseline.unwrap().0.counts);
}

#[test]
fn an_edit_of_one_cluster_looks_at_that_cluster() {
    for edit in [Edit::Tag(1, 1), Edit::Pause(1, true), Edit::Version(1, 3), Edit::Comment(1, 1)] {
        let mut standing = Standing::new();
        apply(&mut standing.world, &Edit::Add(1));
        for _ in 0..2 {
            assert!(!standing.run(), "a new cluster is placed among all");
        }
        apply(&mut standing.world, &edit);
        let before = standing.world.output;
        assert!(standing.run(), "{edit:?}");
        let changed = standing.world.output != before;
        assert_eq!(changed, !matches!(edit, Edit::Comment(..)), "{edit:?}");
        // What was written is looked at once more, and stands then.
        assert!(standing.run());
        assert_eq!(standing.baseline.as_ref().unwrap().0.unsettled.len(), 0, "{edit:?}");
    }
}
