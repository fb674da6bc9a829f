//! What is explained, as people read it.

use super::super::wrap::WIDTH;
use super::*;

fn row(worker: &str, refused: &[&str], terms: &[(&str, &str)]) -> ExplainRow {
    ExplainRow {
        worker: worker.into(),
        refused: refused
            .iter()
            .map(|message| ReasonView { reason: "Word".into(), message: (*message).into() })
            .collect(),
        terms: terms.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
    }
}

#[test]
fn a_placed_cluster_shows_who_would_take_it_and_who_not() {
    let view = ExplainView {
        object: "cluster/pay-eu".into(),
        state: "bound to we-1".into(),
        policy: Some(PolicyView { name: "near".into(), origin: "policies/p.yaml".into() }),
        lost_policies: vec![LostView {
            policy: "default".into(),
            because: "the fleet's own, not built in".into(),
        }],
        rows: vec![
            row("we-1", &[], &[("distance", "0"), ("share", "3/10")]),
            row("ne-1", &[], &[("distance", "1"), ("share", "1/10")]),
            row("eu-2", &["cordoned", "needs 1 cluster, 0 free"], &[]),
        ],
        winner: Some("we-1".into()),
        runner_up: Some("ne-1".into()),
        decided_by: Some("location distance".into()),
        ..ExplainView::default()
    };
    insta::assert_snapshot!(text(&view, Palette::plain()), @r"
    cluster/pay-eu: bound to we-1
    policy: near (policies/p.yaml)
      before default: the fleet's own, not built in
    decided by: location distance (we-1 before ne-1)

    WORKER   DISTANCE   SHARE
    we-1     0          3/10
    ne-1     1          1/10

    WORKER   REFUSES BECAUSE
    eu-2     cordoned
             needs 1 cluster, 0 free
    ");
    assert!(json(&view).starts_with("{\n  \"schemaVersion\": 2,\n"), "{}", json(&view));
}

#[test]
fn a_pending_cluster_shows_what_would_place_it() {
    let view = ExplainView {
        object: "cluster/ml".into(),
        state: "pending, number 1 of 3 in the queue".into(),
        summary: Some(
            "0/1 workers are available: 1 worker(s) had untolerated taint {gpu=true:NoSchedule}."
                .into(),
        ),
        rows: vec![row("we-1", &["untolerated taint {gpu=true:NoSchedule}"], &[])],
        pools: vec![PoolRow {
            pool: "weu".into(),
            because: "it has as many workers as it may (max 3)".into(),
        }],
        remedies: vec![RemedyView {
            worker: "we-1".into(),
            changes: vec!["tolerate taint gpu=true:NoSchedule".into(), "uncordon we-1".into()],
            after: vec!["ml-1".into(), "ml-2".into()],
        }],
        ..ExplainView::default()
    };
    insta::assert_snapshot!(text(&view, Palette::plain()), @r"
    cluster/ml: pending, number 1 of 3 in the queue
    0/1 workers are available: 1 worker(s) had untolerated taint
      {gpu=true:NoSchedule}.

    WORKER   REFUSES BECAUSE
    we-1     untolerated taint {gpu=true:NoSchedule}

    POOL   MAKES NO WORKER BECAUSE
    weu    it has as many workers as it may (max 3)

    Any one of these would place it:
      - tolerate taint gpu=true:NoSchedule and uncordon we-1 (then we-1 takes it,
        after ml-1, ml-2)
    ");
}

#[test]
fn a_worker_shows_the_secrets_it_needs() {
    let view = ExplainView {
        object: "worker/we-1".into(),
        state: "Running".into(),
        secrets: vec![SecretView {
            name: "flux-system/fleet-read".into(),
            cluster: "hub".into(),
            once: "fleet".into(),
            why: "its Flux reads the output with it".into(),
            command: "kubectl create secret generic fleet-read \\\n  --from-file=identity".into(),
        }],
        notes: vec!["capacity: 10 clusters".into()],
        ..ExplainView::default()
    };
    insta::assert_snapshot!(text(&view, Palette::plain()), @r"
    worker/we-1: Running

    capacity: 10 clusters

    Secrets that Git must not hold:
      flux-system/fleet-read on hub, once per fleet: its Flux reads the output with it
        kubectl create secret generic fleet-read \
          --from-file=identity
    ");
}

#[test]
fn a_policy_shows_where_it_applies_and_where_it_does_not() {
    let view = ExplainView {
        object: "policy/gold".into(),
        state: "policies/p.yaml, priority 0, selects tier=gold".into(),
        applies_to: vec!["pay-eu".into(), "pay-us".into()],
        loses: vec![LossView {
            cluster: "ml".into(),
            to: "gpu".into(),
            because: "higher priority".into(),
        }],
        ..ExplainView::default()
    };
    insta::assert_snapshot!(text(&view, Palette::plain()), @r"
    policy/gold: policies/p.yaml, priority 0, selects tier=gold

    applies to 2 clusters:
      pay-eu, pay-us

    selects too, and does not apply to:
    CLUSTER   POLICY THAT APPLIES   BECAUSE
    ml        gpu                   higher priority
    ");
}

#[test]
fn the_longest_names_and_reasons_fit_into_eighty_columns() {
    let long = "w".repeat(40);
    let terms = [("soft", "0"), ("preferred", "0"), ("distance", "0"), ("share used", "100%")];
    let view = ExplainView {
        object: format!("cluster/{long}"),
        state: "pending".into(),
        summary: Some("0/9 workers are available: ".to_owned() + &"1 worker(s) did not ".repeat(9)),
        policy: Some(PolicyView { name: long.clone(), origin: format!("policies/{long}.yaml") }),
        rows: vec![
            row(&long, &[], &terms),
            row(&long, &[&"several words of a reason ".repeat(5), "cordoned"], &[]),
        ],
        winner: Some(long.clone()),
        runner_up: Some(long.clone()),
        decided_by: Some("share used".into()),
        remedies: vec![RemedyView {
            worker: long.clone(),
            changes: vec![format!("uncordon {long}"), format!("label {long} zone=1")],
            after: vec![long.clone(); 30],
        }],
        notes: vec!["word ".repeat(40)],
        ..ExplainView::default()
    };
    for line in text(&view, Palette::plain()).lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}

#[test]
fn what_many_workers_say_alike_is_said_once() {
    let mut rows: Vec<_> =
        (10..52).map(|n| row(&format!("we-{n}"), &["cordoned", "draining"], &[])).collect();
    rows.push(row("ne-1", &["needs 1 cluster, 0 free"], &[]));
    let view = ExplainView {
        object: "cluster/ml".into(),
        state: "pending, number 1 of 3 in the queue".into(),
        rows,
        ..ExplainView::default()
    };
    insta::assert_snapshot!(text(&view, Palette::plain()), @r"
    cluster/ml: pending, number 1 of 3 in the queue

    WORKER   REFUSES BECAUSE
    we-10, we-11, we-12, we-13, we-14 and 37 more
             cordoned
             draining
    ne-1     needs 1 cluster, 0 free
    ");
}

#[test]
fn of_many_workers_that_can_take_it_the_best_are_shown_and_its_own() {
    let shown = |workers: usize, on: &str| {
        let names = (0..workers).map(|nth| format!("w{nth:02}"));
        let rows = names.map(|name| row(&name, &[], &[("distance", "0")])).collect();
        let view = ExplainView { rows, on: Some(on.into()), ..ExplainView::default() };
        let text = text(&view, Palette::plain());
        text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>()
    };
    let last = |workers, on| shown(workers, on).pop().unwrap();
    assert_eq!(shown(20, "w00").len(), 20);
    assert_eq!(last(20, "w00"), "w19      0");
    assert_eq!(last(21, "w00"), "and 1 more worker can take it: `-o json` has all");
    assert_eq!(last(21, "w20"), "w20      0", "its own is the one");
    let many = shown(60, "w40");
    assert_eq!(
        many[19..],
        ["w19      0", "w40      0", "and 39 more workers can take it: `-o json` has all"]
    );
}

#[test]
fn that_another_worker_is_better_now_moves_nobody() {
    let view = ExplainView {
        object: "cluster/pay-eu".into(),
        state: "bound to w1, and stays there".into(),
        on: Some("w1".into()),
        winner: Some("w2".into()),
        runner_up: Some("w1".into()),
        decided_by: Some("share used".into()),
        margin: Some("25 % used against 50 %".into()),
        ..ExplainView::default()
    };
    assert_eq!(
        text(&view, Palette::plain()),
        "cluster/pay-eu: bound to w1, and stays there\nit stays on w1; placed anew it would go to w2: by share \
         used, 25 % used against\n  50 % (w2 before w1)\n"
    );
}
