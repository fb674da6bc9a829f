//! Only what is signed with a listed OpenPGP key is read, where the fleet asks for it. Real `gpg`, real keys.

use crate::support::keys::{GpgHome, SshKey};
use crate::support::people::{Person, printed};
use crate::support::signed::{self, OUTPUT, goes_well, is_held, run};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, skip};

/// Lets a clone's commits be signed with the key of a home.
fn signs_with(person: &Person, home: &GpgHome, who: &str) {
    signed::signs(person, "openpgp", Some(&home.program()), who);
}

/// A block below a key of YAML.
fn indented(text: &str, by: usize) -> String {
    let lines: Vec<_> = text.trim_end().lines().map(|line| " ".repeat(by) + line).collect();
    lines.join("\n")
}

fn verify(keys: &[String]) -> String {
    let keys: Vec<_> =
        keys.iter().map(|key| format!("        - |\n{}", indented(key, 10))).collect();
    format!("{}  git:\n    verify:\n      openpgpKeys:\n{}\n", small::FLEET, keys.join("\n"))
}

#[test]
fn an_input_commit_counts_with_a_listed_openpgp_key_only() {
    const ALICE: &str = "alice <alice@example.com>";
    let name = "an_input_commit_counts_with_a_listed_openpgp_key_only";
    let (Some(alice), Some(mallory)) = (GpgHome::new(ALICE), GpgHome::new(ALICE)) else {
        return skip(name, "no gpg");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.insert("carp.yaml".to_owned(), verify(&[alice.public("alice")]));
    person.push(&files);
    is_held(&person, &remote, "it has no signature");
    signs_with(&person, &alice, "alice");
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    goes_well(&person);
    let lock = git(&remote.path(), &["show", &format!("{OUTPUT}:control-plane/fleet.lock")]);
    assert!(lock.contains("inputOpenpgp"), "{lock}");
    // The same name on another key, which her own gpg finds good.
    signs_with(&person, &mallory, "alice");
    person.push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    is_held(&person, &remote, "none of those listed");
    // Nor does it help to list it in the very commit.
    person.push_one("carp.yaml", &verify(&[alice.public("alice"), mallory.public("alice")]));
    is_held(&person, &remote, "the last output's");
    // Plan says the same.
    let plan = person.carp(&["plan", "--fleet", &format!("{}@HEAD", person.path().display())]);
    let said = printed(&plan);
    assert_eq!(plan.status.code(), Some(3), "{said}");
    assert!(said.contains("HELD InputNotVerified"), "{said}");
    if let Some(key) = SshKey::new() {
        signed::signs(&person, "ssh", None, key.file().to_str().unwrap());
        person.push_one("carp.yaml", &verify(&[alice.public("alice")]));
        is_held(&person, &remote, "is not one of OpenPGP");
    }
    signs_with(&person, &alice, "alice");
    git(&person.path(), &["commit", "--quiet", "-S", "--allow-empty", "-m", "mine"]);
    git(&person.path(), &["push", "--quiet", "origin", "main"]);
    goes_well(&person);
    let temporary = tempfile::tempdir().unwrap();
    let mut command = person.command(&["reconcile", "--once"]);
    let output = command.env("TMPDIR", temporary.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    let left: Vec<_> = std::fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "the home of the keys that count is gone: {left:?}");
}

#[test]
fn a_key_that_ended_or_was_revoked_counts_no_more() {
    let name = "a_key_that_ended_or_was_revoked_counts_no_more";
    let who = "alice@example.com";
    let (Some(revoked), Some(ended)) = (GpgHome::new(who), GpgHome::ended(who)) else {
        return skip(name, "no gpg");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    signs_with(&person, &ended, who);
    files.insert("carp.yaml".to_owned(), verify(&[ended.public(who)]));
    person.push(&files);
    is_held(&person, &remote, "its OpenPGP key has expired");

    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    files.insert("carp.yaml".to_owned(), verify(&[revoked.revoked(who)]));
    signs_with(&person, &revoked, who);
    person.push(&files);
    is_held(&person, &remote, "its OpenPGP key is revoked");
    // It is the revocation that counts, and not the key.
    person.push_one("carp.yaml", &verify(&[revoked.public(who)]));
    goes_well(&person);
}

/// Pushes the report of a worker, signed with the key of a home.
fn report(remote: &Remote, worker: &str, home: &GpgHome) {
    let text = format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: 5d0c0f1e-0001-4000-8000-000000000001\n\
         time: \"2026-11-01T08:50:00Z\"\ncomplete: true\nhealthy: true\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let at = |args: &[&str]| git(folder.path(), args);
    at(&["init", "--quiet", "-b", "report"]);
    std::fs::write(folder.path().join("report.yaml"), text).unwrap();
    at(&["add", "report.yaml"]);
    let program = format!("gpg.program={}", home.program().display());
    let args =
        ["-c", &program, "-c", "user.signingKey=w-weu", "commit", "--quiet", "-S", "-m", "x"];
    at(&args);
    let to = format!("HEAD:refs/heads/carp/observed/{worker}");
    at(&["push", "--quiet", "--force", &remote.url(), &to]);
}

#[test]
fn a_report_counts_with_the_openpgp_key_of_its_own_worker_only() {
    let name = "a_report_counts_with_the_openpgp_key_of_its_own_worker_only";
    let Some(weu) = GpgHome::new("w-weu <w-weu@example.com>") else {
        return skip(name, "no gpg");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let key = indented(&weu.public("w-weu"), 10);
    let keys = format!("      - worker: w-weu\n        key: |\n{key}\n");
    let carp = format!("{}  observed:\n    openpgpKeys:\n{keys}", small::FLEET);
    files.insert("carp.yaml".to_owned(), carp);
    person.push(&files);
    report(&remote, "w-weu", &weu);
    report(&remote, "w-eus", &weu);
    let (exit, said) = run(&person);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("the report of `w-eus` cannot be used"), "{said}");
    assert!(!said.contains("the report of `w-weu`"), "{said}");
    let folded = git(&remote.path(), &["ls-tree", "-r", "--name-only", "carp/status"]);
    assert!(folded.contains("observed/w-weu.yaml"), "{folded}");
    assert!(!folded.contains("observed/w-eus.yaml"), "{folded}");
}

/// What is read is looked at where it is a commit, and where it is none that is said.
#[test]
fn plan_says_where_it_cannot_look_at_a_signature() {
    let Some(alice) = GpgHome::new("alice@example.com") else {
        return skip("plan_says_where_it_cannot_look_at_a_signature", "no gpg");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.insert("carp.yaml".to_owned(), verify(&[alice.public("alice")]));
    person.push(&files);
    let plan = || {
        let output = person.carp(&["plan"]);
        (output.status.code().unwrap(), printed(&output))
    };
    let (exit, said) = plan();
    assert!(exit == 3 && said.contains("HELD InputNotVerified"), "the tip of main: {said}");
    person.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let (exit, said) = plan();
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("nobody's signature of them was looked at"), "{said}");
}
