//! Callers of the controller who ask for nothing, or who take their time: they keep nobody out.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use crate::support::Remote;
use crate::support::controller::Controller;
use crate::support::people::Person;
use crate::support::small;

fn running(args: &[&str]) -> (Remote, Person, Controller) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let mut controller = Controller::start(&person.path(), args, &[]);
    controller.wait_for("committed carp/rendered");
    (remote, person, controller)
}

/// This process needs an open file for each of its callers.
fn many_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = current.map(|now| now.max(maximum.map_or(4096, |most| most.min(4096))));
    setrlimit(Resource::Nofile, Rlimit { current: wanted, maximum }).unwrap();
}

fn calls(controller: &Controller, count: usize, text: &str) -> Vec<TcpStream> {
    let call = |_| {
        let mut stream = controller.connect();
        // Whoever came long before is sent away, and may be told so here.
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    (0..count).map(call).collect()
}

/// The process may open no file whose number is larger than those of its sockets. What it inherited from
/// who runs the tests may have any number.
fn no_more_open_files(controller: &Controller) {
    let open = fs::read_dir(format!("/proc/{}/fd", controller.pid())).unwrap();
    let sockets = open.filter_map(Result::ok).filter(|entry| {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().starts_with("socket:")
    });
    let last = sockets.filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok()).max();
    let limit = last.map(|last| last + 1);
    let pid = i32::try_from(controller.pid()).ok().and_then(Pid::from_raw);
    prlimit(pid, Resource::Nofile, Rlimit { current: limit, maximum: limit }).unwrap();
}

#[test]
fn a_thousand_half_open_connections_keep_no_probe_out() {
    let (_remote, _person, controller) = running(&[]);
    many_open_files();
    let open = calls(&controller, 1000, "GET /healthz HTTP/1.1\r\nX-Slow: ");
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(controller.get(path).code, 200, "{path}");
    }
    drop(open);
}

#[test]
fn a_probe_is_answered_without_a_free_file() {
    let (_remote, _person, mut controller) = running(&[]);
    no_more_open_files(&controller);
    // The few numbers that are free between the open ones are used up by these.
    let open = calls(&controller, 60, "GET /healthz HTTP/1.1\r\nX-Slow: ");
    controller.wait_for("a connection cannot be taken");
    for _ in 0..3 {
        assert_eq!(controller.get("/healthz").code, 200);
    }
    drop(open);
    assert_eq!(controller.get("/healthz").code, 200);
}

#[test]
fn slow_bodies_without_the_secret_cost_nobody_an_answer() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "tea").unwrap();
    let file = secret.path().to_str().unwrap();
    let (_remote, _person, controller) = running(&["--webhook-secret-file", file]);
    let claim = "0".repeat(64);
    let slow = format!(
        "POST /hook/github HTTP/1.1\r\nHost: carp\r\nX-Hub-Signature-256: sha256={claim}\r\n\
         Content-Length: 1000000\r\n\r\nand so on"
    );
    let open = calls(&controller, 200, &slow);
    for _ in 0..3 {
        assert_eq!(controller.post("/hook/gitlab", "X-Gitlab-Token: tea", "{}").code, 202);
        let answer = controller.post("/hook/github", "X-Hub-Signature-256: sha256=00", "");
        assert_eq!((answer.code, answer.body.trim()), (401, "the signature has not its form"));
        assert_eq!(controller.get("/healthz").code, 200);
    }
    drop(open);
}
