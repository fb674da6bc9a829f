//! What `carp init` writes for CI, run: the steps of its workflows against a bare remote, with a forge that is a
//! program called `curl`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use carp::model::api::ForgeKind;
use serde_yaml::Value;
use tempfile::TempDir;

use crate::support::forge::{Forge, TOKEN};
use crate::support::git;
use crate::support::people;
use crate::support::reconciled::Ran;

/// The calls of a forge's API are files in its folder: what is answered to a list, and what was asked.
const FORGE: &str = r#"#!/bin/sh
for last; do :; done
case $last in file://*|http://127.0.0.1:*) exec /usr/bin/curl "$@" ;; esac
data= request=GET
while [ $# -gt 0 ]; do
  case $1 in
    --data) data=${2#@}; shift ;;
    --request) request=$2; shift ;;
  esac
  shift
done
echo "$request ${last#*//*/}" >> "$FORGE/calls"
case $last in */user) echo '{"username": "carp-bot"}'; exit ;; esac
if [ -n "$data" ]; then cp "$data" "$FORGE/body"; else cat "$FORGE/comments"; fi
"#;

/// A bare remote with a fresh clone in which `carp init` ran, and a forge.
pub(crate) struct World {
    dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        let root = world.dir.path();
        git(root, &["init", "--quiet", "--bare", "-b", "main", "remote.git"]);
        git(root, &["clone", "--quiet", "remote.git", "fleet"]);
        git(&world.fleet(), &["symbolic-ref", "HEAD", "refs/heads/main"]);
        fs::write(world.fleet().join("README.md"), "# Ours\n").unwrap();
        let made = Ran::of(people::carp(&world.fleet(), &["init", "."]));
        assert_eq!(made.exit, 0, "{}", made.err);
        assert!(!made.out.contains("git init"), "{}", made.out);
        world.edit("carp.yaml", "00000000-0000-0000-0000-", "7b5d9e2c-4c8a-4d3b-8f2e-");
        // The program has 200 MB in tests, and each pipeline would copy it and sum it up twice.
        let program = root.join("program").display().to_string();
        let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_carp"));
        fs::write(&program, text).unwrap();
        world.edit(".carp/carp.env", "CARP_URL=", &format!("CARP_URL=file://{program}"));
        let sum = Ran::of(command("sha256sum", &[&program]));
        let sum = sum.out.split(' ').next().unwrap().to_owned();
        world.edit(".carp/carp.env", "CARP_SHA256=", &format!("CARP_SHA256={sum}"));
        let page = "CARP_DOCS_URL=https://docs.example.com/errors.md";
        world.edit(".carp/carp.env", "CARP_DOCS_URL=", page);
        world.push("the fleet");
        fs::create_dir(root.join("bin")).unwrap();
        fs::write(root.join("bin/curl"), FORGE).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(root.join("bin/curl"), executable).unwrap();
        world.answer("[]");
        world
    }

    pub(crate) fn fleet(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let path = self.fleet().join(path);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} is not in {}", path.display());
        fs::write(path, text.replace(from, to)).unwrap();
    }

    fn push(&self, message: &str) {
        git(&self.fleet(), &["add", "--all"]);
        git(&self.fleet(), &["commit", "--quiet", "-m", message]);
        git(&self.fleet(), &["push", "--quiet", "origin", "main"]);
        git(&self.fleet(), &["fetch", "--quiet", "origin"]);
    }

    fn answer(&self, comments: &str) {
        fs::write(self.dir.path().join("comments"), comments).unwrap();
    }

    fn asked(&self) -> String {
        let calls = self.dir.path().join("calls");
        let asked = fs::read_to_string(&calls).unwrap_or_default();
        let _ = fs::remove_file(calls);
        asked
    }

    /// One step, as a runner runs it.
    pub(crate) fn step(&self, script: &str, env: &[(&str, &str)]) -> Ran {
        let root = self.dir.path();
        let path = std::env::var("PATH").unwrap_or_default();
        let added = fs::read_to_string(root.join("path")).unwrap_or_default();
        let mut command = command("bash", &["-e", "-o", "pipefail", "-c", script]);
        command.current_dir(self.fleet());
        command.env("PATH", format!("{}:{}:{path}", added.trim(), root.join("bin").display()));
        command.env("HOME", root).env("FORGE", root);
        command.env("GITHUB_PATH", root.join("path"));
        command.env("GITHUB_STEP_SUMMARY", root.join("summary"));
        command.envs(env.iter().copied());
        Ran::of(command)
    }
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("CARP_FLEET");
    command
}

/// What a runner of GitHub says.
pub(crate) const GITHUB: &[(&str, &str)] = &[
    ("GITHUB_ACTIONS", "true"),
    ("GITHUB_API_URL", "https://api.example.com"),
    ("GITHUB_REPOSITORY", "our/fleet"),
    ("GH_TOKEN", "secret"),
    ("NUMBER", "7"),
];

/// What a runner of GitLab says.
const GITLAB: &[(&str, &str)] = &[
    ("CI_API_V4_URL", "https://git.example.com/api/v4"),
    ("CI_PROJECT_ID", "42"),
    ("CI_MERGE_REQUEST_IID", "7"),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
    ("CARP_TOKEN", "secret"),
];

fn yaml(world: &World, path: &str) -> Value {
    serde_yaml::from_str(&fs::read_to_string(world.fleet().join(path)).unwrap()).unwrap()
}

/// The shell steps of a job of the workflow, each by its name.
fn github(world: &World, job: &str) -> BTreeMap<String, String> {
    let workflow = yaml(world, ".github/workflows/carp.yaml");
    let steps = workflow["jobs"][job]["steps"].as_sequence().unwrap().clone();
    let run = |step: &Value| Some((step["name"].as_str()?.into(), step["run"].as_str()?.into()));
    steps.iter().filter_map(run).collect()
}

#[test]
fn the_workflow_plans_comments_and_reconciles() {
    let world = World::new();
    let readme = fs::read_to_string(world.fleet().join("README.md")).unwrap();
    assert_eq!(readme, "# Ours\n", "what was there stays");
    let plan = github(&world, "plan");
    let installed = world.step(&plan["Install carp"], GITHUB);
    assert_eq!(installed.exit, 0, "{}{}", installed.out, installed.err);
    let planned = world.step(&plan["Plan"], GITHUB);
    assert_eq!(planned.exit, 0, "{}{}", planned.out, planned.err);
    let summary = fs::read_to_string(world.dir.path().join("summary")).unwrap();
    assert!(summary.contains("pay-eu"), "the fleet places clusters without any agent: {summary}");
    let left = git(&world.fleet(), &["status", "--porcelain"]);
    assert_eq!(left, "", "what a step leaves is no part of the change");
    assert!(world.fleet().join("carp.sarif").exists() && world.fleet().join("plan.md").exists());
    let excluded = fs::read_to_string(world.fleet().join(".git/info/exclude")).unwrap();
    assert_eq!(world.step(&plan["Plan"], GITHUB).exit, 0);
    let again = fs::read_to_string(world.fleet().join(".git/info/exclude")).unwrap();
    assert_eq!(again, excluded, "once");

    assert_eq!(world.step(&plan["Comment"], GITHUB).exit, 0);
    let asked = world.asked();
    assert!(asked.ends_with("POST repos/our/fleet/issues/7/comments\n"), "{asked}");
    let body = fs::read_to_string(world.dir.path().join("body")).unwrap();
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert!(body["body"].as_str().unwrap().starts_with("<!-- carp plan -->\n"), "{body}");
    // What somebody else wrote with the marker stays theirs.
    world.answer(
        r#"[{"id": 1, "body": "<!-- carp plan -->\nmine", "user": {"login": "somebody"}},
            {"id": 23, "body": "<!-- carp plan -->\nold", "user": {"login": "github-actions[bot]"}}]"#,
    );
    assert_eq!(world.step(&plan["Comment"], GITHUB).exit, 0);
    let asked = world.asked();
    assert!(asked.ends_with("PATCH repos/our/fleet/issues/comments/23\n"), "{asked}");

    let reconciled = world.step(&github(&world, "reconcile")["Reconcile"], GITHUB);
    assert_eq!(reconciled.exit, 0, "{}{}", reconciled.out, reconciled.err);
    let remote = world.dir.path().join("remote.git");
    let records = git(&remote, &["ls-tree", "-r", "--name-only", "carp/rendered", "decisions/"]);
    assert!(records.contains("/pay-eu.yaml"), "{records}");
}

#[test]
fn what_is_held_is_told_from_what_is_fine_and_what_is_wrong() {
    let world = World::new();
    let (plan, reconcile) = (github(&world, "plan"), github(&world, "reconcile"));
    assert_eq!(world.step(&plan["Install carp"], GITHUB).exit, 0);
    assert_eq!(world.step(&reconcile["Reconcile"], GITHUB).exit, 0);
    git(&world.fleet(), &["fetch", "--quiet", "origin"]);

    fs::remove_file(world.fleet().join("fleet/shop/production.yaml")).unwrap();
    fs::remove_dir_all(world.fleet().join("policies/tests")).unwrap();
    let fleet = world.fleet();
    git(&fleet, &["add", "--all"]);
    git(&fleet, &["commit", "--quiet", "-m", "clusters removed that nobody said to delete"]);
    let on_gitlab = world.step("sh .carp/ci.sh plan", GITLAB);
    assert_eq!(on_gitlab.exit, 3, "{}{}", on_gitlab.out, on_gitlab.err);
    git(&fleet, &["push", "--quiet", "origin", "main"]);
    git(&fleet, &["fetch", "--quiet", "origin"]);
    let held = world.step(&plan["Plan"], GITHUB);
    assert_eq!(held.exit, 0, "{}{}", held.out, held.err);
    assert!(held.out.contains("::warning title=carp::a guard holds something"), "{}", held.out);
    let held = world.step(&reconcile["Reconcile"], GITHUB);
    assert!(held.exit == 0 && held.out.contains("::warning "), "{}{}", held.out, held.err);

    world.edit("fleet/classes.yaml", "kind: ManagedClusterClass", "kind: ManagedClusterKlass");
    let wrong = world.step(&plan["Plan"], GITHUB);
    assert_eq!(wrong.exit, 1, "{}{}", wrong.out, wrong.err);
    let sarif = fs::read_to_string(world.fleet().join("carp.sarif")).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    let id = rule["id"].as_str().unwrap();
    assert_eq!(rule["helpUri"], format!("https://docs.example.com/errors.md#{id}"));
    assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
}

#[test]
fn gitlabs_jobs_plan_the_merge_and_edit_their_note() {
    let world = World::new();
    let jobs = yaml(&world, ".gitlab-ci.yml");
    let install = world.step("sh .carp/ci.sh install >> \"$GITHUB_PATH\"", GITLAB);
    assert_eq!(install.exit, 0, "{}", install.err);
    let lines = |job: &str| {
        let lines = jobs[job]["script"].as_sequence().unwrap();
        lines.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n")
    };
    world.answer(
        r#"[{"id": 4, "body": "<!-- carp plan -->\nmine", "author": {"username": "somebody"}},
            {"id": 5, "body": "<!-- carp plan -->\nold", "author": {"username": "carp-bot"}}]"#,
    );
    let planned = world.step(&lines("plan"), GITLAB);
    assert_eq!(planned.exit, 0, "{}{}", planned.out, planned.err);
    let asked = world.asked();
    assert!(asked.ends_with("PUT api/v4/projects/42/merge_requests/7/notes/5\n"), "{asked}");
    assert_eq!(jobs[".carp"]["allow_failure"]["exit_codes"], 3);
    assert_eq!(jobs["plan"]["interruptible"], true);
}

/// What a runner says whose forge is on this machine.
pub(crate) fn on(
    forge: &Forge,
    said: &[(&'static str, &'static str)],
) -> Vec<(&'static str, String)> {
    let server = forge.url().trim_end_matches("/our/fleet").to_owned();
    let own = [
        ("GITHUB_API_URL", format!("{server}/api/v3")),
        ("GITHUB_SERVER_URL", server.clone()),
        ("GH_TOKEN", TOKEN.to_owned()),
        ("CI_API_V4_URL", format!("{server}/api/v4")),
        ("CI_PROJECT_ID", "our%2Ffleet".to_owned()),
        ("CARP_TOKEN", TOKEN.to_owned()),
    ];
    let said = said.iter().map(|(name, value)| (*name, (*value).to_owned()));
    // Of a runner of GitHub's nothing is said that only GitLab says.
    let is_said = |name: &str| said.clone().any(|(n, _)| n == name) || name == "GITHUB_SERVER_URL";
    let own: Vec<_> = own.into_iter().filter(|(name, _)| is_said(name)).collect();
    said.clone().filter(|(name, _)| own.iter().all(|(n, _)| n != name)).chain(own.clone()).collect()
}

#[test]
fn the_steps_speak_to_a_forge_and_what_is_merged_gets_its_status() {
    let script = |step: &str| format!("sh .carp/ci.sh {step}");
    let cases = [(ForgeKind::GitHub, GITHUB), (ForgeKind::GitLab, GITLAB)];
    for (kind, said) in cases {
        let (world, forge) = (World::new(), Forge::start(kind));
        let env = on(&forge, said);
        let mut env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let install = world.step("sh .carp/ci.sh install >> \"$GITHUB_PATH\"", &env);
        assert_eq!(install.exit, 0, "{}", install.err);
        for _ in 0..2 {
            assert_eq!(world.step(&script("plan"), &env).exit, 0);
            let commented = world.step(&script("comment"), &env);
            assert_eq!(commented.exit, 0, "{}{}", commented.out, commented.err);
        }
        {
            let has = forge.has();
            assert_eq!(has.comments.len(), 1, "{kind:?}: {:?}", has.asked);
            assert!(has.comments[0].starts_with("<!-- carp plan -->\n"), "{kind:?}");
        }
        let url = forge.url();
        env.push(match kind {
            ForgeKind::GitHub => ("CARP_FORGE_TOKEN", TOKEN),
            _ => ("CI_PROJECT_URL", url.as_str()),
        });
        let reconciled = world.step(&script("reconcile"), &env);
        assert_eq!(reconciled.exit, 0, "{}{}", reconciled.out, reconciled.err);
        assert!(reconciled.out.contains("forge: told "), "{}", reconciled.out);
        let has = forge.has();
        assert_eq!(has.statuses.len(), 1, "{kind:?}");
        assert!(has.statuses[0].2.contains(" placed"), "{:?}", has.statuses);
        assert!(has.comments[1].starts_with("<!-- carp reconcile -->\n"), "{kind:?}");
    }
}

#[test]
fn in_a_queue_a_change_that_waits_is_not_merged() {
    let world = World::new();
    let plan = github(&world, "plan");
    assert_eq!(world.step(&plan["Install carp"], GITHUB).exit, 0);
    let reconcile = &github(&world, "reconcile")["Reconcile"];
    assert_eq!(world.step(reconcile, GITHUB).exit, 0);
    let fleet = world.fleet();
    git(&fleet, &["fetch", "--quiet", "origin"]);
    let waits = "apiVersion: carp.dev/v1alpha1\nkind: ManagedCluster\nmetadata:\n  name: shop-late\n  namespace: \
                 shop\nspec:\n  version: v1.34.2\n  location: westeurope\n  class: small\n  placement:\n    \
                 affinity:\n      required:\n        - names: [no-such-worker]\n";
    fs::write(fleet.join("fleet/shop/late.yaml"), waits).unwrap();
    git(&fleet, &["add", "--all"]);
    git(&fleet, &["commit", "--quiet", "-m", "a cluster that fits nowhere"]);
    let with = |name, value| [GITHUB, &[(name, value)]].concat();
    let request = world.step(&plan["Plan"], &with("GITHUB_BASE_REF", "main"));
    assert_eq!(request.exit, 0, "a person may want that: {}{}", request.out, request.err);
    let planned = fs::read_to_string(fleet.join("plan.md")).unwrap();
    assert!(planned.contains("shop-late") && !planned.contains("shop-web"), "{planned}");
    let queued = world.step(&plan["Plan"], &with("QUEUE_BASE", "refs/heads/main"));
    assert_eq!(queued.exit, 1, "{}{}", queued.out, queued.err);
    let workflow = yaml(&world, ".github/workflows/carp.yaml");
    let text = fs::read_to_string(fleet.join(".github/workflows/carp.yaml")).unwrap();
    assert!(text.contains("QUEUE_BASE: ${{ github.event.merge_group.base_ref }}"), "{text}");
    assert_eq!(workflow["jobs"]["reconcile"]["permissions"]["statuses"], "write");
}

#[test]
fn renovate_finds_what_it_is_to_keep_up_to_date() {
    let world = World::new();
    let text = fs::read_to_string(world.fleet().join("renovate.json")).unwrap();
    let preset: serde_json::Value = serde_json::from_str(&text).unwrap();
    let found = |manager: usize, text: &str| -> Vec<String> {
        let pattern = preset["customManagers"][manager]["matchStrings"][0].as_str().unwrap();
        let pattern = regex_lite::Regex::new(pattern).unwrap();
        pattern.captures_iter(text).map(|found| found["currentValue"].to_owned()).collect()
    };
    let sum = "a".repeat(64);
    let pinned = format!(
        "# renovate: depName=org/carp\nCARP_URL=https://github.com/org/carp/releases/download/v0.1.0/carp-x86_64-unknown-linux-musl\n\
         CARP_SHA256={sum}\n"
    );
    assert_eq!(found(0, &pinned), ["v0.1.0"]);
    let clusters = fs::read_to_string(world.fleet().join("fleet/shop/production.yaml")).unwrap();
    let versions = clusters.matches("\n  version: v1.").count();
    assert!(versions > 1 && found(1, &clusters).len() == versions, "{clusters}");
}

#[test]
fn a_program_of_another_checksum_is_not_run() {
    let world = World::new();
    let env = fs::read_to_string(world.fleet().join(".carp/carp.env")).unwrap();
    let pinned = env.lines().find(|line| line.starts_with("CARP_SHA256=")).unwrap();
    world.edit(".carp/carp.env", pinned, "CARP_SHA256=0000");
    let refused = world.step("sh .carp/ci.sh install", GITHUB);
    assert_eq!(refused.exit, 1, "{}", refused.out);
    assert!(refused.err.contains("has the checksum"), "{}", refused.err);
    assert!(!world.dir.path().join(".cache/carp-bin/carp").exists());
}

#[test]
fn a_hook_refuses_a_commit_that_does_not_load() {
    let world = World::new();
    assert_eq!(world.step("sh .carp/ci.sh install >> \"$GITHUB_PATH\"", GITHUB).exit, 0);
    let hook = "printf '#!/bin/sh\\nexec sh .carp/ci.sh staged\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";
    let said = fs::read_to_string(world.fleet().join(".pre-commit-config.yaml")).unwrap();
    assert!(said.contains(hook), "{said}");
    assert_eq!(world.step(hook, &[]).exit, 0);
    let commit = "git -c user.name=a -c user.email=a@example.com commit -qm edit -a";
    world.edit("fleet/shop/production.yaml", "version: v1.34.2", "version: 1.34");
    let refused = world.step(commit, &[]);
    assert_eq!(refused.exit, 1, "{}{}", refused.out, refused.err);
    let said = format!("{}{}", refused.out, refused.err);
    assert!(said.contains("fleet/shop/production.yaml:"), "{said}");
    world.edit("fleet/shop/production.yaml", "version: 1.34\n", "version: v1.34.2\n");
    world.edit("fleet/shop/production.yaml", "version: v1.34.2", "version: v1.34.2 # as all");
    let taken = world.step(commit, &[]);
    assert_eq!(taken.exit, 0, "{}{}", taken.out, taken.err);
}
