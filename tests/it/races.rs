//! Two writers of one branch: no commit is lost, on a bare path and over HTTP.
//!
//! The first process is stopped between its fetch and its push by a `git` that stands first on its PATH;
//! the second runs meanwhile. A naive twin, whose push has `--force` in place of the lease, loses the
//! second one's commit, which shows that the test can fail.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Access, Remote, Server, git, skip};

/// A `git` that waits before a push until it is let go.
struct Gate {
    dir: TempDir,
}

/// The first push waits; the others do not. `CARP_TEST_NAIVE` takes the lease away.
const WRAPPER: &str = r#"#!/bin/sh
gate='@GATE@'
case " $* " in
*" push "*)
    if mkdir "$gate/arrived" 2>/dev/null; then
        n=0
        while [ ! -e "$gate/go" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done
    fi
    if [ -n "$CARP_TEST_NAIVE" ]; then
        for a in "$@"; do
            shift
            case "$a" in --force-with-lease=*) set -- "$@" --force ;; *) set -- "$@" "$a" ;; esac
        done
    fi ;;
esac
PATH='@PATH@' exec git "$@"
"#;

impl Gate {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let gate = dir.path().to_str().unwrap();
        let script = WRAPPER.replace("@GATE@", gate).replace("@PATH@", &path);
        fs::create_dir(dir.path().join("bin")).unwrap();
        let program = dir.path().join("bin/git");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { dir }
    }

    fn bin(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    fn wait(&self) {
        wait_for(&self.dir.path().join("arrived"));
    }

    fn open(&self) {
        fs::write(self.dir.path().join("go"), "").unwrap();
    }
}

fn wait_for(path: &Path) {
    for _ in 0..600 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{} did not come", path.display());
}

const RECONCILE: [&str; 2] = ["reconcile", "--once"];
const OUTPUT: &str = "refs/heads/carp/rendered";

/// A fleet on a remote, reconciled once.
fn fleet(remote: &Remote, url: &str) -> Person {
    let person = Person::cloning(url);
    person.push(&small::files());
    let first = person.carp(&RECONCILE);
    assert!(first.status.success(), "{}", printed(&first));
    assert!(remote.at(OUTPUT).is_some());
    person
}

/// Two writers race; returns the second one's commit and the remote.
fn race(remote: &Remote, url: &str, env: &[(&str, &str)]) -> (String, std::process::Output) {
    let (slow, fast) = (fleet(remote, url), Person::cloning(url));
    git(&fast.path(), &["pull", "--quiet", "origin", "main"]);
    let gate = Gate::new();

    slow.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let held = slow.start(&RECONCILE, &gate.bin(), env);
    gate.wait();
    git(&fast.path(), &["pull", "--quiet", "origin", "main"]);
    fast.push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let second = fast.carp(&RECONCILE);
    assert!(second.status.success(), "{}", printed(&second));
    let commit = remote.at(OUTPUT).unwrap().to_string();
    gate.open();
    (commit, held.wait_with_output().unwrap())
}

fn contains(remote: &Remote, commit: &str) -> bool {
    let tip = remote.at(OUTPUT).unwrap().to_string();
    let args = ["merge-base", "--is-ancestor", commit, &tip];
    crate::support::git_may_fail(&remote.path(), &args).status.success()
}

/// The remote's output is what a fresh run over the final inputs makes of them.
fn is_the_plan_of_the_final_inputs(remote: &Remote, url: &str) {
    let tip = remote.at(OUTPUT);
    let fresh = Person::cloning(url);
    git(&fresh.path(), &["pull", "--quiet", "origin", "main"]);
    let again = fresh.carp(&RECONCILE);
    assert!(again.status.success(), "{}", printed(&again));
    assert_eq!(remote.at(OUTPUT), tip, "there was nothing left to commit");
    let tree = git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    for name in ["golf", "hotel"] {
        assert!(tree.contains(&format!("clusters/{name}/cluster.yaml")), "{name} is rendered");
    }
    let merges = git(&remote.path(), &["rev-list", "--merges", "--count", OUTPUT]);
    assert_eq!(merges, "0", "the history is linear");
}

#[test]
fn no_commit_is_lost_on_a_bare_path() {
    let remote = Remote::new();
    let (commit, held) = race(&remote, &remote.url(), &[]);
    assert!(held.status.success(), "{}", printed(&held));
    assert!(contains(&remote, &commit));
    is_the_plan_of_the_final_inputs(&remote, &remote.url());
}

#[test]
fn no_commit_is_lost_over_http() {
    let remote = Remote::new();
    let Some(server) = Server::start(remote.root(), Access::Open) else {
        return skip("no_commit_is_lost_over_http", "git has no http-backend");
    };
    let url = server.url("fleet.git", None);
    let (commit, held) = race(&remote, &url, &[]);
    assert!(held.status.success(), "{}", printed(&held));
    assert!(contains(&remote, &commit));
    is_the_plan_of_the_final_inputs(&remote, &url);
}

#[test]
fn a_naive_twin_without_the_lease_loses_a_commit() {
    let remote = Remote::new();
    let (commit, _) = race(&remote, &remote.url(), &[("CARP_TEST_NAIVE", "1")]);
    assert!(!contains(&remote, &commit), "the twin overwrote the other one's commit");
}

/// The server itself is held, after it took the objects and before it moves the ref.
#[test]
fn a_push_that_loses_inside_the_server_is_planned_again() {
    let remote = Remote::new();
    let (slow, url) = (fleet(&remote, &remote.url()), remote.url());
    let gate = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh
if mkdir '{0}/arrived' 2>/dev/null; then
    n=0
    while [ ! -e '{0}/go' ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done
fi
exit 0
",
        gate.path().display()
    );
    slow.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    remote.hook("pre-receive", &script);
    let nothing = tempfile::tempdir().unwrap();
    let held = slow.start(&RECONCILE, nothing.path(), &[]);
    wait_for(&gate.path().join("arrived"));
    let fast = Person::cloning(&url);
    git(&fast.path(), &["pull", "--quiet", "origin", "main"]);
    fast.push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let second = fast.carp(&RECONCILE);
    assert!(second.status.success(), "{}", printed(&second));
    let commit = remote.at(OUTPUT).unwrap().to_string();
    fs::write(gate.path().join("go"), "").unwrap();
    let held = held.wait_with_output().unwrap();
    assert!(held.status.success(), "{}", printed(&held));
    assert!(contains(&remote, &commit));
    is_the_plan_of_the_final_inputs(&remote, &url);
}

#[test]
fn a_remote_that_refuses_is_said_once_and_nothing_is_lost() {
    let remote = Remote::new();
    let person = fleet(&remote, &remote.url());
    let tip = remote.at(OUTPUT);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    remote.hook("pre-receive", "#!/bin/sh\necho 'the gate is closed' >&2\nexit 1\n");
    let output = person.carp(&RECONCILE);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("was not accepted by the remote"), "{}", printed(&output));
    assert_eq!(remote.at(OUTPUT), tip);
}
