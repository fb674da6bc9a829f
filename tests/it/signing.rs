//! carp signs its commits where the fleet asks for it, and git finds the signatures good.

use std::process::Command;

use crate::support::keys::{GpgHome, SshKey};
use crate::support::people::{Person, carp, printed};
use crate::support::small;
use crate::support::{Remote, git, git_may_fail, skip};

const RECONCILE: [&str; 2] = ["reconcile", "--once"];
const WRITTEN: [&str; 2] = ["refs/heads/carp/rendered", "refs/heads/carp/status"];

/// A small fleet on a remote whose `carp.yaml` has more below `spec`.
fn fleet(more: &str) -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.get_mut("carp.yaml").unwrap().push_str(more);
    person.push(&files);
    (remote, person)
}

fn is_good_by_ssh(remote: &Remote, key: &SshKey) {
    let allowed = key.allowed_file("carp@carp.dev");
    let allowed = format!("gpg.ssh.allowedSignersFile={}", allowed.display());
    for branch in WRITTEN {
        let output = git_may_fail(&remote.path(), &["-c", &allowed, "verify-commit", branch]);
        let said = printed(&output);
        assert!(output.status.success(), "{branch}: {said}");
        assert!(said.contains("Good \"git\" signature for carp@carp.dev"), "{branch}: {said}");
        git(&remote.path(), &["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn the_key_that_the_fleet_names_signs_output_and_status() {
    let Some(key) = SshKey::new() else {
        return skip("the_key_that_the_fleet_names_signs_output_and_status", "no ssh-keygen");
    };
    let file = key.file();
    let more = format!("  git: {{signing: {{format: ssh, key: {}}}}}\n", file.display());
    let (remote, person) = fleet(&more);
    let output = person.carp(&RECONCILE);
    assert!(output.status.success(), "{}", printed(&output));
    is_good_by_ssh(&remote, &key);
    let tip = remote.at(WRITTEN[0]);
    let again = person.carp(&RECONCILE);
    assert!(again.status.success(), "{}", printed(&again));
    assert_eq!(remote.at(WRITTEN[0]), tip, "a signed commit is made once");
}

#[test]
fn what_the_fleet_leaves_open_gits_own_settings_say() {
    let Some(key) = SshKey::new() else {
        return skip("what_the_fleet_leaves_open_gits_own_settings_say", "no ssh-keygen");
    };
    let (remote, person) = fleet("  git: {signing: {format: ssh}}\n");
    git(&person.path(), &["config", "user.signingKey", key.file().to_str().unwrap()]);
    let output = person.carp(&RECONCILE);
    assert!(output.status.success(), "{}", printed(&output));
    is_good_by_ssh(&remote, &key);
}

#[test]
fn gpg_signs_with_the_key_of_the_author() {
    let Some(home) = GpgHome::new("carp <carp@carp.dev>") else {
        return skip("gpg_signs_with_the_key_of_the_author", "no gpg");
    };
    let (remote, person) = fleet("  git: {signing: {format: openpgp}}\n");
    let with_home = |mut command: Command| {
        let output = command.env("GNUPGHOME", home.path()).output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    };
    with_home(carp(&person.path(), &RECONCILE));
    for branch in WRITTEN {
        let mut command = Command::new("git");
        command.arg("-C").arg(remote.path()).args(["verify-commit", "--raw", branch]);
        let said = with_home(command);
        assert!(said.contains("[GNUPG:] GOODSIG "), "{branch}: {said}");
    }
}

#[test]
fn without_its_key_nothing_is_pushed() {
    if SshKey::new().is_none() {
        return skip("without_its_key_nothing_is_pushed", "no ssh-keygen");
    }
    let (remote, person) = fleet("  git: {signing: {format: ssh, key: /nowhere/key}}\n");
    let output = person.carp(&RECONCILE);
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["`ssh-keygen` with the key `/nowhere/key`", "so nothing was pushed"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(WRITTEN.map(|branch| remote.at(branch)), [None, None]);
}
