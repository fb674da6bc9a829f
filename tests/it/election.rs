//! The election, against a real API server.

use crate::support::apiserver::ApiServer;
use crate::support::controller::{Controller, wait_until};
use crate::support::people::Person;
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, skip};

const OUTPUT: &str = "refs/heads/carp/rendered";

fn controller(server: &ApiServer, person: &Person) -> Controller {
    let kubeconfig = server.kubeconfig();
    let args = [
        "--leader-election",
        "--leader-election-namespace",
        "default",
        "--lease-duration",
        "9s",
        "--interval",
        "1s",
    ];
    Controller::start(&person.path(), &args, &[("KUBECONFIG", kubeconfig.to_str().unwrap())])
}

fn holder(server: &ApiServer) -> String {
    server.kubectl(&["get", "lease", "carp", "-o", "jsonpath={.spec.holderIdentity}"])
}

fn is_standby(controller: &Controller) -> bool {
    controller.get("/readyz").body.starts_with("standby")
}

#[test]
fn one_acts_and_the_other_takes_over() {
    let Some(server) = ApiServer::start() else {
        return skip("one_acts_and_the_other_takes_over", "KUBEBUILDER_ASSETS is unset");
    };
    let remote = Remote::new();
    let one = Person::cloning(&remote.url());
    one.push(&small::files());
    let two = Person::cloning(&remote.url());
    git(&two.path(), &["pull", "--quiet", "origin", "main"]);

    let mut first = controller(&server, &one);
    first.wait_for("this one leads");
    first.wait_for("committed carp/rendered");
    let mut second = controller(&server, &two);
    second.wait_until("it stands by", is_standby);
    assert_eq!(second.get("/readyz").code, 200, "standing by is what it is for");
    assert!(first.metric("carp_leader") > second.metric("carp_leader"));
    let led = holder(&server);
    assert!(!led.is_empty());

    // A clean stop hands the lead over.
    first.signal("TERM");
    assert_eq!(first.ended().code(), Some(0), "{}", first.logged());
    second.wait_for("this one leads");
    assert_ne!(holder(&server), led);
    let before = remote.at(OUTPUT);
    one.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    wait_until("the second one acts", || remote.at(OUTPUT) != before);

    // One that is killed gives nothing up; its lead runs out.
    let mut third = controller(&server, &one);
    third.wait_until("it stands by", is_standby);
    second.signal("KILL");
    third.wait_for("this one leads");
    let transitions = ["get", "lease", "carp", "-o", "jsonpath={.spec.leaseTransitions}"];
    assert_eq!(server.kubectl(&transitions), "2");

    // Somebody takes the Lease away: it stops acting and goes on serving.
    let patch = r#"{"spec":{"holderIdentity":"somebody","leaseDurationSeconds":3600}}"#;
    server.kubectl(&["patch", "lease", "carp", "--type=merge", "-p", patch]);
    third.wait_for("the lead was lost: somebody leads");
    third.wait_until("it stands by", is_standby);
    assert!(is_standby(&third));
    third.signal("TERM");
    assert_eq!(third.ended().code(), Some(0), "{}", third.logged());
    assert_eq!(holder(&server), "somebody", "what it does not hold it does not give up");
}

/// The remote holds the first push until it is let go, after it took the objects and before it moves the
/// ref. Others pass.
#[cfg(unix)]
fn holding(remote: &Remote, gate: &std::path::Path) {
    let script = format!(
        "#!/bin/sh\nif mkdir '{0}/arrived' 2>/dev/null; then n=0\nwhile [ ! -e '{0}/go' ] && \
         [ $n -lt 1200 ]; do sleep 0.1; n=$((n+1)); done; fi\nexit 0\n",
        gate.display()
    );
    remote.hook("pre-receive", &script);
}

#[cfg(unix)]
#[test]
fn a_lead_that_is_lost_in_the_middle_of_a_push_loses_no_commit() {
    let Some(server) = ApiServer::start() else {
        let name = "a_lead_that_is_lost_in_the_middle_of_a_push_loses_no_commit";
        return skip(name, "KUBEBUILDER_ASSETS is unset");
    };
    let remote = Remote::new();
    let one = Person::cloning(&remote.url());
    one.push(&small::files());
    let gate = tempfile::tempdir().unwrap();
    holding(&remote, gate.path());
    let mut first = controller(&server, &one);
    wait_until("the push is under way", || gate.path().join("arrived").exists());
    // Somebody takes the Lease in the middle of it, and lets it run out.
    let patch = r#"{"spec":{"holderIdentity":"somebody","leaseDurationSeconds":1}}"#;
    server.kubectl(&["patch", "lease", "carp", "--type=merge", "-p", patch]);
    first.wait_for("the lead was lost");
    assert_eq!(remote.at(OUTPUT), None, "the push is held all the time");
    let two = Person::cloning(&remote.url());
    git(&two.path(), &["pull", "--quiet", "origin", "main"]);
    two.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    // The next leader need not be a controller to be one: what counts is that it writes.
    let output = two.carp(&["reconcile", "--once"]);
    assert!(output.status.success(), "{}", crate::support::people::printed(&output));
    let commit = remote.at(OUTPUT).expect("it committed");
    std::fs::write(gate.path().join("go"), "").unwrap();
    first.wait_until("the turn that lost the lead has ended", |c| {
        let turns = |how: &str| c.metric(&format!("carp_reconcile_total{{result=\"{how}\"}}"));
        turns("unchanged") + turns("committed") >= 1.0
    });
    first.signal("TERM");
    assert_eq!(first.ended().code(), Some(0), "{}", first.logged());
    let inside = ["merge-base", "--is-ancestor", &commit.to_string(), OUTPUT];
    git(&remote.path(), &inside);
    let merges = git(&remote.path(), &["rev-list", "--merges", "--count", OUTPUT]);
    assert_eq!(merges, "0", "the history is linear");
    // What is there is the plan of what people wrote last.
    let again = two.carp(&["reconcile", "--once"]);
    let said = crate::support::people::printed(&again);
    assert!(again.status.success() && said.starts_with("nothing to commit"), "{said}");
    let tree = git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    assert!(tree.contains("clusters/golf/cluster.yaml"), "{tree}");
}
