//! The controller as the program itself: what wakes it, what stops it, what it tells, what it bears.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::support::controller::{Controller, wait_until};
use crate::support::people::Person;
use crate::support::small::{self, cluster};
use crate::support::{Access, Remote, Server, git, skip};

const OUTPUT: &str = "refs/heads/carp/rendered";
const STATUS: &str = "refs/heads/carp/status";
const SECRET: &str = "it is a secret to everybody";

/// A fleet on a remote, not reconciled yet.
fn fleet() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    (remote, person)
}

fn commits(remote: &Remote, branch: &str) -> u32 {
    if remote.at(branch).is_none() {
        return 0;
    }
    git(&remote.path(), &["rev-list", "--count", branch]).parse().unwrap()
}

fn is_rendered(remote: &Remote, name: &str) -> bool {
    let tree = git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    tree.contains(&format!("clusters/{name}/cluster.yaml"))
}

fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let mut digits = String::new();
    for byte in mac.finalize().into_bytes() {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// No lock file is left in a Git directory.
fn no_lock_in(git_dir: &Path) {
    let found = std::process::Command::new("find").arg(git_dir).args(["-name", "*.lock"]).output();
    assert_eq!(String::from_utf8_lossy(&found.unwrap().stdout), "");
}

/// The folder is not watched: the remote is not a path.
#[test]
fn a_webhook_wakes_it_and_only_with_its_signature() {
    let name = "a_webhook_wakes_it_and_only_with_its_signature";
    let (remote, person) = fleet();
    let Some(server) = Server::start(remote.root(), Access::Open) else {
        return skip(name, "git has no http-backend");
    };
    let url = server.url("fleet.git", None);
    git(&person.path(), &["remote", "set-url", "origin", &url]);
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), format!("{SECRET}\n")).unwrap();
    let file = secret.path().to_str().unwrap();
    let mut controller = Controller::start(&person.path(), &["--webhook-secret-file", file], &[]);
    controller.wait_for("committed carp/rendered");
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));

    let body = "{\"ref\": \"refs/heads/main\"}";
    let hub = |signature: &str| format!("X-Hub-Signature-256: sha256={signature}");
    let good = signature(body);
    for (path, header, body, code) in [
        ("/hook/github", hub(&good), "{}", 401),
        ("/hook/github", hub(&good[..62]), body, 401),
        ("/hook/github", String::new(), body, 401),
        ("/hook/gitlab", "X-Gitlab-Token: wrong".to_owned(), body, 401),
        ("/hook/nobody", hub(&good), body, 404),
    ] {
        let answer = controller.post(path, &header, body);
        assert_eq!(answer.code, code, "{path} {header}: {answer:?}");
    }
    let large = "x".repeat(3 << 20);
    assert_eq!(controller.post("/hook/github", &hub(&good), &large).code, 413);
    assert!(controller.metric("carp_hints_total{hint=\"hook\"}") < 1.0);
    assert!(!is_rendered(&remote, "golf"));

    assert_eq!(controller.post("/hook/github", &hub(&good), body).code, 202);
    wait_until("golf is rendered", || is_rendered(&remote, "golf"));
    let token = format!("X-Gitlab-Token: {SECRET}");
    assert_eq!(controller.post("/hook/gitlab", &token, "").code, 202);
    let generic = format!("X-Signature: sha256={good}");
    assert_eq!(controller.post("/hook/generic", &generic, body).code, 202);
    assert!(!controller.logged().contains(SECRET));
}

#[test]
fn a_ref_that_moves_on_this_machine_wakes_it() {
    let (remote, person) = fleet();
    let mut controller = Controller::start(&person.path(), &[], &[]);
    controller.wait_for("committed carp/rendered");
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    wait_until("golf is rendered", || is_rendered(&remote, "golf"));
    controller.wait_until("it says so", |c| c.metric("carp_hints_total{hint=\"folder\"}") > 0.0);
    assert_eq!(controller.get("/healthz").code, 200);
    let ready = controller.get("/readyz");
    assert_eq!((ready.code, ready.body.as_str()), (200, "ready\n"));
    let committed = "carp_reconcile_total{result=\"committed\"}";
    controller.wait_until("both are counted", |c| c.metric(committed) >= 2.0);
    assert!(controller.metric("carp_clusters{phase=\"Pending\"}") < 1.0);
}

#[test]
fn a_signal_ends_it_well_and_leaves_no_lock() {
    let (remote, person) = fleet();
    for signal in ["TERM", "INT"] {
        let mut controller = Controller::start(&person.path(), &[], &[]);
        controller.wait_for("INFO");
        controller.signal(signal);
        assert_eq!(controller.ended().code(), Some(0), "{signal}: {}", controller.logged());
        no_lock_in(&person.path().join(".git"));
        no_lock_in(&remote.path());
    }
}

/// The remote holds every push until it is let go.
fn holding(remote: &Remote, gate: &Path) {
    let script = format!(
        "#!/bin/sh\ntouch '{0}/arrived'\nn=0\nwhile [ ! -e '{0}/go' ] && [ $n -lt 600 ]; do sleep 0.1; \
         n=$((n+1)); done\n",
        gate.display()
    );
    remote.hook("pre-receive", &script);
}

#[test]
fn a_turn_that_outlasts_the_grace_is_abandoned_and_the_next_begins_anew() {
    for second_signal in [false, true] {
        let (remote, person) = fleet();
        let gate = tempfile::tempdir().unwrap();
        holding(&remote, gate.path());
        let grace = if second_signal { "10m" } else { "5s" };
        let mut controller = Controller::start(&person.path(), &["--grace", grace], &[]);
        wait_until("the push is under way", || gate.path().join("arrived").exists());
        controller.signal("TERM");
        controller.wait_for("told to stop");
        assert!(controller.get("/readyz").body.starts_with("stopping"));
        if second_signal {
            controller.signal("TERM");
        }
        assert_eq!(controller.ended().code(), Some(0), "{}", controller.logged());
        assert_eq!(remote.at(OUTPUT), None, "it was held all the time");
        fs::write(gate.path().join("go"), "").unwrap();
        // What was under way may arrive or not; the next turn looks.
        remote.hook("pre-receive", "#!/bin/sh\nexit 0\n");
        let again = person.carp(&["reconcile", "--once"]);
        assert!(again.status.success(), "{}", crate::support::people::printed(&again));
        assert!(is_rendered(&remote, "alpha"));
        assert_eq!(commits(&remote, OUTPUT), 1);
    }
}

#[test]
fn a_refusal_for_good_is_said_once_and_tried_again_when_something_changed() {
    let (remote, person) = fleet();
    let pushes = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "#!/bin/sh\nwhile read old new ref; do case $ref in */carp/rendered) echo x >> '{}'; \
         echo 'the branch is protected' >&2; exit 1;; esac; done\n",
        pushes.path().display()
    );
    remote.hook("pre-receive", &script);
    let tried = || fs::read_to_string(pushes.path()).unwrap().lines().count();
    let args = ["--interval", "1s", "--log-level", "debug"];
    let mut controller = Controller::start(&person.path(), &args, &[]);
    controller.wait_for("was not accepted by the remote");
    for _ in 0..2 {
        controller.wait_for("the remote refused this commit before");
    }
    assert_eq!(tried(), 1, "{}", controller.logged());
    let ready = controller.get("/readyz");
    assert_eq!(ready.code, 503);
    assert!(ready.body.starts_with("degraded: held back"), "{ready:?}");
    assert_eq!(controller.get("/healthz").code, 200);

    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    controller.wait_for("was not accepted by the remote");
    assert_eq!(tried(), 2, "the input changed");
    remote.hook("pre-receive", "#!/bin/sh\nexit 0\n");
    person.push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    controller.wait_for("committed carp/rendered");
    controller.wait_until("it is ready", |c| c.get("/readyz").code == 200);
}

#[test]
fn a_host_that_is_down_is_waited_for_and_caught_up_in_one_commit() {
    let (remote, person) = fleet();
    let mut controller = Controller::start(&person.path(), &["--interval", "1s"], &[]);
    controller.wait_for("committed carp/rendered");
    let before = commits(&remote, OUTPUT);
    let away = remote.root().join("away.git");
    fs::rename(remote.path(), &away).unwrap();
    controller.wait_until("it is degraded", |c| c.get("/readyz").code == 503);
    assert_eq!(controller.get("/healthz").code, 200);
    assert!(controller.metric("carp_reconcile_failures_total{kind=\"remote\"}") >= 3.0);
    // Meanwhile people go on, over another way.
    git(&person.path(), &["remote", "set-url", "--push", "origin", away.to_str().unwrap()]);
    for name in ["golf", "hotel"] {
        person.push_one(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    git(&person.path(), &["config", "--unset", "remote.origin.pushurl"]);
    fs::rename(&away, remote.path()).unwrap();
    controller.wait_for("committed carp/rendered");
    controller.wait_until("it is ready", |c| c.get("/readyz").code == 200);
    assert!(is_rendered(&remote, "golf") && is_rendered(&remote, "hotel"));
    assert_eq!(commits(&remote, OUTPUT), before + 1, "in one commit");
}

#[test]
fn status_commits_that_can_wait_do_and_an_input_commit_alone_makes_none() {
    let (remote, person) = fleet();
    // At a time that stands still, no minute passes.
    let args = ["--interval", "1s", "--now", "2026-11-01T09:00:00Z"];
    let mut controller = Controller::start(&person.path(), &args, &[]);
    controller.wait_for("committed carp/rendered");
    controller.wait_until("the status is told", |_| remote.at(STATUS).is_some());
    let before = commits(&remote, STATUS);
    for (number, name) in ["golf", "hotel"].into_iter().enumerate() {
        person.push_one(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
        wait_until("it is rendered", || is_rendered(&remote, name));
        let done = controller.metric("carp_reconcile_total{result=\"committed\"}");
        assert!(done > f64::from(u32::try_from(number).unwrap()));
    }
    assert_eq!(commits(&remote, STATUS), before, "the last one is younger than a minute");
    drop(controller);
    // A run of its own does not wait: nobody comes after it.
    let once = |remote: &Remote| {
        let ran = person.carp(&["reconcile", "--once"]);
        assert!(ran.status.success(), "{}", crate::support::people::printed(&ran));
        commits(remote, STATUS)
    };
    assert_eq!(once(&remote), before + 1);
    person.push_one("README.md", "A file that carp does not read.\n");
    assert_eq!(once(&remote), before + 1, "an input commit alone is no news");
}

#[test]
fn a_turn_is_told_as_a_document() {
    let (remote, person) = fleet();
    let run = |args: &[&str]| {
        let output = person.carp(&[&["reconcile", "--once", "--output", "json"], args].concat());
        let turn: carp::model::Turn = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", crate::support::people::printed(&output)));
        (output.status.code(), turn)
    };
    let (exit, first) = run(&[]);
    assert_eq!((exit, first.outcome.name()), (Some(0), "committed"));
    assert_eq!(first.written.as_ref().map(|w| w.commit), remote.at(OUTPUT));
    assert_eq!((first.counts.bound, first.counts.pending), (6, 0), "{first:?}");
    let (_, second) = run(&[]);
    assert_eq!((second.outcome.name(), second.inputs), ("unchanged", first.inputs));

    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    remote.hook("pre-receive", "#!/bin/sh\necho 'no' >&2\nexit 1\n");
    let (exit, refused) = run(&[]);
    assert_eq!((exit, refused.outcome.name()), (Some(1), "failed"));
    let orders =
        carp::model::TurnConstraints { refused: refused.attempt.clone(), ..Default::default() };
    let orders = serde_json::to_string(&orders).unwrap();
    let (_, held) = run(&["--orders", &orders]);
    assert_eq!(held.outcome.name(), "held", "{held:?}");
    let still = carp::model::TurnConstraints { breaker: held.inputs, ..Default::default() };
    let (_, held) = run(&["--orders", &serde_json::to_string(&still).unwrap()]);
    assert_eq!(held.held, Some(carp::model::HeldBack::Breaker));
}

#[test]
fn the_log_is_for_programs_too() {
    let (_remote, person) = fleet();
    let args = ["--log-format", "json", "--log-level", "debug"];
    let mut controller = Controller::start(&person.path(), &args, &[]);
    let line = controller.wait_for("committed carp/rendered");
    // A turn is a process of its own, and logs as the controller does.
    let all = controller.logged();
    for line in all.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    assert!(all.contains("\"propose\""), "how long parts of the turn took: {all}");
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (line["level"].as_str(), line["outcome"].as_str()),
        (Some("INFO"), Some("committed"))
    );
    assert!(line["commit"].as_str().is_some_and(|commit| commit.len() == 40), "{line}");
    assert!(line["message"].as_str().is_some_and(|m| m.starts_with("committed")), "{line}");
}

#[test]
fn a_push_budget_is_kept_whoever_asks_for_a_turn() {
    let (remote, person) = fleet();
    let pushes = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "#!/bin/sh\nwhile read old new ref; do case $ref in */carp/*) date +%s >> '{}';; esac; done\n",
        pushes.path().display()
    );
    remote.hook("post-receive", &script);
    let times = || -> Vec<u64> {
        let text = fs::read_to_string(pushes.path()).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    // Three seconds a push.
    let budget = format!("{}  git: {{pushBudget: 20}}\n", small::FLEET);
    person.push_one("carp.yaml", &budget);
    let args = ["--interval", "1s", "--log-level", "debug"];
    let mut controller = Controller::start(&person.path(), &args, &[]);
    controller.wait_for("the next turn comes after a pause");
    // The hook runs after the ref has moved, and may take its time.
    wait_until("both pushes are noted", || times().len() >= 2);
    let first = times();
    assert_eq!(first.len(), 2, "the output and the status");
    // The folder is watched, so each of these asks for a turn at once.
    for name in ["golf", "hotel"] {
        person.push_one(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    wait_until("both are rendered", || {
        is_rendered(&remote, "golf") && is_rendered(&remote, "hotel")
    });
    wait_until("the next push is noted", || times().len() > 2);
    let next = times()[2];
    // The hook counts whole seconds.
    assert!(next + 1 >= first[1] + 6, "{first:?} {next}: {}", controller.logged());
}

#[test]
fn it_does_not_start_without_its_secret_or_its_address() {
    let (_remote, person) = fleet();
    let run = |args: &[&str]| {
        let output = person.carp(&[&["reconcile"], args].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let (exit, error) = run(&["--listen", &taken]);
    assert_eq!(exit, Some(1));
    assert!(error.contains("cannot listen on"), "{error}");
    let (exit, error) = run(&["--listen", "127.0.0.1:0", "--webhook-secret-file", "absent"]);
    assert_eq!(exit, Some(1));
    assert!(error.contains("the webhook's secret in `absent`"), "{error}");
    assert_eq!(run(&["--webhook-secret-file", "x"]).0, Some(64), "it needs --listen");
}
