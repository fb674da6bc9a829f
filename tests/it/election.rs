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
