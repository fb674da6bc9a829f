//! `write: pullRequest`: what carp decides is on a branch of its own until people merge it, in any of the
//! ways in which hosts merge.

use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, git_may_fail};

const OUTPUT: &str = "refs/heads/carp/rendered";
const PROPOSAL: &str = "refs/heads/carp/proposal";

/// A fleet that proposes, and has proposed once.
fn proposing() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.get_mut("carp.yaml").unwrap().push_str("  git: {write: pullRequest}\n");
    person.push(&files);
    let said = person.reconciles();
    assert!(said.starts_with("proposed carp/proposal "), "{said}");
    (remote, person)
}

/// A host, which merges what is proposed: `how` is run in a clone with the output checked out.
fn merge(remote: &Remote, how: &[&[&str]]) {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["clone", "--quiet", &remote.url(), "host"]);
    let host = folder.path().join("host");
    for (name, value) in [("user.name", "person"), ("user.email", "person@example.com")] {
        git(&host, &["config", name, value]);
    }
    git(&host, &["checkout", "--quiet", "carp/rendered"]);
    for args in how {
        git(&host, args);
    }
    git(&host, &["push", "--quiet", "origin", "carp/rendered"]);
}

const MERGE: &[&[&str]] = &[&["merge", "--quiet", "--no-ff", "--no-edit", "origin/carp/proposal"]];

fn tree(remote: &Remote, branch: &str) -> String {
    git(&remote.path(), &["rev-parse", &format!("{branch}^{{tree}}")])
}

fn status_of(remote: &Remote, cluster: &str) -> String {
    let found = git(&remote.path(), &["ls-tree", "-r", "--name-only", "refs/heads/carp/status"]);
    let path = found.lines().find(|l| l.ends_with(&format!("/{cluster}.yaml"))).unwrap().to_owned();
    git(&remote.path(), &["show", &format!("refs/heads/carp/status:{path}")])
}

/// The merged output is the plan: nothing is left to do, and the branch goes.
#[track_caller]
fn is_through(remote: &Remote, person: &Person, proposed: &str) {
    assert_eq!(tree(remote, OUTPUT), proposed, "the merge has the tree that was proposed");
    let tip = remote.at(OUTPUT);
    let said = person.reconciles();
    assert!(said.starts_with("nothing to commit"), "{said}");
    assert_eq!(remote.at(PROPOSAL), None, "a branch with nothing left to propose goes");
    let status = remote.at("refs/heads/carp/status");
    assert!(person.reconciles().starts_with("nothing to commit"));
    assert_eq!((remote.at(OUTPUT), remote.at("refs/heads/carp/status")), (tip, status));
    assert!(person.replays() > 0, "what was merged follows from its inputs, however it was merged");
    let past = printed(&person.carp(&["explain", "cluster/alpha", "--at", "carp/rendered"]));
    assert!(past.contains("saw it: output commit"), "and is explained: {past}");
}

#[test]
fn a_decision_counts_when_it_is_merged() {
    let (remote, person) = proposing();
    assert_eq!(git(&remote.path(), &["ls-tree", "-r", OUTPUT]), "", "the output has nothing yet");
    let alpha = status_of(&remote, "alpha");
    for part in ["phase: Pending", "reason: Proposed", "once the proposal is merged"] {
        assert!(alpha.contains(part), "{part}: {alpha}");
    }
    assert!(!alpha.contains("assignedWorker"), "{alpha}");
    let planned = printed(&person.carp(&["plan"]));
    assert!(planned.contains(&tree(&remote, PROPOSAL)[..12]), "plan and proposal agree: {planned}");

    let (tip, status) = (remote.at(PROPOSAL), remote.at("refs/heads/carp/status"));
    for _ in 0..2 {
        assert!(person.reconciles().starts_with("proposed already: carp/proposal "));
    }
    assert_eq!(remote.at(PROPOSAL), tip, "an unchanged proposal is not made again");
    assert_eq!(remote.at("refs/heads/carp/status"), status);

    let proposed = tree(&remote, PROPOSAL);
    merge(&remote, MERGE);
    is_through(&remote, &person, &proposed);
    assert!(status_of(&remote, "alpha").contains("assignedWorker: w-weu"));
}

#[test]
fn the_message_is_the_plan_and_has_the_trailers() {
    let (remote, person) = proposing();
    let message = git(&remote.path(), &["log", "-1", "--format=%B", PROPOSAL]);
    assert!(message.starts_with("carp: "), "{message}");
    assert!(message.chars().count() < 65_536);
    for part in ["### carp plan for `small`", "| `alpha` | create |"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let input = git(&person.path(), &["rev-parse", "HEAD"]);
    let trailers = git(&remote.path(), &["log", "-1", "--format=%(trailers:only)", PROPOSAL]);
    assert!(trailers.contains(&format!("Carp-Input: {input}")), "{trailers}");
    assert!(trailers.contains("Carp-Plan: sha256:"), "{trailers}");
}

#[test]
fn the_branch_goes_forward_with_the_fleet_and_shows_only_the_plan() {
    let (remote, person) = proposing();
    let first = remote.at(PROPOSAL).unwrap();
    // Nobody, carp included, may force here.
    git(&remote.path(), &["config", "receive.denyNonFastForwards", "true"]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    let second = remote.at(PROPOSAL).unwrap();
    let parents = |branch: &str| git(&remote.path(), &["log", "-1", "--format=%P", branch]);
    assert_eq!(parents(PROPOSAL), first.to_string());
    assert!(git(&remote.path(), &["ls-tree", "-r", "--name-only", PROPOSAL]).contains("/golf/"));

    // A person commits to the output: it is part of the next proposal, which can still be merged.
    let file = ["-c", "user.name=p", "-c", "user.email=p@example.com", "commit", "--quiet"];
    let how: [&[&str]; 1] = [&[&file[..], &["--allow-empty", "-m", "by hand"]].concat()];
    merge(&remote, &how);
    let output = remote.at(OUTPUT).unwrap();
    person.reconciles();
    assert_eq!(parents(PROPOSAL), format!("{second} {output}"));
    let proposed = tree(&remote, PROPOSAL);
    merge(&remote, MERGE);
    is_through(&remote, &person, &proposed);
    let twice = ["log", "-1", "--format=%P", OUTPUT];
    assert_eq!(git(&remote.path(), &twice).split(' ').count(), 2);
}

/// What GitHub makes of a squash: the messages of all commits, their trailers in the middle.
#[test]
fn a_squash_is_understood_and_its_trailers_are_found() {
    let (remote, person) = proposing();
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    let proposed = tree(&remote, PROPOSAL);
    let range = format!("{OUTPUT}..{PROPOSAL}");
    let bodies = git(&remote.path(), &["log", "--reverse", "--format=* %B", &range]);
    let message = format!("Proposal (#7)\n\n{bodies}\n\nSigned-off-by: person <p@example.com>");
    let commit: &[&str] = &["commit", "--quiet", "-m", &message];
    merge(&remote, &[&["merge", "--quiet", "--squash", "origin/carp/proposal"], commit]);
    is_through(&remote, &person, &proposed);
    rewinding_is_still_noticed(&remote, &person);
}

#[test]
fn a_merge_is_understood_and_its_trailers_are_found() {
    let (remote, person) = proposing();
    let proposed = tree(&remote, PROPOSAL);
    merge(&remote, MERGE);
    is_through(&remote, &person, &proposed);
    rewinding_is_still_noticed(&remote, &person);
}

#[test]
fn a_rebase_is_understood_and_its_trailers_are_found() {
    let (remote, person) = proposing();
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    let proposed = tree(&remote, PROPOSAL);
    let range = "origin/carp/rendered..origin/carp/proposal";
    merge(&remote, &[&["cherry-pick", range]]);
    is_through(&remote, &person, &proposed);
    rewinding_is_still_noticed(&remote, &person);
}

/// The input branch loses its last commit: the trailers say that it was there.
fn rewinding_is_still_noticed(remote: &Remote, person: &Person) {
    let empty: [&[&str]; 2] = [
        // Another message, for within the same second the same words make the same commit.
        &["commit", "--quiet", "--amend", "-m", "another past", "--allow-empty"],
        &["push", "--quiet", "--force", "origin", "main"],
    ];
    for args in empty {
        git(&person.path(), args);
    }
    let output = person.carp(&["reconcile", "--once"]);
    assert_eq!(output.status.code(), Some(3), "{}", printed(&output));
    assert!(printed(&output).contains("held Rewind"), "{}", printed(&output));
    assert_eq!(remote.at(PROPOSAL), None);
}

#[test]
fn what_people_approved_stays_until_it_is_merged() {
    let (remote, person) = proposing();
    let tip = remote.at(PROPOSAL).unwrap();
    let mark = "refs/heads/carp/proposal-approved";
    git(&remote.path(), &["update-ref", mark, &tip.to_string()]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let said = person.reconciles();
    assert!(said.starts_with("approved: carp/proposal "), "{said}");
    assert_eq!(remote.at(PROPOSAL), Some(tip), "an approval is for what was read");
    // The mark may stay for a while, and a squash leaves no trace of what was merged but the files.
    let squash: &[&[&str]] = &[
        &["merge", "--quiet", "--squash", "origin/carp/proposal"],
        &["commit", "--quiet", "-m", "squashed"],
    ];
    merge(&remote, squash);
    let said = person.reconciles();
    assert!(said.starts_with("proposed carp/proposal "), "the rest comes after it: {said}");
    let names = git(&remote.path(), &["diff", "--name-only", OUTPUT, PROPOSAL]);
    assert!(names.contains("/golf/") && !names.contains("/alpha/"), "{names}");
}

#[test]
fn an_approval_of_what_conflicts_holds_nothing_up() {
    let (remote, person) = proposing();
    merge(&remote, MERGE);
    person.reconciles();
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    let tip = remote.at(PROPOSAL).unwrap();
    git(&remote.path(), &["update-ref", "refs/heads/carp/proposal-approved", &tip.to_string()]);
    // Somebody edits the very line of the output that the proposal edits.
    let sentinel = "workers/w-eus/sentinel.yaml";
    let edit = ["-c", "alias.edit=!sed -i 's/carp.dev.digest: .*/&0/'", "edit", sentinel];
    merge(&remote, &[&edit, &["commit", "--quiet", "-a", "-m", "by hand"]]);
    let said = person.reconciles();
    assert!(said.starts_with("proposed carp/proposal "), "{said}");
    let output = remote.at(OUTPUT).unwrap().to_string();
    assert!(git(&remote.path(), &["log", "-1", "--format=%P", PROPOSAL]).contains(&output));
}

#[test]
fn a_proposal_that_lost_its_reason_goes() {
    let (remote, person) = proposing();
    merge(&remote, MERGE);
    person.reconciles();
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    assert!(remote.at(PROPOSAL).is_some());
    git(&person.path(), &["rm", "--quiet", "fleet/clusters/golf.yaml"]);
    git(&person.path(), &["commit", "--quiet", "-m", "no golf after all"]);
    git(&person.path(), &["push", "--quiet", "origin", "main"]);
    let said = person.reconciles();
    assert!(said.starts_with("nothing to commit"), "{said}");
    assert_eq!(remote.at(PROPOSAL), None);
}

#[test]
fn a_branch_that_somebody_else_committed_to_last_is_not_removed() {
    let (remote, person) = proposing();
    merge(&remote, MERGE);
    let folder = tempfile::tempdir().unwrap();
    let clone = ["clone", "--quiet", "-b", "carp/proposal", &remote.url(), "theirs"];
    git(folder.path(), &clone);
    let theirs = folder.path().join("theirs");
    git(&theirs, &["commit", "--quiet", "--allow-empty", "-m", "a word of mine"]);
    git(&theirs, &["push", "--quiet", "origin", "carp/proposal"]);
    let tip = remote.at(PROPOSAL);
    person.reconciles();
    assert_eq!(remote.at(PROPOSAL), tip, "a person's commit is never lost");
}

#[test]
fn without_a_remote_the_proposal_is_a_local_branch() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "-b", "main"]);
    let mut files = small::files();
    files.get_mut("carp.yaml").unwrap().push_str("  git: {write: pullRequest}\n");
    for (path, text) in &files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "the fleet"]);
    let carp = || {
        let mut command = crate::support::people::carp(folder.path(), &["reconcile", "--once"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    };
    assert!(carp().starts_with("proposed carp/proposal "));
    git(folder.path(), &["branch", "--force", "carp/rendered", "carp/proposal"]);
    assert!(carp().starts_with("nothing to commit"));
    assert!(!git_may_fail(folder.path(), &["rev-parse", "--verify", PROPOSAL]).status.success());
}

/// GitLab opens a merge request where a push asks for it. What it is told is what any Git server hands to
/// its hooks.
#[cfg(unix)]
#[test]
fn the_push_of_a_proposal_and_no_other_has_the_options_of_the_fleet() {
    let remote = Remote::new();
    git(&remote.path(), &["config", "receive.advertisePushOptions", "true"]);
    let told = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "#!/bin/sh\nwhile read old new ref; do\n\
         echo \"$ref ${{GIT_PUSH_OPTION_COUNT:-0}} $GIT_PUSH_OPTION_0 $GIT_PUSH_OPTION_1\" >> '{}'\ndone\n",
        told.path().display()
    );
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let options = "[merge_request.create, merge_request.target=carp/rendered]";
    let git_settings = format!("  git: {{write: pullRequest, pushOptions: {options}}}\n");
    files.get_mut("carp.yaml").unwrap().push_str(&git_settings);
    person.push(&files);
    remote.hook("pre-receive", &script);
    person.reconciles();
    let told = std::fs::read_to_string(told.path()).unwrap();
    let asked = format!("{PROPOSAL} 2 merge_request.create merge_request.target=carp/rendered");
    assert!(told.lines().any(|line| line == asked), "{told}");
    let others: Vec<_> = told.lines().filter(|line| !line.starts_with(PROPOSAL)).collect();
    assert!(others.len() >= 2, "{told}");
    assert!(others.iter().all(|line| line.trim_end().ends_with(" 0")), "{told}");

    // A server that takes none says so, and the run what to do.
    git(&remote.path(), &["config", "receive.advertisePushOptions", "false"]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let output = person.carp(&["reconcile", "--once"]);
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("does not support push options"), "{said}");
}
