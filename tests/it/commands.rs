//! The commands that a newcomer runs first, as the program itself.

use std::fs;
use std::process::Command;

use crate::support::people;
use crate::support::reconciled::Ran;

#[test]
fn a_new_fleet_has_nothing_wrong_but_its_placeholders() {
    let folder = tempfile::tempdir().unwrap();
    let made = Ran::of(people::carp(folder.path(), &["init", "fleet"]));
    assert_eq!(made.exit, 0, "{}", made.err);

    let fleet = folder.path().join("fleet");
    let found = Ran::of(people::carp(&fleet, &["validate", "--output", "json"]));
    assert_eq!(found.exit, 1, "{}", found.err);
    let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    let found = found["findings"].as_array().unwrap();
    assert!(!found.is_empty());
    for finding in found {
        assert_eq!(finding["code"], "placeholder-credential", "{finding}");
    }

    let carp = fs::read_to_string(fleet.join("carp.yaml")).unwrap();
    let real = carp.replace("00000000-0000-0000-0000-", "7b5d9e2c-4c8a-4d3b-8f2e-");
    fs::write(fleet.join("carp.yaml"), real).unwrap();
    let validated = Ran::of(people::carp(&fleet, &["validate"]));
    assert_eq!(validated.exit, 0, "{}{}", validated.out, validated.err);
    assert!(
        validated.out.starts_with("no errors, no warnings: 12 clusters, 6 workers"),
        "{}",
        validated.out
    );
}

#[test]
fn everything_that_the_demonstration_suggests_works() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Ran::of(people::carp(folder.path(), &["demo", "my demo"]));
    assert_eq!((demo.exit, demo.err.as_str()), (0, ""), "{}", demo.out);
    for told in ["Placed 11 clusters", "ledger-archive waits", "carp/rendered"] {
        assert!(demo.out.contains(told), "{told} is not in:\n{}", demo.out);
    }
    let (_, next) = demo.out.split_once("\nTry next\n").expect("it suggests something");
    let is_command = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let commands: Vec<&str> = next.lines().filter(is_command).map(str::trim).collect();
    assert!(commands.len() >= 6, "{next}");
    let mut printed = String::new();
    for line in commands {
        let mut command = Command::new("sh");
        // Output goes to a pipe, so that git opens no pager.
        command.args(["-ec", line]).current_dir(folder.path());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
        command.env_remove("GITHUB_BASE_REF").env_remove("CI_MERGE_REQUEST_TARGET_BRANCH_NAME");
        let ran = Ran::of(command);
        assert_eq!(ran.exit, 0, "{line}\n{}{}", ran.out, ran.err);
        printed = format!("{printed}$ {line}\n{}", ran.out);
    }
    let bound = |line: &str| line.starts_with("ledger-archive ") && line.contains(" create ");
    assert!(printed.lines().any(bound), "the edit lets what waits in:\n{printed}");
    let tree = printed.lines().find_map(|line| line.strip_prefix("tree   ")).expect("a plan");
    let committed = Ran::of(git_in_demo(&folder.path().join("my demo/remote.git")));
    assert_eq!(committed.out.trim(), tree, "what was planned is what was pushed");
}

fn git_in_demo(repository: &std::path::Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository);
    command.args(["rev-parse", "carp/rendered^{tree}"]);
    command
}

#[test]
fn the_demonstration_replaces_its_own_folder_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let demo = |name: &str| Ran::of(people::carp(folder.path(), &["demo", name]));
    assert_eq!(demo("mine").exit, 0);
    assert_eq!(demo("mine").exit, 0, "again");

    fs::create_dir(folder.path().join("yours")).unwrap();
    fs::write(folder.path().join("yours/thesis.txt"), "years of work").unwrap();
    let refused = demo("yours");
    assert_eq!((refused.exit, refused.out.as_str()), (64, ""));
    assert_eq!(
        refused.err,
        "error: yours is there and was not made by the demonstration\nhelp: name another folder: `carp demo DIR`\n"
    );
    let kept = fs::read_to_string(folder.path().join("yours/thesis.txt")).unwrap();
    assert_eq!(kept, "years of work");
}

#[test]
fn a_name_that_nothing_has_is_told_with_the_nearest_one() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Ran::of(people::carp(folder.path(), &["init", "fleet"])).exit, 0);
    let fleet = folder.path().join("fleet");
    let carp = fs::read_to_string(fleet.join("carp.yaml")).unwrap();
    let real = carp.replace("00000000-0000-0000-0000-", "7b5d9e2c-4c8a-4d3b-8f2e-");
    fs::write(fleet.join("carp.yaml"), real).unwrap();
    for (args, told) in [
        (
            &["render", "--out", "out", "--cluster", "shop-ue"][..],
            "error: there is no cluster `shop-ue` in this fleet\nhelp: did you mean `shop-eu`?\n",
        ),
        (
            &["render", "--out", "out", "--worker", "us1"],
            "error: there is no worker `us1` in this fleet\nhelp: did you mean `us-1`?\n",
        ),
        (
            &["status", "worker/us1"],
            "error: there is no worker `us1` in this fleet\nhelp: did you mean `us-1`?\n",
        ),
        (
            &["explain", "shop-ue"],
            "error: there is no cluster, worker, pool or policy `shop-ue` in this fleet\nhelp: did you mean `shop-eu`?\n",
        ),
    ] {
        let ran = Ran::of(people::carp(&fleet, args));
        assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{args:?}");
        assert!(ran.err.ends_with(told), "{args:?}: {}", ran.err);
        assert!(!fleet.join("out").exists(), "{args:?} writes nothing");
    }
}
