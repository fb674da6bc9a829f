//! Only what is signed by those who may is read, where the fleet asks for it.

use std::path::Path;

use crate::support::flux::push_report;
use crate::support::keys::SshKey;
use crate::support::people::{Person, printed};
use crate::support::signed::{self, OUTPUT, goes_well, is_held};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, skip};

/// Lets a clone's commits be signed.
fn signs_with(person: &Person, key: &SshKey) {
    signed::signs(person, "ssh", None, key.file().to_str().unwrap());
}

fn carp_yaml(more: &str) -> String {
    format!("{}{more}", small::FLEET)
}

fn verify(signers: &[String]) -> String {
    carp_yaml(&format!("  git:\n    verify:\n      allowedSigners: {signers:?}\n"))
}

#[test]
fn an_input_commit_that_nobody_allowed_signed_is_held() {
    let (Some(alice), Some(mallory)) = (SshKey::new(), SshKey::new()) else {
        return skip("an_input_commit_that_nobody_allowed_signed_is_held", "no ssh-keygen");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.insert("carp.yaml".to_owned(), verify(&[alice.allowed("alice@example.com")]));
    person.push(&files);
    is_held(&person, &remote, "it has no signature");
    signs_with(&person, &alice);
    git(&person.path(), &["commit", "--quiet", "-S", "--allow-empty", "-m", "signed"]);
    git(&person.path(), &["push", "--quiet", "origin", "main"]);
    goes_well(&person);

    signs_with(&person, &mallory);
    // Neither her own settings nor her own key in the very commit make her somebody who may sign.
    let own = mallory.allowed_file("mallory@example.com");
    git(&person.path(), &["config", "gpg.ssh.allowedSignersFile", own.to_str().unwrap()]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    is_held(&person, &remote, "its key is that of no allowed signer");
    let both = [alice.allowed("alice@example.com"), mallory.allowed("mallory@example.com")];
    person.push_one("carp.yaml", &verify(&both));
    is_held(&person, &remote, "the last output's");
    person.push_one("carp.yaml", small::FLEET);
    is_held(&person, &remote, "its key is that of no allowed signer");
    git(&person.path(), &["reset", "--quiet", "--hard", "HEAD~3"]);
    git(&person.path(), &["push", "--quiet", "--force", "origin", "main"]);
    goes_well(&person);
}

#[test]
fn signers_change_one_after_the_other() {
    let (Some(old), Some(new)) = (SshKey::new(), SshKey::new()) else {
        return skip("signers_change_one_after_the_other", "no ssh-keygen");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let lines = [old.allowed("alice@example.com"), new.allowed("alice@example.com")];
    files.insert("carp.yaml".to_owned(), verify(&lines[..1]));
    signs_with(&person, &old);
    person.push(&files);
    goes_well(&person);
    person.push_one("carp.yaml", &verify(&lines[1..]));
    is_held(&person, &remote, "spec.git.verify's");
    person.push_one("carp.yaml", &verify(&lines));
    goes_well(&person);
    signs_with(&person, &new);
    person.push_one("carp.yaml", &verify(&lines[1..]));
    goes_well(&person);
    let lock = git(&remote.path(), &["show", &format!("{OUTPUT}:control-plane/fleet.lock")]);
    assert!(lock.contains(&lines[1]) && !lock.contains(&lines[0]), "{lock}");
    goes_well(&person);
}

/// Pushes the report of a worker, as its agent does: one commit without a parent.
fn report(person: &Person, worker: &str, minute: u32, key: Option<&SshKey>) {
    let text = format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: 5d0c0f1e-0001-4000-8000-000000000001\n\
         time: \"2026-11-01T08:{minute:02}:00Z\"\ncomplete: true\nhealthy: true\n"
    );
    let url = git(&person.path(), &["remote", "get-url", "origin"]);
    push_report(&url, worker, &text, key.map(SshKey::file).as_deref());
}

/// The time of the last report of a worker that was folded.
fn folded(remote: &Path, worker: &str) -> Option<String> {
    let spec = format!("refs/heads/carp/status:observed/{worker}.yaml");
    let output = crate::support::git_may_fail(remote, &["show", &spec]);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix("freshnessSince: "))?;
    Some(line.trim_matches('"').to_owned())
}

#[test]
fn a_report_counts_only_with_the_signature_of_its_own_worker() {
    let (Some(weu), Some(eus)) = (SshKey::new(), SshKey::new()) else {
        return skip("a_report_counts_only_with_the_signature_of_its_own_worker", "no ssh-keygen");
    };
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let signers = [weu.allowed("w-weu"), eus.allowed("w-eus")];
    let more = format!("  observed:\n    allowedSigners: {signers:?}\n");
    files.insert("carp.yaml".to_owned(), carp_yaml(&more));
    person.push(&files);
    let now = ["reconcile", "--once", "--now", "2026-11-01T09:00:00Z"];
    let run = || {
        let output = person.carp(&now);
        let said = printed(&output);
        assert!(output.status.success(), "{said}");
        said
    };
    report(&person, "w-weu", 50, None);
    report(&person, "w-eus", 50, Some(&weu));
    let said = run();
    assert!(said.contains("the report of `w-weu` cannot be used"), "{said}");
    assert!(said.contains("it has no signature"), "{said}");
    assert!(said.contains("its key is that of no allowed signer"), "{said}");
    assert_eq!(folded(&remote.path(), "w-weu"), None);
    assert_eq!(folded(&remote.path(), "w-eus"), None);
    report(&person, "w-weu", 51, Some(&weu));
    report(&person, "w-eus", 52, Some(&eus));
    let said = run();
    assert!(!said.contains("cannot be used"), "{said}");
    assert_eq!(folded(&remote.path(), "w-weu").as_deref(), Some("2026-11-01T08:51:00Z"));
    assert_eq!(folded(&remote.path(), "w-eus").as_deref(), Some("2026-11-01T08:52:00Z"));
}
