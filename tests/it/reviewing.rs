//! What a change is said to be at fault for, and what of a fleet is told that nobody reads.

use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{self, cluster};

/// The lines that say where findings are.
fn places(ran: &Ran) -> Vec<&str> {
    let at = |line: &'_ str| line.trim_start().starts_with("--> ");
    ran.out.lines().filter(|line| at(line)).map(str::trim).collect()
}

#[test]
fn of_two_of_one_name_the_one_that_came_later_is_at_fault() {
    let fleet = Reconciled::of(&small::files());
    // Another cluster of that name, in a file that is read first.
    let other = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3");
    fleet.write("fleet/aaa.yaml", other.as_bytes());
    for args in [&["validate"][..], &["validate", "--against", "main"], &["plan", "--against"]] {
        let ran = fleet.carp(args);
        assert_eq!((ran.exit, places(&ran)), (1, vec!["--> fleet/aaa.yaml:4:9"]), "{}", ran.out);
        assert!(ran.out.contains("this one was there before"), "{}", ran.out);
    }
    // The very same document: only what the change adds tells them apart.
    fleet.write("fleet/aaa.yaml", cluster("alpha", "westeurope").as_bytes());
    let ran = fleet.carp(&["validate", "--against", "main"]);
    assert_eq!((ran.exit, places(&ran)), (1, vec!["--> fleet/aaa.yaml:4:9"]), "{}", ran.out);
    assert!(ran.out.contains("::: fleet/clusters/alpha.yaml:4:9"), "{}", ran.out);
}
