//! Fetch and push through real transports: a bare path, `git http-backend` over HTTP, `git daemon`, ssh.

use std::fmt::Debug;

use carp::git::{Error, Gone, PushOutcome, RefSpec, Repository};
use carp::model::Id;

use super::support::{Access, Clone, Remote, Server, git, git_may_fail, skip};
#[cfg(unix)]
use super::support::{Daemon, Ssh};

const OUTPUT: &str = "refs/heads/carp/rendered";
const TRACKED: &str = "refs/remotes/origin/carp/rendered";

/// Runs a test on a path, and over HTTP, `git://` and ssh where there is a server for it.
fn on_each_transport(name: &str, test: impl Fn(&Remote, &str)) {
    let remote = Remote::new();
    test(&remote, &remote.url());
    let remote = Remote::new();
    match Server::start(remote.root(), Access::Open) {
        Some(server) => test(&remote, &server.url("fleet.git", None)),
        None => skip(name, "git has no http-backend"),
    }
    #[cfg(unix)]
    on_unix_transports(name, test);
}

#[cfg(unix)]
fn on_unix_transports(name: &str, test: impl Fn(&Remote, &str)) {
    let remote = Remote::new();
    match Daemon::start(remote.root()) {
        Some(daemon) => test(&remote, &daemon.url("fleet.git")),
        None => skip(name, "git has no daemon"),
    }
    let remote = Remote::new();
    match Ssh::start(remote.root()) {
        Some(ssh) => test(&remote, &ssh.url("fleet.git")),
        None => skip(name, "there is no ssh server"),
    }
}

fn push(clone: &Clone, commit: Id, expected: Option<Id>) -> PushOutcome {
    clone.repository.push("origin", commit, OUTPUT, expected).unwrap()
}

fn fetch(clone: &Clone, gone: Gone) -> Option<Id> {
    let spec = RefSpec::tracking("origin", "carp/rendered");
    clone.repository.fetch("origin", &[spec], gone).unwrap().get(OUTPUT)
}

fn raced(outcome: &PushOutcome) -> bool {
    matches!(outcome, PushOutcome::Raced { .. })
}

#[test]
fn of_two_writers_one_wins_and_no_commit_is_lost() {
    on_each_transport("two writers", |remote, url| {
        let (a, b) = (Clone::of(url), Clone::of(url));
        let first = a.commit_file(None, "first", "");
        assert_eq!(push(&a, first, None), PushOutcome::Done);
        assert_eq!((fetch(&a, Gone::Keep), fetch(&b, Gone::Keep)), (Some(first), Some(first)));

        let (ours, theirs) =
            (a.commit_file(Some(first), "a", ""), b.commit_file(Some(first), "b", ""));
        assert_eq!(push(&a, ours, Some(first)), PushOutcome::Done);
        let lost = push(&b, theirs, Some(first));
        assert!(raced(&lost), "{lost:?}");
        assert_eq!(remote.at(OUTPUT), Some(ours));

        assert_eq!(fetch(&b, Gone::Keep), Some(ours));
        let again = b.commit_file(Some(ours), "b", "");
        assert_eq!(push(&b, again, Some(ours)), PushOutcome::Done);
        let names = git(&remote.path(), &["ls-tree", "--name-only", OUTPUT]);
        assert_eq!(names, "a\nb\nfirst");
    });
}

#[test]
fn of_two_writers_of_a_new_branch_one_wins() {
    on_each_transport("a new branch", |remote, url| {
        let (a, b) = (Clone::of(url), Clone::of(url));
        let (ours, theirs) = (a.commit_file(None, "a", ""), b.commit_file(None, "b", ""));
        assert_eq!(push(&a, ours, None), PushOutcome::Done);
        assert!(raced(&push(&b, theirs, None)));
        assert_eq!(remote.at(OUTPUT), Some(ours));
    });
}

/// The same race with a writer that does not compare: its push is taken, and the other's commit is
/// gone. If this did not lose one, the tests above would prove nothing.
#[test]
fn a_writer_that_forces_loses_a_commit() {
    on_each_transport("a writer that forces", |remote, url| {
        let (a, b) = (Clone::of(url), Clone::of(url));
        let first = a.commit_file(None, "first", "");
        push(&a, first, None);
        fetch(&b, Gone::Keep);
        let (ours, theirs) =
            (a.commit_file(Some(first), "a", ""), b.commit_file(Some(first), "b", ""));
        assert_eq!(push(&a, ours, Some(first)), PushOutcome::Done);
        let refspec = format!("{theirs}:{OUTPUT}");
        git(&b.path(), &["push", "--quiet", "--force", "origin", &refspec]);
        assert_eq!(remote.at(OUTPUT), Some(theirs));
        let names = git(&remote.path(), &["ls-tree", "--name-only", OUTPUT]);
        assert_eq!(names, "b\nfirst");
    });
}

/// Adds a file to whatever is there until the push is taken.
fn add_until_done(clone: &Clone, name: &str) {
    for _ in 0..50 {
        let tip = fetch(clone, Gone::Keep);
        let commit = clone.commit_file(tip, name, "");
        match push(clone, commit, tip) {
            PushOutcome::Done => return,
            outcome => assert!(raced(&outcome), "{outcome:?}"),
        }
    }
    panic!("{name} lost 50 races");
}

#[test]
fn many_writers_at_once_lose_nothing() {
    on_each_transport("many writers", |remote, url| {
        std::thread::scope(|scope| {
            for writer in 0..3 {
                scope.spawn(move || {
                    let clone = Clone::of(url);
                    for n in 0..3 {
                        add_until_done(&clone, &format!("{writer}-{n}"));
                    }
                });
            }
        });
        let names = git(&remote.path(), &["ls-tree", "--name-only", OUTPUT]);
        assert_eq!(names.lines().count(), 9, "{names}");
        assert_eq!(git(&remote.path(), &["rev-list", "--count", OUTPUT]), "9");
        assert_eq!(git(&remote.path(), &["rev-list", "--merges", "--count", OUTPUT]), "0");
    });
}

#[cfg(unix)]
#[test]
fn a_hook_that_refuses_is_final() {
    on_each_transport("a hook", |remote, url| {
        remote.hook("pre-receive", "#!/bin/sh\necho not on my watch\nexit 1\n");
        let clone = Clone::of(url);
        let commit = clone.commit_file(None, "a", "");
        let outcome = push(&clone, commit, None);
        let PushOutcome::Refused { text } = outcome else { panic!("{outcome:?}") };
        assert!(text.as_str().contains("pre-receive hook declined"), "{text}");
        assert_eq!(remote.at(OUTPUT), None);
    });
}

#[test]
fn a_branch_where_a_folder_of_branches_is_can_never_be_made() {
    on_each_transport("a folder of branches", |_, url| {
        let clone = Clone::of(url);
        let commit = clone.commit_file(None, "a", "");
        assert_eq!(push(&clone, commit, None), PushOutcome::Done);
        let outcome = clone.repository.push("origin", commit, "refs/heads/carp", None).unwrap();
        assert!(matches!(outcome, PushOutcome::Refused { .. }), "{outcome:?}");
    });
}

#[test]
fn a_commit_that_does_not_follow_is_not_pushed() {
    let remote = Remote::new();
    let clone = Clone::of(&remote.url());
    let first = clone.commit_file(None, "a", "");
    push(&clone, first, None);
    let stranger = clone.commit_file(None, "b", "");
    let error = clone.repository.push("origin", stranger, OUTPUT, Some(first)).unwrap_err();
    assert!(matches!(error, Error::NotAChild { .. }), "{error:?}");
    assert_eq!(remote.at(OUTPUT), Some(first));
}

#[test]
fn a_branch_that_the_remote_does_not_have_is_missing_and_pruned_when_asked() {
    on_each_transport("a missing branch", |remote, url| {
        let clone = Clone::of(url);
        let specs =
            [RefSpec::tracking("origin", "carp/rendered"), RefSpec::tracking("origin", "none")];
        let commit = clone.commit_file(None, "a", "");
        push(&clone, commit, None);
        let fetched = clone.repository.fetch("origin", &specs, Gone::Keep).unwrap();
        assert_eq!(fetched.missing, ["refs/heads/none"]);
        assert_eq!(clone.repository.resolve(TRACKED).unwrap(), Some(commit));
        assert_eq!(clone.repository.remote_ref("origin", OUTPUT).unwrap(), Some(commit));

        git(&remote.path(), &["update-ref", "-d", OUTPUT]);
        assert_eq!(fetch(&clone, Gone::Keep), None);
        assert_eq!(clone.repository.resolve(TRACKED).unwrap(), Some(commit));
        assert_eq!(fetch(&clone, Gone::Prune), None);
        assert_eq!(clone.repository.resolve(TRACKED).unwrap(), None);
        assert_eq!(clone.repository.remote_ref("origin", OUTPUT).unwrap(), None);
    });
}

#[test]
fn a_pattern_follows_every_report() {
    on_each_transport("a pattern", |remote, url| {
        let (agent, reader) = (Clone::of(url), Clone::of(url));
        let spec = RefSpec::tracking("origin", "carp/observed/*");
        let report = |name: &str, text: &str| {
            let commit = agent.commit_file(None, "report.yaml", text);
            let refspec = format!("+{commit}:refs/heads/carp/observed/{name}");
            git(&agent.path(), &["push", "--quiet", "origin", &refspec]);
            commit
        };
        let (one, two) = (report("w1", "1"), report("w2", "2"));
        let read = || {
            let specs = std::slice::from_ref(&spec);
            reader.repository.fetch("origin", specs, Gone::Prune).unwrap().present
        };
        assert_eq!(read().into_iter().map(|(_, id)| id).collect::<Vec<_>>(), [one, two]);
        // Each report replaces the one before and has no parent.
        let newer = report("w1", "3");
        git(&remote.path(), &["update-ref", "-d", "refs/heads/carp/observed/w2"]);
        read();
        let local = reader.repository.list_refs("refs/remotes/origin/carp/observed/").unwrap();
        assert_eq!(local, [("refs/remotes/origin/carp/observed/w1".to_owned(), newer)]);
    });
}

#[test]
fn a_remote_that_is_not_there_is_an_error_and_never_an_empty_one() {
    let nowhere = tempfile::tempdir().unwrap();
    let url = nowhere.path().join("none.git").to_str().unwrap().to_owned();
    let clone = Clone::of(&url);
    let error = clone.repository.ls_remote("origin", &[OUTPUT]).unwrap_err();
    assert!(matches!(error, Error::RemoteMissing { .. }), "{error:?}");
    let commit = clone.commit_file(None, "a", "");
    let outcome = push(&clone, commit, None);
    assert!(matches!(outcome, PushOutcome::Unknown { .. }), "{outcome:?}");
}

#[track_caller]
fn has_no_token(what: impl Debug, shown: &str) {
    for text in [format!("{what:?}"), shown.to_owned()] {
        assert!(!text.contains("s3cret") && !text.contains("robot"), "{text}");
    }
}

#[test]
fn a_token_in_a_url_is_in_no_error() {
    let remote = Remote::new();
    let Some(server) = Server::start(remote.root(), Access::Closed) else {
        return skip("tokens", "git has no http-backend");
    };
    let closed = server.url("fleet.git", Some("robot:s3cret"));
    let dead = "http://robot:s3cret@127.0.0.1:9/fleet.git".to_owned();
    for url in [closed.clone(), dead] {
        let clone = Clone::of(&url);
        let commit = clone.commit_file(None, "a", "");
        for remote in ["origin", &url] {
            let spec = [RefSpec::tracking("origin", "main")];
            let errors = [
                clone.repository.ls_remote(remote, &[OUTPUT]).unwrap_err(),
                clone.repository.fetch(remote, &spec, Gone::Keep).unwrap_err(),
                clone.repository.remote_head(remote).unwrap_err(),
            ];
            for error in errors {
                has_no_token(&error, &error.to_string());
            }
            let outcome = clone.repository.push(remote, commit, OUTPUT, None).unwrap();
            has_no_token(&outcome, "");
            assert_ne!(outcome, PushOutcome::Done);
        }
        let dir = tempfile::tempdir().unwrap();
        let error = Repository::clone_to(&url, &dir.path().join("x")).err().unwrap();
        has_no_token(&error, &error.to_string());
        has_no_token(clone.repository.remote_url("origin"), "");
    }
    let clone = Clone::of(&closed);
    let error = clone.repository.ls_remote("origin", &[OUTPUT]).unwrap_err();
    assert!(matches!(error, Error::Auth { .. }), "{error:?}");
}

#[test]
fn a_cache_is_made_once_and_opened_again() {
    let remote = Remote::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    for _ in 0..2 {
        let cache = Repository::clone_bare_cache(&remote.url(), &path).unwrap();
        assert!(cache.work_tree().is_none());
        assert_eq!(cache.remotes(), ["origin"]);
        assert!(cache.is_local("origin"));
    }
    let moved = Repository::clone_bare_cache("https://u:t@host/r", &path).unwrap();
    assert_eq!(moved.remote_url("origin").unwrap().as_str(), "https://host/r");
    assert!(!moved.is_local("origin"));
}

#[test]
fn the_default_branch_of_a_remote_is_known() {
    on_each_transport("the default branch", |remote, url| {
        let clone = Clone::of(url);
        let commit = clone.commit_file(None, "a", "");
        clone.repository.push("origin", commit, "refs/heads/main", None).unwrap();
        let head = clone.repository.remote_head("origin").unwrap();
        assert_eq!(head.as_deref(), Some("refs/heads/main"));
        assert_eq!(remote.at("refs/heads/main"), Some(commit));
    });
}

#[test]
fn a_clone_has_the_files() {
    let remote = Remote::new();
    let writer = Clone::of(&remote.url());
    let commit = writer.commit_file(None, "a", "text");
    writer.repository.push("origin", commit, "refs/heads/main", None).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fleet");
    let clone = Repository::clone_to(&remote.url(), &path).unwrap();
    assert_eq!(std::fs::read(path.join("a")).unwrap(), b"text");
    assert!(clone.uncommitted("").unwrap().is_empty());
    assert!(Repository::clone_to(&remote.url(), &path).is_err(), "the folder is there");
}

#[cfg(unix)]
#[test]
fn an_old_git_is_named_where_it_fails_and_before_it_writes() {
    use std::os::unix::fs::PermissionsExt as _;
    let remote = Remote::new();
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("git");
    let script = "#!/bin/sh\nfor arg; do test $arg = --version && exec echo git version 2.34.1; done\nexit 129\n";
    std::fs::write(&old, script).unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let repository = Repository::open(&remote.path()).unwrap().with_program(&old);
    let asked = repository.ls_remote("origin", &[OUTPUT]).unwrap_err();
    let id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap();
    let pushed = repository.push("origin", id, "refs/heads/main", None).unwrap_err();
    for error in [asked, pushed] {
        assert!(matches!(error, Error::ProgramTooOld { .. }), "{error:?}");
        assert!(error.to_string().contains("2.34.1"), "{error}");
    }
}

#[test]
fn git_finds_the_remote_sound_after_pushes_from_carps_packs() {
    on_each_transport("fsck", |remote, url| {
        let clone = Clone::of(url);
        for n in 0..3 {
            add_until_done(&clone, &n.to_string());
        }
        let output = git_may_fail(&remote.path(), &["fsck", "--full", "--strict"]);
        assert!(output.status.success());
    });
}

/// The other writer comes between the remote's answer and its update, where no client can see it: only
/// the server's own comparison is left.
#[cfg(unix)]
#[test]
fn a_writer_that_comes_while_the_server_works_wins() {
    on_each_transport("the server's comparison", |remote, url| {
        let (a, b) = (Clone::of(url), Clone::of(url));
        let first = a.commit_file(None, "first", "");
        push(&a, first, None);
        fetch(&b, Gone::Keep);
        let ours = a.commit_file(Some(first), "a", "");
        a.repository.push("origin", ours, "refs/heads/parked", None).unwrap();
        remote.hook(
            "pre-receive",
            &format!("#!/bin/sh\nexec env -u GIT_QUARANTINE_PATH git update-ref {OUTPUT} {ours}\n"),
        );
        let theirs = b.commit_file(Some(first), "b", "");
        let lost = push(&b, theirs, Some(first));
        assert!(raced(&lost), "{lost:?}");
        assert_eq!(remote.at(OUTPUT), Some(ours));
    });
}

#[test]
fn a_remote_whose_pushes_go_to_another_repository_is_refused() {
    let (remote, other) = (Remote::new(), Remote::new());
    let clone = Clone::of(&remote.url());
    let first = clone.commit_file(None, "first", "");
    assert_eq!(push(&clone, first, None), PushOutcome::Done);
    let next = clone.commit_file(Some(first), "next", "");
    let tried = || clone.repository.push("origin", next, OUTPUT, Some(first));
    for setting in ["remote.origin.pushurl", &format!("url.{}.pushInsteadOf", other.url())] {
        let value = if setting.ends_with("pushurl") { other.url() } else { remote.url() };
        git(&clone.path(), &["config", setting, &value]);
        let error = tried().unwrap_err().to_string();
        assert!(
            error.contains("is read from one repository, and pushes to it go to another"),
            "{error}"
        );
        assert_eq!((other.at(OUTPUT), remote.at(OUTPUT)), (None, Some(first)));
        git(&clone.path(), &["config", "--unset", setting]);
    }
    // Another address of the same repository is none.
    git(&clone.path(), &["config", "remote.origin.pushurl", &format!("file://{}", remote.url())]);
    assert_eq!(tried().unwrap(), PushOutcome::Done);
}

#[test]
fn a_clone_that_mirrors_its_remote_pushes_the_one_ref() {
    let remote = Remote::new();
    let clone = Clone::of(&remote.url());
    git(&clone.path(), &["config", "remote.origin.mirror", "true"]);
    let first = clone.commit_file(None, "first", "");
    git(&clone.path(), &["update-ref", "refs/heads/mine", &first.to_string()]);
    assert_eq!(push(&clone, first, None), PushOutcome::Done);
    assert_eq!((remote.at(OUTPUT), remote.at("refs/heads/mine")), (Some(first), None));
}
