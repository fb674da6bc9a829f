//! The controller for as long as you like, on this machine alone: a cluster changes every second, a worker
//! reports every five, and every ten seconds the controller is measured.
//!
//! ```sh
//! cargo run --release --example soak -- [SECONDS] [CLUSTERS]     # 300 and 200 if nothing else is said
//! ```
//!
//! At the end every change must have been committed; else it exits with 1. What it prints is a table of the
//! memory, the open files and the objects, in which nothing should grow. `carp` is taken from beside the
//! program, so `cargo build --release` comes first.
#![expect(clippy::disallowed_methods, reason = "a program of its own, outside the pure core")]
#![expect(clippy::print_stdout, reason = "it is for people at a terminal")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

#[path = "../tests/it/support/generator.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod generator;

type Failure = Box<dyn std::error::Error>;

/// A cluster changes so often.
const CHANGE: Duration = Duration::from_secs(1);
/// A worker reports every so many changes.
const CHANGES_A_REPORT: u64 = 5;
/// The controller is measured every so many changes.
const CHANGES_A_SAMPLE: u64 = 10;
/// How long the controller may take to commit the last change.
const CATCH_UP: Duration = Duration::from_secs(120);
/// How long the controller may take to stop.
const STOP: Duration = Duration::from_secs(15);
const WORKER: &str = "w00000";
const OUTPUT: &str = "carp/rendered";

fn main() -> ExitCode {
    match soak() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn soak() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let seconds: u64 = args.next().map_or(Ok(300), |text| text.parse())?;
    let clusters: usize = args.next().map_or(Ok(200), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let mut fleet = Fleet::new(folder.path(), clusters)?;
    let mut controller = Controller::start(folder.path())?;
    let begun = Instant::now();
    let mut samples = Vec::new();
    println!("{}", Sample::HEAD);
    for tick in 1.. {
        let due = CHANGE * u32::try_from(tick)?;
        std::thread::sleep(due.saturating_sub(begun.elapsed()));
        if begun.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        fleet.change()?;
        if tick % CHANGES_A_REPORT == 0 {
            fleet.report()?;
        }
        if tick % CHANGES_A_SAMPLE == 0 {
            controller.must_run()?;
            let sample = Sample::take(begun.elapsed(), &fleet, &controller)?;
            println!("{sample}");
            samples.push(sample);
        }
    }
    fleet.wait_for_the_last_change()?;
    controller.must_run()?;
    samples.push(Sample::take(begun.elapsed(), &fleet, &controller)?);
    println!("{}", samples[samples.len() - 1]);
    fleet.every_change_is_committed()?;
    controller.stop()?;
    say_growth(&samples);
    println!("{} changes, and every one was committed", fleet.changes);
    Ok(())
}

/// A fleet on a bare remote, and the person who changes it.
struct Fleet {
    remote: PathBuf,
    author: PathBuf,
    agent: PathBuf,
    files: BTreeMap<String, String>,
    /// The clusters that are placed, by number, with the replicas that they were last given.
    replicas: BTreeMap<usize, u64>,
    placed: Vec<usize>,
    changes: u64,
}

impl Fleet {
    fn new(folder: &Path, clusters: usize) -> Result<Self, Failure> {
        let (remote, author) = (folder.join("remote.git"), folder.join("author"));
        let agent = folder.join("agent");
        git(folder, &["init", "--quiet", "--bare", "-b", "main", "remote.git"])?;
        git(folder, &["clone", "--quiet", "remote.git", "author"])?;
        git(folder, &["init", "--quiet", "-b", "main", "agent"])?;
        git(&author, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
        let mut files = generator::fleet(clusters, 7);
        let worker = files.values_mut().find(|text| text.contains(&format!("name: {WORKER}\n")));
        worker.ok_or("the fleet has no such worker")?.push_str("  observation: Agent\n");
        for (path, text) in &files {
            write(&author.join(path), text)?;
        }
        let placed = (0..clusters).filter(|number| !generator::waits(*number)).collect();
        let replicas = BTreeMap::new();
        let mut fleet = Self { remote, author, agent, files, replicas, placed, changes: 0 };
        fleet.push("a fleet")?;
        fleet.report()?;
        git(folder, &["clone", "--quiet", "remote.git", "controller"])?;
        Ok(fleet)
    }

    fn push(&mut self, message: &str) -> Result<(), Failure> {
        git(&self.author, &["add", "--all"])?;
        git(&self.author, &["commit", "--quiet", "-m", message])?;
        git(&self.author, &["push", "--quiet", "origin", "main"])?;
        Ok(())
    }

    /// Gives the next cluster another number of nodes.
    fn change(&mut self) -> Result<(), Failure> {
        let turn = usize::try_from(self.changes)? % self.placed.len();
        let number = self.placed[turn];
        let replicas = self.changes % 997 + 3;
        let path = generator::cluster_file(number);
        let text = self.files.get(&path).ok_or("the fleet has no such file")?;
        let text = with_replicas(text, &generator::cluster_name(number), replicas);
        write(&self.author.join(&path), &text)?;
        self.files.insert(path, text);
        self.replicas.insert(number, replicas);
        self.changes += 1;
        self.push(&format!("{} has {replicas} nodes", generator::cluster_name(number)))
    }

    /// The agent of a worker replaces its report: a commit without parents.
    fn report(&mut self) -> Result<(), Failure> {
        let now = jiff::Timestamp::now();
        let text = format!(
            "schemaVersion: 1\nworker: {WORKER}\nworkerUID: 5d0c0f1e-0001-4000-8000-000000000001\n\
             time: \"{now}\"\ncomplete: true\nhealthy: true\n"
        );
        write(&self.agent.join("report.yaml"), &text)?;
        git(&self.agent, &["add", "--all"])?;
        git(&self.agent, &["update-ref", "-d", "HEAD"])?;
        git(&self.agent, &["commit", "--quiet", "-m", "report"])?;
        let remote = self.remote.to_str().ok_or("a path that is text")?;
        let to = format!("+HEAD:refs/heads/carp/observed/{WORKER}");
        git(&self.agent, &["push", "--quiet", remote, &to])?;
        Ok(())
    }

    /// Waits until an output commit names the last input.
    fn wait_for_the_last_change(&self) -> Result<(), Failure> {
        let last = git(&self.remote, &["rev-parse", "main"])?;
        let begun = Instant::now();
        while begun.elapsed() < CATCH_UP {
            let format = "--format=%(trailers:key=Carp-Input,valueonly)";
            let input = git(&self.remote, &["log", "-1", format, OUTPUT]).unwrap_or_default();
            if input.trim() == last {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err(format!("the last change, {last}, was not committed within {CATCH_UP:?}").into())
    }

    /// Each cluster is rendered with the number of nodes that it was last given.
    fn every_change_is_committed(&self) -> Result<(), Failure> {
        let listed = git(&self.remote, &["ls-tree", "-r", "--name-only", OUTPUT])?;
        for (number, replicas) in &self.replicas {
            let name = generator::cluster_name(*number);
            let end = format!("/clusters/{name}/cluster.yaml");
            let path = listed
                .lines()
                .find(|path| path.ends_with(&end))
                .ok_or(format!("{name} is not there"))?;
            let text = git(&self.remote, &["cat-file", "blob", &format!("{OUTPUT}:{path}")])?;
            if !text.lines().any(|line| line.trim() == format!("replicas: {replicas}")) {
                return Err(format!("{path} has not {replicas} nodes").into());
            }
        }
        Ok(())
    }

    /// How many commits the output has; none before the first.
    fn commits(&self) -> u64 {
        let count = git(&self.remote, &["rev-list", "--count", OUTPUT]);
        count.ok().and_then(|count| count.parse().ok()).unwrap_or(0)
    }
}

/// The file with that cluster's nodes.
fn with_replicas(text: &str, name: &str, replicas: u64) -> String {
    let document = |document: &str| {
        if !document.contains(&format!("name: {name}\n")) {
            return document.to_owned();
        }
        let own = document.split("  nodePools:\n").next().unwrap_or(document);
        format!("{own}  nodePools:\n    - name: np0\n      replicas: {replicas}\n")
    };
    text.split("---\n").map(document).collect::<Vec<_>>().join("---\n")
}

/// The real program, left running.
struct Controller {
    child: Child,
    clone: PathBuf,
    log: PathBuf,
}

impl Controller {
    fn start(folder: &Path) -> Result<Self, Failure> {
        // The examples lie in a folder of their own, beside the programs.
        let here = std::env::current_exe()?;
        let programs = here.parent().and_then(Path::parent).ok_or("the program has no folder")?;
        let (clone, log) = (folder.join("controller"), folder.join("log"));
        let file = fs::File::create(&log)?;
        let mut command = Command::new(programs.join("carp"));
        command.arg("reconcile").arg("--fleet").arg(&clone).args(["--interval", "1s"]);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        own_settings(&mut command);
        let child = command.spawn().map_err(|e| format!("carp: {e}; run `cargo build` first"))?;
        Ok(Self { child, clone, log })
    }

    fn must_run(&mut self) -> Result<(), Failure> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => {
                Err(format!("the controller ended with {status}:\n{}", self.last_words()).into())
            }
        }
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Asks it to stop, as Kubernetes does.
    fn stop(&mut self) -> Result<(), Failure> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let begun = Instant::now();
        while begun.elapsed() < STOP {
            if self.child.try_wait()?.is_some() {
                println!("the controller stopped within {:.1} s", begun.elapsed().as_secs_f64());
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("the controller did not stop within {STOP:?}").into())
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the controller takes at one time.
struct Sample {
    seconds: u64,
    /// Resident memory in KiB: the controller's own, and that of what it runs.
    memory: u64,
    children: u64,
    files: u64,
    /// Of the controller's clone.
    loose: u64,
    packs: u64,
    pack_kib: u64,
    changes: u64,
    commits: u64,
}

impl Sample {
    const HEAD: &'static str =
        "  time    memory  children  files  loose  packs  packed KiB  changes  commits";

    fn take(elapsed: Duration, fleet: &Fleet, controller: &Controller) -> Result<Self, Failure> {
        let id = controller.child.id();
        let counted = git(&controller.clone, &["count-objects", "-v"])?;
        let count = |key: &str| {
            let line = counted.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            line.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        Ok(Self {
            seconds: elapsed.as_secs(),
            memory: resident(id),
            children: children(id).into_iter().map(resident).sum(),
            files: fs::read_dir(format!("/proc/{id}/fd"))?.count() as u64,
            loose: count("count"),
            packs: count("packs"),
            pack_kib: count("size-pack"),
            changes: fleet.changes,
            commits: fleet.commits(),
        })
    }
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:>4} s {:>6} KiB {:>6} KiB {:>6} {:>6} {:>6} {:>11} {:>8} {:>8}",
            self.seconds,
            self.memory,
            self.children,
            self.files,
            self.loose,
            self.packs,
            self.pack_kib,
            self.changes,
            self.commits
        )
    }
}

/// The most of each in the first third of the time, after the first sample, and in the last.
fn say_growth(samples: &[Sample]) {
    let third = samples.len() / 3;
    if third < 2 {
        return;
    }
    let (first, last) = (&samples[1..=third], &samples[samples.len() - third..]);
    let most = |some: &[Sample], of: fn(&Sample) -> u64| some.iter().map(of).max().unwrap_or(0);
    let say = |what: &str, of: fn(&Sample) -> u64| {
        let (first, last) = (most(first, of), most(last, of));
        println!("{what}: at most {first} in the first third, {last} in the last");
    };
    say("memory in KiB", |sample| sample.memory);
    say("open files", |sample| sample.files);
    say("loose objects", |sample| sample.loose);
    say("packs", |sample| sample.packs);
}

fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The processes below one.
fn children(of: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_to_string(format!("/proc/{of}/task/{of}/children")) else {
        return Vec::new();
    };
    let own: Vec<u32> = tasks.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    own.iter().flat_map(|id| [vec![*id], children(*id)].concat()).collect()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::create_dir_all(path.parent().ok_or("a path in a folder")?)?;
    Ok(fs::write(path, text)?)
}

fn git(folder: &Path, args: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new("git");
    // git tidies up after a commit; behind this program's back it would hold locks that the next commit wants.
    command.args(["-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false"]);
    command.arg("-C").arg(folder).args(args);
    own_settings(&mut command);
    let output = command.output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("git {args:?}: {error}").into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// Keeps the machine's own settings out.
fn own_settings(command: &mut Command) {
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "person");
        command.env(format!("GIT_{who}_EMAIL"), "person@example.com");
    }
}
