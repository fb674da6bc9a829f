//! What a look at a fleet keeps: ids or bytes, of the same tree.

use std::path::Path;

use carp::model::Build;
use carp::reconcile::{FleetPlace, Keep, LookFor, Observing, Opened, RunClock, open};

use crate::support::{small, write};

fn look(folder: &Path, keep: Keep) -> Opened {
    let place = FleetPlace::find(folder.to_str().unwrap(), &folder.join("no-cache")).unwrap();
    let now = "2026-11-01T09:00:00Z".parse().unwrap();
    let clock = RunClock { given: Some(now), wall: now };
    let build = Build::of_version("test");
    open(place, clock, &Observing::default(), &build, (keep, &LookFor::default())).unwrap()
}

#[test]
fn a_plan_keeps_ids_and_a_render_the_bytes_of_the_same_tree() {
    let folder = tempfile::tempdir().unwrap();
    let files = small::files().into_iter().map(|(path, text)| (path, text.into_bytes()));
    write(&files.collect(), folder.path());
    let (ids, bytes) = (look(folder.path(), Keep::Ids), look(folder.path(), Keep::Bytes));
    assert_eq!(ids.proposal.tree, bytes.proposal.tree);
    assert_eq!(ids.proposal.status_tree, bytes.proposal.status_tree);

    let made = bytes.proposal.changes.iter().find_map(|change| change.after).unwrap();
    let there = |opened: &Opened| opened.sources.with(|store| store.blob(made).is_ok()).unwrap();
    assert!(there(&bytes), "what is written to files must be there");
    assert!(!there(&ids), "a plan of any size needs no room for bytes");
}
