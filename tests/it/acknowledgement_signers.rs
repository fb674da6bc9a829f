//! Where the fleet lists who may acknowledge, nobody else lets anything through a guard: not whoever may write the
//! document, not with a merge that brings an old one back, and with `twoPerson` not whoever brought the change.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::keys::SshKey;
use crate::support::people::{Person, printed};
use crate::support::signed::{OUTPUT, run, signs};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, skip};

const FOUR: [&str; 4] = ["alpha", "bravo", "charlie", "delta"];

/// A fleet with a remote, and the keys of those who write to it.
struct Fleet {
    remote: Remote,
    person: Person,
    alice: SshKey,
    bob: SshKey,
    mallory: SshKey,
}

impl Fleet {
    /// Alice and Bob may acknowledge, and `more` is said besides; `None` where there is no `ssh-keygen`.
    fn of(more: &str) -> Option<Self> {
        let (alice, bob, mallory) = (SshKey::new()?, SshKey::new()?, SshKey::new()?);
        let remote = Remote::new();
        let person = Person::cloning(&remote.url());
        let fleet = Self { remote, person, alice, bob, mallory };
        let mut files = small::files();
        files.insert(
            "carp.yaml".to_owned(),
            Fleet::carp_yaml(&[("alice@x", &fleet.alice), ("bob@x", &fleet.bob)], more),
        );
        fleet.sign(Some(&fleet.alice));
        fleet.person.push(&files);
        assert_eq!(run(&fleet.person).0, 0);
        Some(fleet)
    }

    fn carp_yaml(who: &[(&str, &SshKey)], more: &str) -> String {
        let lines: Vec<_> = who.iter().map(|(name, key)| key.allowed(name)).collect();
        format!("{}  acknowledgements: {{{more} allowedSigners: {lines:?}}}\n", small::FLEET)
    }

    /// Whose key signs the next commits; `None`: nobody's.
    fn sign(&self, key: Option<&SshKey>) {
        match key {
            Some(key) => signs(&self.person, "ssh", None, key.file().to_str().unwrap()),
            None => drop(git(&self.person.path(), &["config", "commit.gpgSign", "false"])),
        }
    }

    fn write(&self, path: &str, text: &str) {
        self.person.push_one(path, text);
    }

    /// Removes clusters' documents.
    fn remove(&self, clusters: &[&str]) {
        let files: Vec<_> = clusters.iter().map(|c| format!("fleet/clusters/{c}.yaml")).collect();
        let args: Vec<&str> =
            ["rm", "--quiet"].into_iter().chain(files.iter().map(String::as_str)).collect();
        git(&self.person.path(), &args);
        self.person.push(&BTreeMap::new());
    }

    fn plan(&self) -> (i32, Value, String) {
        let output =
            self.person.carp(&["plan", "--output", "json", "--now", "2026-11-01T09:00:00Z"]);
        let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code().unwrap(), json, printed(&output))
    }

    /// The document that lets through exactly what a run held, under a name.
    fn document(&self, name: &str) -> String {
        let (_, plan, said) = self.plan();
        let hold = plan["holds"].as_array().and_then(|holds| holds.first());
        let hold = hold.unwrap_or_else(|| panic!("nothing is held: {said}"));
        let (of, digest) =
            (hold["acknowledgedBy"].as_str().unwrap(), hold["digest"].as_str().unwrap());
        let count = hold["names"].as_array().unwrap().len();
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: {name}\nspec:\n  of: \
             {of}\n  count: {count}\n  digest: {digest}\n"
        )
    }

    /// Somebody acknowledges what is held.
    fn acknowledge(&self, name: &str, key: Option<&SshKey>) {
        self.sign(key);
        self.write(&format!("fleet/acks/{name}.yaml"), &self.document(name));
    }

    /// The set stays held, for a run as for a plan, and both say why.
    #[track_caller]
    fn stays_held(&self, why: &[&str]) {
        let (exit, plan, said) = self.plan();
        assert_eq!((exit, plan["holds"][0]["kind"].as_str()), (3, Some("MassDeletion")), "{said}");
        let (exit, ran) = run(&self.person);
        assert_eq!(exit, 3, "{ran}");
        assert!(ran.contains("held MassDeletion"), "{ran}");
        for part in why {
            let finding = plan["findings"].to_string();
            assert!(ran.contains(part) && finding.contains(part), "{part}: {ran}\n{finding}");
        }
        assert!(self.is_there("alpha"), "nothing is deleted");
    }

    /// It goes through, and the run commits the tree of the plan.
    #[track_caller]
    fn goes_through(&self) {
        let (exit, plan, said) = self.plan();
        assert_eq!(exit, 0, "{said}");
        let (exit, ran) = run(&self.person);
        assert_eq!(exit, 0, "{ran}");
        let tree = git(&self.remote.path(), &["rev-parse", &format!("{OUTPUT}^{{tree}}")]);
        assert_eq!(plan["tree"].as_str(), Some(tree.trim()));
        assert!(!self.is_there("alpha"), "its deletion began");
        assert!(self.person.replays() > 2);
    }

    fn is_there(&self, cluster: &str) -> bool {
        let path = format!("{OUTPUT}:workers/w-weu/clusters/{cluster}/cluster.yaml");
        git(&self.remote.path(), &["show", &path]).contains("kind: Cluster\n")
    }
}

macro_rules! fleet {
    ($more:expr, $name:expr) => {
        match Fleet::of($more) {
            Some(fleet) => fleet,
            None => return skip($name, "no ssh-keygen"),
        }
    };
}

#[test]
fn only_those_who_are_listed_let_a_held_set_through() {
    let fleet = fleet!("", "only_those_who_are_listed_let_a_held_set_through");
    fleet.sign(Some(&fleet.mallory));
    fleet.remove(&FOUR);
    assert_eq!(run(&fleet.person).0, 3);
    let may = "alice@x, bob@x";
    fleet.acknowledge("by-nobody", None);
    fleet.stays_held(&["`by-nobody` does not count", "it has no signature", may]);
    fleet.acknowledge("by-a-stranger", Some(&fleet.mallory));
    fleet.stays_held(&["`by-a-stranger` does not count", "that of no allowed signer", may]);
    // Not in a commit that lists her either.
    let own = Fleet::carp_yaml(&[("mallory@x", &fleet.mallory)], "");
    fleet.write("carp.yaml", &own);
    fleet.stays_held(&["is signed by `mallory@x`"]);
    fleet.write("carp.yaml", small::FLEET);
    fleet.stays_held(&["`by-nobody` does not count", may]);
    // Nor where somebody who may commits something else on top.
    let both = [("alice@x", &fleet.alice), ("bob@x", &fleet.bob)];
    fleet.sign(Some(&fleet.alice));
    fleet.write("carp.yaml", &Fleet::carp_yaml(&both, ""));
    fleet.stays_held(&["`by-a-stranger` does not count", may]);
    fleet.acknowledge("by-alice", Some(&fleet.alice));
    fleet.goes_through();
}

#[test]
fn what_is_not_committed_nobody_has_signed() {
    let fleet = fleet!("", "what_is_not_committed_nobody_has_signed");
    fleet.remove(&FOUR);
    assert_eq!(run(&fleet.person).0, 3);
    fleet.person.write("fleet/acks/mine.yaml", &fleet.document("mine"));
    let (exit, plan, said) = fleet.plan();
    assert_eq!(exit, 3, "{said}");
    let found = plan["findings"].to_string();
    assert!(found.contains("it is not committed, so nobody has signed it"), "{found}");
    fleet.person.push(&BTreeMap::new());
    fleet.goes_through();
}

#[test]
fn a_merge_that_brings_an_old_document_back_is_by_whoever_made_it() {
    let fleet = fleet!("", "a_merge_that_brings_an_old_document_back_is_by_whoever_made_it");
    let git_here = |args: &[&str]| git(&fleet.person.path(), args);
    fleet.remove(&FOUR);
    assert_eq!(run(&fleet.person).0, 3);
    // Alice meant it, then thought better of it before any run.
    fleet.acknowledge("meant", Some(&fleet.alice));
    let hers = git_here(&["rev-parse", "HEAD"]);
    git_here(&["rm", "--quiet", "-r", "fleet/acks"]);
    fleet.person.push(&BTreeMap::new());
    fleet.stays_held(&[]);
    // A merge that has nothing to merge, with a tree of its own.
    fleet.sign(Some(&fleet.mallory));
    let tree = git_here(&["rev-parse", &format!("{}^{{tree}}", hers.trim())]);
    let (tree, hers) = (tree.trim().to_owned(), hers.trim().to_owned());
    let merge = git_here(&["commit-tree", "-S", &tree, "-p", "HEAD", "-p", &hers, "-m", "merge"]);
    git_here(&["reset", "--quiet", "--hard", merge.trim()]);
    git_here(&["push", "--quiet", "origin", "main"]);
    fleet.stays_held(&["`meant` does not count", "that of no allowed signer"]);
    // What git merges by itself is by whoever wrote it, whoever merges.
    git_here(&["reset", "--quiet", "--hard", "HEAD~1"]);
    git_here(&["checkout", "--quiet", "-b", "side"]);
    fleet.sign(Some(&fleet.bob));
    fleet.person.write("fleet/acks/again.yaml", &fleet.document("again"));
    git_here(&["add", "--all"]);
    git_here(&["commit", "--quiet", "-m", "again"]);
    git_here(&["checkout", "--quiet", "main"]);
    fleet.sign(None);
    git_here(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    git_here(&["push", "--quiet", "--force", "origin", "main"]);
    fleet.goes_through();
}

#[test]
fn with_two_person_whoever_brought_a_change_does_not_acknowledge_it() {
    let name = "with_two_person_whoever_brought_a_change_does_not_acknowledge_it";
    let fleet = fleet!("twoPerson: true,", name);
    fleet.sign(Some(&fleet.alice));
    fleet.remove(&FOUR);
    // What others commit before the run says nothing of who brought it.
    fleet.sign(Some(&fleet.bob));
    fleet.write("README.md", "hello\n");
    assert_eq!(run(&fleet.person).0, 3);
    fleet.acknowledge("my-own", Some(&fleet.alice));
    fleet.stays_held(&["`alice@x` signed it, and commit", "another of those who may"]);
    fleet.acknowledge("by-another", Some(&fleet.bob));
    fleet.goes_through();
}

#[test]
fn with_two_person_a_change_that_nobody_signed_is_let_through_by_nobody() {
    let name = "with_two_person_a_change_that_nobody_signed_is_let_through_by_nobody";
    let fleet = fleet!("twoPerson: true,", name);
    fleet.sign(None);
    fleet.remove(&FOUR);
    assert_eq!(run(&fleet.person).0, 3);
    fleet.acknowledge("mine", Some(&fleet.alice));
    fleet.stays_held(&["who brought what it lets through is not known", "it has no signature"]);
    // Taken back and made anew, signed, it is somebody's.
    fleet.sign(Some(&fleet.bob));
    let back: BTreeMap<_, _> =
        small::files().into_iter().filter(|(path, _)| path.contains("clusters/")).collect();
    fleet.person.push(&back);
    assert_eq!(run(&fleet.person).0, 0);
    fleet.remove(&FOUR);
    assert_eq!(run(&fleet.person).0, 3);
    fleet.acknowledge("anew", Some(&fleet.alice));
    fleet.goes_through();
}

#[test]
fn with_two_person_a_set_that_somebody_else_makes_smaller_stays_ones_own() {
    let name = "with_two_person_a_set_that_somebody_else_makes_smaller_stays_ones_own";
    let fleet = fleet!("twoPerson: true,", name);
    fleet.sign(Some(&fleet.alice));
    fleet.remove(&["alpha", "bravo", "charlie", "delta", "echo"]);
    assert_eq!(run(&fleet.person).0, 3);
    fleet.sign(Some(&fleet.bob));
    let echo = small::files()["fleet/clusters/echo.yaml"].clone();
    fleet.write("fleet/clusters/echo.yaml", &echo);
    assert_eq!(run(&fleet.person).0, 3);
    fleet.acknowledge("smaller", Some(&fleet.alice));
    fleet.stays_held(&["`alice@x` signed it, and commit"]);
    fleet.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    fleet.stays_held(&["`alice@x` signed it, and commit"]);
}
