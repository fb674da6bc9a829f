//! The table of texts: who says what, and what it means.

use super::*;

const FAILED: &str = "error: failed to push some refs to 'https://u:t@host/r'\n";

fn output(code: i32, stdout: &str, stderr: &str) -> ProgramOutput {
    ProgramOutput { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

fn rejected(reason: &str, stderr: &str) -> PushOutcome {
    let stdout = format!("To https://host/r\n!\tabc:refs/heads/carp/rendered\t{reason}\nDone\n");
    classify_push(&output(1, &stdout, &format!("{stderr}{FAILED}")))
}

fn unreported(stderr: &str) -> PushOutcome {
    classify_push(&output(128, "", stderr))
}

#[test]
fn lost_races() {
    for (who, reason, stderr) in [
        ("git, lease", "[rejected] (stale info)", ""),
        ("git", "[rejected] (fetch first)", ""),
        ("git", "[rejected] (non-fast-forward)", ""),
        ("git daemon, receive-pack", "[remote rejected] (failed to update ref)", ""),
        ("receive-pack", "[remote rejected] (reference already exists)", ""),
        (
            "receive-pack",
            "[remote rejected] (failed to update ref)",
            "remote: error: cannot lock ref 'refs/heads/m': is at 1 but expected 2\n",
        ),
        (
            "GitHub",
            "[remote rejected] (cannot lock ref 'refs/heads/main': is at 1 but expected 2)",
            "",
        ),
        ("GitLab", "[remote rejected] (incorrect old value provided)", ""),
    ] {
        let outcome = rejected(reason, stderr);
        assert!(matches!(outcome, PushOutcome::Raced { .. }), "{who}: {reason}: {outcome:?}");
    }
}

#[test]
fn refusals_that_will_come_again() {
    for (who, reason, stderr) in [
        ("git", "[remote rejected] (pre-receive hook declined)", ""),
        ("git", "[remote rejected] (hook declined)", ""),
        ("git", "[remote rejected] (branch is currently checked out)", ""),
        ("git", "[remote rejected] (deny updating a hidden ref)", ""),
        (
            "GitHub",
            "[remote rejected] (push declined due to repository rule violations)",
            "remote: error: GH013: Repository rule violations found for refs/heads/main.\n",
        ),
        ("GitHub", "[remote rejected] (protected branch hook declined)", ""),
        ("GitLab", "[remote rejected] (pre-receive hook declined)", "remote: GitLab: no\n"),
        (
            "receive-pack, a branch where a folder of branches is",
            "[remote rejected] (failed to update ref)",
            "remote: error: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'\n",
        ),
    ] {
        let outcome = rejected(reason, stderr);
        assert!(matches!(outcome, PushOutcome::Refused { .. }), "{who}: {reason}: {outcome:?}");
    }
}

#[test]
fn a_pre_push_hook_of_the_clone_refuses() {
    let outcome = classify_push(&output(1, "", &format!("no, says the hook\n{FAILED}")));
    assert!(matches!(outcome, PushOutcome::Refused { .. }), "{outcome:?}");
}

#[test]
fn outcomes_that_nobody_knows() {
    for reason in [
        "[remote rejected] (unpacker error)",
        "[remote failure] (remote failed to report status)",
        "[remote rejected] (missing necessary objects)",
    ] {
        let outcome = rejected(reason, "");
        assert!(matches!(outcome, PushOutcome::Unknown { .. }), "{reason}: {outcome:?}");
    }
    for stderr in [
        "fatal: unable to access 'https://h/r/': Could not resolve host: h\n",
        "fatal: unable to access 'https://h/r/': The requested URL returned error: 502\n",
        "fatal: unable to access 'https://h/r/': The requested URL returned error: 429\n",
        "remote: You have exceeded a secondary rate limit.\nfatal: unable to access 'https://h/r/': The requested URL returned error: 403\n",
        "fatal: the remote end hung up unexpectedly\nerror: failed to push some refs to 'h'\n",
        "fatal: '/nowhere' does not appear to be a git repository\nfatal: Could not read from remote repository.\n",
        "",
    ] {
        let outcome = unreported(stderr);
        assert!(matches!(outcome, PushOutcome::Unknown { .. }), "{stderr}: {outcome:?}");
    }
    let killed =
        ProgramOutput { code: None, stdout: String::new(), stderr: "fatal: no answer".to_owned() };
    assert!(matches!(classify_push(&killed), PushOutcome::Unknown { .. }));
}

#[test]
fn closed_doors() {
    for stderr in [
        "fatal: Authentication failed for 'https://h/r/'\n",
        "fatal: could not read Username for 'https://h': terminal prompts disabled\n",
        "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.\n",
        "remote: Permission to o/r.git denied to bot.\nfatal: unable to access 'https://h/r/': The requested URL returned error: 403\n",
        "remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://h/r/'\n",
        "Host key verification failed.\nfatal: Could not read from remote repository.\n",
        "fatal: unable to access 'https://h/r/': too many redirects or authentication replays\n",
    ] {
        let outcome = unreported(stderr);
        assert!(matches!(outcome, PushOutcome::Auth { .. }), "{stderr}: {outcome:?}");
    }
}

#[test]
fn done_is_done() {
    assert_eq!(classify_push(&output(0, "*\ta:b\t[new branch]\nDone\n", "")), PushOutcome::Done);
}

#[test]
fn the_line_that_tells_is_kept_without_its_credentials() {
    let outcome =
        unreported("warning: x\nfatal: unable to access 'https://u:t@h/r/': Could not connect\n");
    let PushOutcome::Unknown { text } = outcome else { panic!("{outcome:?}") };
    assert_eq!(text.as_str(), "unable to access 'https://h/r/': Could not connect");
}

#[test]
fn a_remote_that_is_not_there_is_told_from_one_that_is_closed() {
    let explained = |stderr: &str| explain("listing", "https://u:t@h/r", &output(128, "", stderr));
    let missing = explained("fatal: repository 'https://u:t@h/r/' not found\n");
    assert!(matches!(missing, Error::RemoteMissing { .. }), "{missing:?}");
    let closed = explained("fatal: Authentication failed for 'https://u:t@h/r/'\n");
    assert!(matches!(closed, Error::Auth { .. }), "{closed:?}");
    for error in [missing, closed] {
        assert!(!format!("{error} {error:?}").contains(":t@"), "{error}");
    }
}
