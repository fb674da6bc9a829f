//! A credential that stands in a URL reaches nothing that carp prints or writes.

use std::path::Path;
use std::process::Command;

use crate::support::people::{Person, carp, printed};
use crate::support::small;
use crate::support::{Access, Remote, Server, git, skip};

const TOKEN: &str = "ghp-0123456789-the-token";

/// Every command that looks at a fleet or a remote.
const COMMANDS: &[&[&str]] = &[
    &["validate"],
    &["validate", "--output", "json"],
    &["plan"],
    &["plan", "--output", "json"],
    &["plan", "--output", "markdown"],
    &["explain", "cluster/alpha"],
    &["explain", "worker/w-weu"],
    &["status"],
    &["status", "--output", "json"],
    &["reconcile", "--once"],
    &["reconcile", "--once"],
];

#[track_caller]
fn has_no_token(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    assert!(!text.contains(TOKEN), "the token is in {what}: {text}");
}

/// Every file below a folder, and the contents of every Git object in it.
#[track_caller]
fn nothing_written_has_it(folder: &Path, except: &str) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            nothing_written_has_it(&path, except);
        } else if !path.ends_with(except) {
            has_no_token(&path.display().to_string(), &std::fs::read(&path).unwrap());
        }
    }
}

#[track_caller]
fn no_object_has_it(repository: &Path) {
    let list = ["cat-file", "--batch-all-objects", "--batch", "--buffer"];
    let output = crate::support::git_may_fail(repository, &list);
    assert!(output.status.success() && !output.stdout.is_empty());
    has_no_token(&format!("an object of {}", repository.display()), &output.stdout);
}

/// Runs a command and looks at what it prints.
#[track_caller]
fn run(mut command: Command) -> i32 {
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    let output = command.output().unwrap();
    has_no_token(&format!("{command:?}").replace(TOKEN, "…"), printed(&output).as_bytes());
    output.status.code().unwrap()
}

#[test]
fn a_token_in_a_remotes_address_stays_there() {
    let remote = Remote::new();
    let Some(server) = Server::start(remote.root(), Access::Open) else {
        return skip("a_token_in_a_remotes_address_stays_there", "git has no http-backend");
    };
    let person = Person::cloning(&server.url("fleet.git", Some(&format!("user:{TOKEN}"))));
    person.push(&small::files());
    for args in COMMANDS {
        assert_eq!(run(person.command(args)), 0, "{args:?}");
    }
    // The clone's own settings are the person's, and git writes the address into its own reflogs.
    let git_dir = person.path().join(".git");
    nothing_written_has_it(&git_dir.join("carp"), "");
    no_object_has_it(&person.path());
    no_object_has_it(&remote.path());
    let log = git(&person.path(), &["log", "--all", "--reflog", "--format=%B%an%ae"]);
    has_no_token("the log", log.as_bytes());

    drop(server);
    person.write("fleet/workers/w-x.yaml", &small::worker("w-x", "eastus", 1));
    for args in COMMANDS {
        let exit = run(person.command(args));
        assert_eq!(exit, i32::from(args[0] == "reconcile"), "{args:?}: nothing answers");
    }
}

#[test]
fn a_token_in_the_fleets_address_stays_there() {
    let remote = Remote::new();
    let Some(server) = Server::start(remote.root(), Access::Open) else {
        return skip("a_token_in_the_fleets_address_stays_there", "git has no http-backend");
    };
    Person::cloning(&remote.url()).push(&small::files());
    let home = tempfile::tempdir().unwrap();
    let url = server.url("fleet.git", Some(&format!("user:{TOKEN}=")));
    let command = |args: &[&str]| {
        let mut command = carp(home.path(), &[args, &["--fleet", &*url][..]].concat());
        command.env("HOME", home.path()).env("XDG_CACHE_HOME", home.path().join("cache"));
        command
    };
    for args in COMMANDS {
        assert_eq!(run(command(args)), 0, "{args:?}");
    }
    assert!(home.path().join("cache").is_dir(), "the clone is there");
    nothing_written_has_it(home.path(), "");
    no_object_has_it(&remote.path());
    drop(server);
    for args in COMMANDS {
        assert_eq!(run(command(args)), 1, "{args:?}: nothing answers");
    }
}

/// A `git` that notes the command lines of all that it starts, and then is the real one.
fn noting(folder: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout;
    let (real, bin) = (String::from_utf8(real).unwrap(), folder.join("bin"));
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nexport GIT_TRACE2_EVENT='{}' GIT_TRACE_REDACT=0\nexec {} \"$@\"\n",
        folder.join("trace").display(),
        real.trim()
    );
    std::fs::write(bin.join("git"), script).unwrap();
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("git"), all).unwrap();
    bin
}

#[test]
fn a_token_stands_on_no_command_line_and_is_used() {
    let remote = Remote::new();
    // The token with `=/` after it.
    let known = "Basic dXNlcjpnaHAtMDEyMzQ1Njc4OS10aGUtdG9rZW49Lw==";
    let Some(server) = Server::start(remote.root(), Access::Only(known)) else {
        return skip("a_token_stands_on_no_command_line_and_is_used", "git has no http-backend");
    };
    Person::cloning(&remote.url()).push(&small::files());
    let home = tempfile::tempdir().unwrap();
    let bin = noting(home.path());
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let url = server.url("fleet.git", Some(&format!("user:{TOKEN}%3D%2F")));
    // What people set by the environment goes on.
    let store = format!("store --file={}", home.path().join("stored").display());
    for args in COMMANDS {
        let mut command = carp(home.path(), &[args, &["--fleet", &*url][..]].concat());
        command.env("HOME", home.path()).env("XDG_CACHE_HOME", home.path().join("cache"));
        command.env("PATH", &path).env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", "credential.helper").env("GIT_CONFIG_VALUE_0", &store);
        assert_eq!(run(command), 0, "{args:?}");
    }
    let trace = std::fs::read_to_string(home.path().join("trace")).unwrap();
    assert!(trace.contains("remote-http") && trace.contains("\"push\""), "{trace}");
    nothing_written_has_it(home.path(), "");
}

#[test]
fn a_token_that_is_refused_is_not_told() {
    let remote = Remote::new();
    let Some(server) = Server::start(remote.root(), Access::Closed) else {
        return skip("a_token_that_is_refused_is_not_told", "git has no http-backend");
    };
    let home = tempfile::tempdir().unwrap();
    let url = server.url("fleet.git", Some(&format!("user:{TOKEN}")));
    for args in COMMANDS {
        let mut command = carp(home.path(), &[args, &["--fleet", &*url][..]].concat());
        command.env("HOME", home.path()).env("XDG_CACHE_HOME", home.path().join("cache"));
        assert_eq!(run(command), 1, "{args:?}");
    }
    nothing_written_has_it(home.path(), "");
}

#[test]
fn a_token_in_the_fleet_is_found_and_not_shown() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    for field in ["output", "observed", "delivery"] {
        let mut files = small::files();
        let yaml = files.get_mut("carp.yaml").unwrap();
        if field == "delivery" {
            *yaml = yaml.replace("https://git", &format!("https://u:{TOKEN}@git"));
        } else {
            let line = format!("  {field}: {{url: \"https://u:{TOKEN}@git.example.com/x\"}}\n");
            yaml.push_str(&line);
        }
        for (path, text) in &files {
            person.write(path, text);
        }
        for output in ["text", "json", "sarif", "github"] {
            let mut command = person.command(&["validate", "--output", output]);
            let said = printed(&command.output().unwrap());
            assert!(said.contains("a credential stands in this address"), "{output}: {said}");
            assert_eq!(run(command), 1);
        }
    }
}
