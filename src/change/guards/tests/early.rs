//! Acknowledgements that were there before anybody could have seen what they name.

use super::*;

#[test]
fn an_acknowledgement_that_nobody_could_have_meant_covers_nothing() {
    let mut plan = deleting(4);
    let mut previous = placed(10);
    run(&mut plan, &Fleet::default(), &previous);
    let hold = plan.holds[0].clone();
    let fleet = acknowledging(&hold);
    let count = |previous: &Previous, fleet: &Fleet| {
        let mut plan = deleting(4);
        let used = run(&mut plan, fleet, previous);
        let good = Acknowledged::new(fleet, previous.fleet.as_ref(), &Vouching::default());
        (
            used.len(),
            kept(&plan),
            good.held(&plan.holds, &Lasting::new()),
            mismatches(fleet, &good, &plan.holds, &[]),
        )
    };
    let (used, kept, sets, told) = count(&previous, &fleet);
    assert_eq!((used, kept), (0, 4), "it came with what it acknowledges");
    assert_eq!(sets[0].early, [name("yes")], "and is remembered as such");
    assert_eq!(told[0].code, crate::diag::Code::AcknowledgementTooEarly);
    left(&mut previous, &hold, &["yes"]);
    let (used, kept, again, _) = count(&previous, &fleet);
    assert_eq!((used, kept), (0, 4), "the next run knows it again");
    assert_eq!(again, sets);
    let (_, _, sets, _) = count(&previous, &Fleet::default());
    assert_eq!(sets[0].early, [], "until its document is gone");
    left(&mut previous, &hold, &[]);
    assert_eq!(count(&previous, &fleet).0, 1, "and comes back");
    // Both guards must allow it to come at once.
    let both = Guards { same_commit: Some(true), ..Guards::default() };
    let mut allowing = fleet.clone();
    allowing.spec.guards = Some(both);
    previous.fleet = Some(lock(Vec::new()));
    assert_eq!(
        count(&previous, &allowing).0,
        0,
        "a commit that loosens it does not profit from it"
    );
    previous.fleet = Some(FleetLock { guards: both, ..lock(Vec::new()) });
    assert_eq!((count(&previous, &allowing).0, count(&previous, &fleet).0), (1, 0));
}

#[test]
fn where_signatures_are_asked_for_only_who_may_is_heard_and_never_early() {
    let mut plan = deleting(4);
    let mut previous = placed(10);
    run(&mut plan, &Fleet::default(), &previous);
    let hold = plan.holds[0].clone();
    let mut fleet = acknowledging(&hold);
    let line = "alice@x ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA".to_owned();
    fleet.spec.acknowledgements =
        Some(AcknowledgementSettings { allowed_signers: vec![line.clone()], two_person: false });
    let of = AcknowledgementKind::Deletions;
    let good = |previous: &Previous, vouching: &Vouching| {
        Acknowledged::new(&fleet, previous.fleet.as_ref(), vouching)
    };
    let (nobody, alice) = (Vouching::default(), Vouching::of_all([name("yes")]));
    left(&mut previous, &hold, &[]);
    assert_eq!(good(&previous, &nobody).covers(of, &hold), None, "nobody looked");
    assert_eq!(good(&previous, &alice).covers(of, &hold), Some(name("yes")));
    let told = mismatches(&fleet, &good(&previous, &nobody), &[], &[]);
    assert_eq!(told[0].code, crate::diag::Code::AcknowledgementNotVouched);
    assert!(told[0].help.as_ref().unwrap().ends_with("alice@x"));
    // Those in force are asked also where the input asks nobody any more.
    let mut lock = previous.fleet.clone().unwrap();
    lock.signers.acknowledgements = vec![line];
    let quiet = acknowledging(&hold);
    assert_eq!(Acknowledged::new(&quiet, Some(&lock), &nobody).covers(of, &hold), None);
    // One that came too soon is early whoever signed it, and so it is once its signer may.
    previous.fleet = None;
    let sets = good(&previous, &nobody).held(&plan.holds, &Lasting::new());
    assert_eq!(sets[0].early, [name("yes")]);
    left(&mut previous, &hold, &["yes"]);
    assert_eq!(good(&previous, &alice).covers(of, &hold), None);
}
