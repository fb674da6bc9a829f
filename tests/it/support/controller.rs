//! The real controller, running, and what it answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::people::carp;

/// How long anything may take here: much longer than it ever does.
const PATIENCE: Duration = Duration::from_secs(120);

/// A `carp reconcile` that goes on until it is stopped. It is gone when this is dropped.
pub(crate) struct Controller {
    child: Child,
    log: Receiver<String>,
    seen: Vec<String>,
    address: SocketAddr,
}

/// What an HTTP request was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: String,
}

impl Controller {
    /// Starts one in a folder, listening on a free port, its pauses an hour long unless `args` say
    /// otherwise.
    pub(crate) fn start(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = carp(folder, &["reconcile", "--listen", "127.0.0.1:0"]);
        if !args.contains(&"--interval") {
            command.args(["--interval", "1h"]);
        }
        command.args(args).envs(env.iter().copied());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (told, log) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|l| told.send(l)));
        let address = "127.0.0.1:0".parse().unwrap();
        let mut controller = Self { child, log, seen: Vec::new(), address };
        let line = controller.wait_for("listening on ");
        controller.address = told_address(&line);
        controller
    }

    /// Waits for a line of the log with a text in it.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE);
            let Ok(line) = line else {
                panic!("no {text:?} in the log:\n{}", self.seen.join("\n"))
            };
            self.seen.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    /// All that was logged so far.
    pub(crate) fn logged(&mut self) -> String {
        self.seen.extend(self.log.try_iter());
        self.seen.join("\n")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, "", "")
    }

    /// Calls the webhook with one header.
    pub(crate) fn post(&self, path: &str, header: &str, body: &str) -> Answer {
        self.request("POST", path, header, body)
    }

    /// The value of a series in the metrics.
    #[track_caller]
    pub(crate) fn metric(&self, series: &str) -> f64 {
        let text = self.get("/metrics").body;
        let value = |line: &str| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok();
        text.lines().find_map(value).unwrap_or_else(|| panic!("no {series} in\n{text}"))
    }

    /// Asks until the answer is as wanted.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        wait_until(what, || holds(self));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal: `TERM`, `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args(["-s", name, &self.pid().to_string()]).status().unwrap().success());
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        for _ in 0..PATIENCE.as_secs() * 20 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the controller did not end:\n{}", self.logged());
    }

    /// A connection on which nothing has been said yet.
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    fn request(&self, method: &str, path: &str, header: &str, body: &str) -> Answer {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: carp\r\nConnection: close\r\n{header}\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // Whoever refuses a large body may do so before it has come.
        let _ = stream.write_all(body.as_bytes());
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let code = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        Answer { code, body: body.unwrap_or_default() }
    }
}

/// The address in a line of the log, whatever its form.
fn told_address(line: &str) -> SocketAddr {
    let (_, rest) = line.split_once("listening on ").unwrap();
    rest.split(['"', ' ']).next().unwrap().parse().unwrap()
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again and again until something holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..PATIENCE.as_secs() * 20 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came to this: {what}");
}
