//! The example fleet through the real pipeline, and what a user sees of it with the real program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use carp::model::{Decision, Name};

use crate::support::people::{Person, carp, printed};
use crate::support::world::World;
use crate::support::{Remote, git};
use crate::{rendered_crds, rendered_kustomize, rendered_yaml};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fleet-repo-example")
}

fn files() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                left.push(entry);
            } else {
                let path = entry.strip_prefix(folder()).unwrap().to_str().unwrap().to_owned();
                found.insert(path, fs::read_to_string(entry).unwrap());
            }
        }
    }
    found
}

/// The example, run once in memory.
fn world() -> World {
    let mut world = World::new(files());
    let reports = world.files.iter().filter_map(|(path, text)| {
        let worker = path.strip_prefix("observed/")?.strip_suffix(".yaml")?;
        Some((Name::parse(worker).unwrap(), text.clone().into_bytes()))
    });
    world.reports = Some(reports.collect());
    let proposal = world.run();
    assert!(!proposal.diagnostics.has_errors(), "{:#?}", proposal.diagnostics);
    assert!(proposal.gates.is_empty());
    world
}

#[test]
fn the_example_is_worth_reading() {
    let mut world = world();
    let proposal = world.propose();
    assert!(proposal.fleet.workers.len() >= 4 && proposal.fleet.clusters.len() >= 12);
    let locations: std::collections::BTreeSet<_> =
        proposal.fleet.workers.values().map(|w| &w.spec.location).collect();
    assert!(locations.len() >= 3);
    let tenants: std::collections::BTreeSet<_> =
        proposal.fleet.clusters.values().map(|c| &c.tenant).collect();
    assert_eq!(tenants.len(), 2);
    let waits = |d: &Decision| matches!(d, Decision::Wait { .. });
    let waiting = proposal.plan.clusters.values().filter(|p| waits(&p.decision)).count();
    assert_eq!(waiting, 1, "one cluster waits for a reason worth reading");
    assert!(!proposal.has_changes());
}

#[test]
fn the_policies_of_the_example_do_what_its_tests_expect() {
    let mut world = world();
    let proposal = world.propose();
    let input = world.snapshot().input;
    let verified = carp::verify::policies(&input, &world.store, &proposal.fleet).unwrap();
    assert!(verified.diagnostics.is_empty(), "{:#?}", verified.diagnostics);
    assert!(verified.tests >= 3);
}

#[test]
fn every_object_of_the_example_is_accepted_by_the_crds() {
    let mut objects = world().output_files();
    objects.retain(|path, _| !path.starts_with("decisions/"));
    rendered_crds::check(&objects);
}

#[test]
fn kustomize_builds_every_path_of_the_example() {
    rendered_kustomize::check(&world().output_files());
}

#[test]
fn other_readers_read_the_same_in_the_example() {
    let world = world();
    rendered_yaml::check(&world.output_files());
    let mut status = BTreeMap::new();
    crate::support::world::files_below(&world.store, world.status.unwrap(), "", &mut |path, id| {
        use carp::model::Store as _;
        status.insert(path.to_owned(), world.store.blob(id).unwrap().to_vec());
    });
    assert!(status.len() > 20, "{:?}", status.keys());
    rendered_yaml::check(&status);
}

/// A remote with a fleet below `prefix`, and a person who has cloned it.
fn cloned(prefix: &str) -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let join = |path: String| if prefix.is_empty() { path } else { format!("{prefix}/{path}") };
    person.push(&files().into_iter().map(|(path, text)| (join(path), text)).collect());
    (remote, person)
}

fn tree_in(output: &str) -> String {
    let line = output.lines().find_map(|l| l.strip_prefix("tree ")).unwrap_or_else(|| {
        panic!("no tree id in:\n{output}");
    });
    line.trim().to_owned()
}

/// What `plan` says is what `reconcile` commits and what `render` writes.
fn plan_is_apply(remote: &Remote, person: &Person, fleet: &str) {
    let plan = person.carp(&["plan", "--fleet", fleet]);
    assert!(plan.status.success(), "{}", printed(&plan));
    let planned = tree_in(&printed(&plan));

    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("out");
    let render = person.carp(&["render", "--fleet", fleet, "--out", target.to_str().unwrap()]);
    assert!(render.status.success(), "{}", printed(&render));

    let run = person.carp(&["reconcile", "--once", "--fleet", fleet]);
    assert!(run.status.success(), "{}", printed(&run));
    let committed = git(&remote.path(), &["rev-parse", "refs/heads/carp/rendered^{tree}"]);
    assert_eq!(planned, committed);
    git(&target, &["init", "--quiet"]);
    git(&target, &["add", "--all", "--force"]);
    assert_eq!(git(&target, &["write-tree"]), committed, "render wrote the same bytes");

    let tips = |remote: &Remote| git(&remote.path(), &["for-each-ref"]);
    let before = tips(remote);
    let again = person.carp(&["reconcile", "--once", "--fleet", fleet]);
    assert!(again.status.success() && printed(&again).contains("nothing to commit"));
    assert_eq!(tips(remote), before, "a second run moves no branch");
}

#[test]
fn plan_reconcile_and_render_agree() {
    let (remote, person) = cloned("");
    plan_is_apply(&remote, &person, ".");
}

#[test]
fn a_nested_fleet_keeps_its_prefix() {
    let (remote, person) = cloned("teams/platform");
    plan_is_apply(&remote, &person, "teams/platform");
    let all = git(&remote.path(), &["ls-tree", "-r", "--name-only", "carp/rendered"]);
    assert!(all.lines().all(|path| path.starts_with("teams/platform/")), "{all}");
    let index = "carp/rendered:teams/platform/workers/we-1/clusters.yaml";
    let text = git(&remote.path(), &["show", index]);
    assert!(text.contains("path: ./teams/platform/workers/we-1/clusters/"), "{text}");
}

#[test]
fn an_edit_of_one_field_is_a_small_commit() {
    let (remote, person) = cloned("");
    assert!(person.carp(&["reconcile", "--once"]).status.success());
    let (path, text) = files().into_iter().find(|(_, t)| t.contains("name: shop-web")).unwrap();
    let at = text.find("name: shop-web").unwrap();
    let edited =
        format!("{}{}", &text[..at], text[at..].replacen("spec:\n", "spec:\n  paused: true\n", 1));
    person.push_one(&path, &edited);
    let before = git(&remote.path(), &["rev-parse", "carp/rendered"]);
    let run = person.carp(&["reconcile", "--once"]);
    assert!(run.status.success(), "{}", printed(&run));
    let range = format!("{before}..carp/rendered");
    let changed = git(&remote.path(), &["diff", "--name-only", &range]);
    let expected = [
        "workers/we-1/carp.lock",
        "workers/we-1/clusters/shop-web/cluster.yaml",
        "workers/we-1/sentinel.yaml",
    ];
    assert_eq!(changed.lines().collect::<Vec<_>>(), expected);
    let message = git(&remote.path(), &["log", "-1", "--format=%B", "carp/rendered"]);
    for trailer in
        ["Carp-Input: ", "Carp-Observed: ", "Carp-Time: ", "Carp-Version: ", "Carp-Plan: "]
    {
        assert!(message.contains(trailer), "{message}");
    }
}

#[test]
fn a_folder_outside_any_repository_is_read_as_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files() {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let plan = carp(dir.path(), &["plan"]).output().unwrap();
    assert!(plan.status.success(), "{}", printed(&plan));
    let mut world = World::new(files());
    world.reports = self::world().reports;
    let tree = world.propose().tree.to_string();
    assert_eq!(tree_in(&printed(&plan)), tree, "the same bytes as anywhere else");
    let refused = carp(dir.path(), &["reconcile", "--once"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", printed(&refused));
}

#[test]
fn an_example_never_reaches_a_remote_that_others_read() {
    let (_remote, person) = cloned("");
    git(
        &person.path(),
        &["remote", "set-url", "--push", "origin", "https://git.example.com/f.git"],
    );
    let refused = person.carp(&["reconcile", "--once"]);
    assert_eq!(refused.status.code(), Some(3), "{}", printed(&refused));
    assert!(printed(&refused).contains("is an example"), "{}", printed(&refused));
}

#[test]
fn a_lost_output_branch_is_not_taken_for_a_first_run() {
    let (remote, person) = cloned("");
    assert!(person.carp(&["reconcile", "--once"]).status.success());
    git(&remote.path(), &["update-ref", "-d", "refs/heads/carp/rendered"]);
    let refused = person.carp(&["reconcile", "--once"]);
    assert_eq!(refused.status.code(), Some(3), "{}", printed(&refused));
    assert!(remote.at("refs/heads/carp/rendered").is_none());
}

#[test]
fn a_rewound_input_branch_is_held() {
    let (remote, person) = cloned("");
    let first = git(&person.path(), &["rev-parse", "HEAD"]);
    person.push_one("fleet/note.txt", "a file that carp does not read\n");
    person.push_one("fleet/shop/web2.yaml", &crate::support::small::cluster("shop-web2", "eastus"));
    let run = person.carp(&["reconcile", "--once"]);
    assert!(remote.at("refs/heads/carp/rendered").is_some(), "{}", printed(&run));
    git(&person.path(), &["push", "--quiet", "--force", "origin", &format!("{first}:main")]);
    let before = remote.at("refs/heads/carp/rendered");
    let held = person.carp(&["reconcile", "--once"]);
    assert_eq!(held.status.code(), Some(3), "{}", printed(&held));
    assert!(printed(&held).contains("Rewind"), "{}", printed(&held));
    assert_eq!(remote.at("refs/heads/carp/rendered"), before);
}

/// The small fleet, which is no example, on a remote, and a person who has cloned it.
fn small_fleet() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&crate::support::small::files());
    (remote, person)
}

#[test]
fn an_output_branch_that_was_emptied_is_not_taken_for_a_first_run() {
    let (remote, person) = small_fleet();
    let run = person.carp(&["reconcile", "--once"]);
    assert!(run.status.success(), "{}", printed(&run));
    let empty = git(&remote.path(), &["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let commit =
        git(&remote.path(), &["commit-tree", &empty, "-m", "emptied", "-p", "carp/rendered"]);
    git(&remote.path(), &["update-ref", "refs/heads/carp/rendered", &commit]);
    let refused = person.carp(&["reconcile", "--once"]);
    assert_eq!(refused.status.code(), Some(3), "{}", printed(&refused));
    assert_eq!(git(&remote.path(), &["rev-parse", "carp/rendered"]), commit);
}

#[test]
fn a_rewind_is_held_in_a_fresh_clone_and_after_a_commit_by_hand() {
    let (remote, person) = small_fleet();
    let first = git(&person.path(), &["rev-parse", "HEAD"]);
    person.push_one("fleet/golf.yaml", &crate::support::small::cluster("golf", "eastus"));
    assert!(person.carp(&["reconcile", "--once"]).status.success());
    let bare = remote.path();
    // A person's commit on the output branch has no trailers.
    let by_hand = git(
        &bare,
        &["commit-tree", "carp/rendered^{tree}", "-m", "by hand", "-p", "carp/rendered"],
    );
    git(&bare, &["update-ref", "refs/heads/carp/rendered", &by_hand]);
    git(&bare, &["update-ref", "refs/heads/main", &first]);
    git(&bare, &["reflog", "expire", "--expire=now", "--all"]);
    git(&bare, &["gc", "--quiet", "--prune=now"]);
    let other = Person::cloning(&remote.url());
    git(&other.path(), &["checkout", "--quiet", "main"]);
    let held = other.carp(&["reconcile", "--once"]);
    assert_eq!(held.status.code(), Some(3), "{}", printed(&held));
    assert!(printed(&held).contains("Rewind"), "{}", printed(&held));
}

#[test]
fn the_names_of_the_branches_are_those_of_the_input_branch() {
    let (remote, person) = small_fleet();
    assert!(person.carp(&["reconcile", "--once"]).status.success());
    let before = remote.at("refs/heads/carp/rendered");
    // A clone that still shows the old commit, while the input branch names another output branch.
    let other = Person::cloning(&remote.url());
    git(&other.path(), &["checkout", "--quiet", "main"]);
    let fleet = crate::support::small::FLEET
        .replace("spec:\n", "spec:\n  branches: {output: deploy, status: known}\n");
    person.push_one("carp.yaml", &fleet);
    assert!(other.carp(&["reconcile", "--once"]).status.success());
    assert_eq!(
        remote.at("refs/heads/carp/rendered"),
        before,
        "it is not the output branch any more"
    );
    assert!(remote.at("refs/heads/deploy").is_some() && remote.at("refs/heads/known").is_some());
}

#[test]
fn a_fleet_is_named_by_its_url() {
    let (remote, person) = small_fleet();
    let fleet = crate::support::small::FLEET
        .replace("spec:\n", "spec:\n  branches: {input: trunk, output: deploy}\n");
    person.push_one("carp.yaml", &fleet);
    git(&person.path(), &["push", "--quiet", "origin", "main:trunk"]);
    git(&remote.path(), &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    git(&remote.path(), &["update-ref", "-d", "refs/heads/main"]);
    let cache = tempfile::tempdir().unwrap();
    let url = format!("file://{}", remote.url());
    let run = |args: &[&str]| {
        let mut command = carp(cache.path(), args);
        command.args(["--fleet", &url]).env("XDG_CACHE_HOME", cache.path()).output().unwrap()
    };
    let plan = run(&["plan"]);
    assert!(plan.status.success(), "{}", printed(&plan));
    let reconcile = run(&["reconcile", "--once"]);
    assert!(reconcile.status.success(), "{}", printed(&reconcile));
    let tree = git(&remote.path(), &["rev-parse", "refs/heads/deploy^{tree}"]);
    assert_eq!(tree_in(&printed(&plan)), tree);
    assert!(remote.at("refs/heads/carp/rendered").is_none());
}

#[test]
fn the_output_may_be_the_input_branch() {
    let (remote, person) = small_fleet();
    let fleet =
        crate::support::small::FLEET.replace("spec:\n", "spec:\n  branches: {output: main}\n");
    person.push_one("carp.yaml", &fleet);
    let run = person.carp(&["reconcile", "--once"]);
    assert!(run.status.success(), "{}", printed(&run));
    let files = git(&remote.path(), &["ls-tree", "-r", "--name-only", "main"]);
    for path in ["fleet/clusters/alpha.yaml", "workers/w-weu/clusters/alpha/cluster.yaml"] {
        assert!(files.lines().any(|l| l == path), "{path}");
    }
    let before = remote.at("refs/heads/main");
    let again = person.carp(&["reconcile", "--once"]);
    assert!(again.status.success(), "{}", printed(&again));
    assert_eq!(remote.at("refs/heads/main"), before, "its own commit is no news");
    let status = remote.at("refs/heads/carp/status");
    person.carp(&["reconcile", "--once"]);
    assert_eq!(remote.at("refs/heads/carp/status"), status);

    git(&person.path(), &["pull", "--quiet", "--rebase", "origin", "main"]);
    person.push_one("fleet/golf.yaml", &crate::support::small::cluster("golf", "eastus"));
    let plan = person.carp(&["plan"]);
    let run = person.carp(&["reconcile", "--once"]);
    assert!(run.status.success(), "{}", printed(&run));
    let tree = git(&remote.path(), &["rev-parse", "main^{tree}"]);
    assert_eq!(tree_in(&printed(&plan)), tree, "plan says the tree, input files included");
}

#[test]
fn two_fleets_share_a_repository_and_its_branches() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let small = crate::support::small::files();
    let both = ["", "clusters/"].iter().flat_map(|prefix| {
        small.iter().map(move |(path, text)| (format!("{prefix}{path}"), text.clone()))
    });
    person.push(&both.collect());
    for fleet in [".", "clusters", ".", "clusters"] {
        let run = person.carp(&["reconcile", "--once", "--fleet", fleet]);
        assert!(run.status.success(), "{fleet}: {}", printed(&run));
    }
    let tips = |remote: &Remote| git(&remote.path(), &["for-each-ref"]);
    let before = tips(&remote);
    for fleet in [".", "clusters"] {
        person.carp(&["reconcile", "--once", "--fleet", fleet]);
    }
    assert_eq!(tips(&remote), before, "neither disturbs the other");
    for branch in ["carp/rendered", "carp/status"] {
        let files = git(&remote.path(), &["ls-tree", "-r", "--name-only", branch]);
        let (inner, outer): (Vec<_>, Vec<_>) = files.lines().partition(|l| {
            l.starts_with("clusters/") && l["clusters/".len()..].contains('/') && {
                let rest = &l["clusters/".len()..];
                ["workers/", "control-plane/", "decisions/", "clusters/"]
                    .iter()
                    .any(|p| rest.starts_with(p))
            }
        });
        assert!(!inner.is_empty() && !outer.is_empty(), "{files}");
    }
}

#[test]
fn a_local_repository_needs_no_remote() {
    let (_remote, person) = small_fleet();
    git(&person.path(), &["remote", "remove", "origin"]);
    let run = person.carp(&["reconcile", "--once"]);
    assert!(run.status.success(), "{}", printed(&run));
    let plan = person.carp(&["plan"]);
    let tree = git(&person.path(), &["rev-parse", "carp/rendered^{tree}"]);
    assert_eq!(tree_in(&printed(&plan)), tree);
    git(&person.path(), &["checkout", "--quiet", "carp/rendered"]);
    person.write("carp.yaml", "");
    git(&person.path(), &["checkout", "--quiet", "--force", "main"]);

    let at = person.carp(&["plan", "--fleet", ".@HEAD"]);
    assert_eq!(tree_in(&printed(&at)), tree, "{}", printed(&at));
}
