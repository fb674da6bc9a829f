//! Running the `git` program: always the same environment, never a prompt, never for ever.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::address::{self, GitEnvironment, as_variables};
use super::outcome::explain;
use super::program_output::ProgramOutput;
use super::{Error, Redacted, Repository};

/// The first version with `git fetch --porcelain`.
const OLDEST: (u32, u32) = (2, 41);

/// How long a question to a remote may take.
pub(super) const ASK: Duration = Duration::from_secs(120);
/// How long a transfer may take.
pub(super) const TRANSFER: Duration = Duration::from_secs(1800);

/// Set by Git for its hooks; inherited, they would send us to another repository.
const ANOTHER_REPOSITORY: [&str; 11] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// What is nothing to git and the hooks that it runs.
pub(super) const NOT_GITS: [&str; 1] = ["CARP_FORGE_TOKEN"];

/// What they write to the error output would be taken for Git's own words.
const TALKATIVE: [&str; 6] = [
    "GIT_TRACE",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_CURL",
    "GIT_TRACE_SETUP",
    "GIT_TRACE2",
    "GIT_CURL_VERBOSE",
];

/// The `git` program.
pub(super) struct Program {
    path: OsString,
    checked: OnceLock<()>,
    /// What every run is told beside its arguments.
    told: GitEnvironment,
}

impl Default for Program {
    fn default() -> Self {
        Self::new("git")
    }
}

impl Program {
    pub(super) fn new(path: impl Into<OsString>) -> Self {
        Self { path: path.into(), checked: OnceLock::new(), told: GitEnvironment::default() }
    }

    pub(super) fn clone_repository(&self, url: &str, dir: &Path) -> Result<(), Error> {
        super::remote::check_remote(url)?;
        self.check_version()?;
        let mut command = self.command();
        command.args(["clone", "--quiet", "--", url]).arg(dir);
        let output = self.run(command, TRANSFER)?;
        if output.code == Some(0) { Ok(()) } else { Err(explain("cloning", url, &output)) }
    }

    /// Runs git and waits. Its outputs are read as UTF-8 with replacements.
    fn run(&self, mut command: Command, limit: Duration) -> Result<ProgramOutput, Error> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let missing =
            |e: std::io::Error| Error::ProgramMissing { program: self.name(), detail: not_run(&e) };
        let mut child = command.spawn().map_err(missing)?;
        // Both in one wait: one after the other would be given twice the time.
        let read = match reading(child.stdout.take(), child.stderr.take()) {
            Ok(read) => read,
            Err(error) => {
                end(&mut child);
                return Err(missing(error));
            }
        };
        let Ok((out, err)) = read.recv_timeout(limit) else { return Ok(give_up(child, limit)) };
        let code = child.wait().map_err(missing)?.code();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(ProgramOutput { code, stdout: text(out), stderr: text(err) })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        for name in ANOTHER_REPOSITORY.iter().chain(&TALKATIVE).chain(&NOT_GITS) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").env_remove("LANGUAGE");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        for setting in ["advice.pushUpdateRejected=false", "color.ui=false", "core.quotePath=false"]
        {
            command.args(["-c", setting]);
        }
        if !self.told.settings.is_empty() {
            command.envs(as_variables(&self.told.settings, already_set()));
        }
        command.envs(self.told.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Lets git use an address in place of the one that it is known by here, which is the same without
    /// its credentials.
    pub(super) fn reach_by(&mut self, address: &str, known: &str) {
        self.told = address::reach_by(address, known);
    }

    fn check_version(&self) -> Result<(), Error> {
        if self.checked.get().is_some() {
            return Ok(());
        }
        let mut command = self.command();
        command.arg("--version");
        let output = self.run(command, ASK)?;
        let found = output.stdout.trim();
        if output.code != Some(0) && found.is_empty() {
            // It may lack memory or files. How old it is cannot be said.
            let said = Redacted::new(output.stderr.lines().next().unwrap_or("it says nothing"));
            let detail = format!(
                "`git --version` fails: {said}; see whether it runs by hand, and what memory and how many open files \
                 this process may have"
            );
            return Err(Error::ProgramMissing { program: self.name(), detail });
        }
        if version(found).is_none_or(|version| version < OLDEST) {
            let found = Redacted::new(found).to_string();
            return Err(Error::ProgramTooOld { program: self.name(), found });
        }
        let _ = self.checked.set(());
        Ok(())
    }

    fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

impl Repository {
    /// Runs git in this repository.
    pub(super) fn git<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        limit: Duration,
    ) -> Result<ProgramOutput, Error> {
        self.git_with(args, None, limit)
    }

    /// Runs git with a variable for the programs that it starts.
    pub(super) fn git_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        variable: Option<(&str, &OsStr)>,
        limit: Duration,
    ) -> Result<ProgramOutput, Error> {
        self.program.check_version()?;
        self.program.run(self.command(args, variable), limit)
    }

    /// Asks git a question that every version answers or refuses: how old it is matters only where it refuses.
    pub(super) fn ask<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Result<ProgramOutput, Error> {
        let output = self.program.run(self.command(args, None), ASK)?;
        if output.code != Some(0) {
            self.program.check_version()?;
        }
        Ok(output)
    }

    fn command<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        variable: Option<(&str, &OsStr)>,
    ) -> Command {
        let mut command = self.program.command();
        command.envs(variable);
        match self.work_tree() {
            Some(top) => command.arg("-C").arg(top),
            // Named outright, as `safe.bareRepository=explicit` asks for.
            None => command.arg("-C").arg(self.inner.path()).arg("--git-dir=."),
        };
        command.args(args);
        command
    }
}

/// How many settings people give git by its environment. They count on, and are added to.
#[expect(clippy::disallowed_methods, reason = "git inherits the environment, and what is in it")]
fn already_set() -> usize {
    let count = std::env::var("GIT_CONFIG_COUNT").ok();
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// What two pipes say until both end.
///
/// # Errors
/// There is no thread to be had, as where memory is short.
fn reading(
    stdout: Option<impl Read + Send + 'static>,
    stderr: Option<impl Read + Send + 'static>,
) -> std::io::Result<Receiver<(Vec<u8>, Vec<u8>)>> {
    let (done, read) = mpsc::channel();
    let thread = || std::thread::Builder::new();
    let out = thread().spawn(move || all_of(stdout))?;
    thread().spawn(move || {
        let err = all_of(stderr);
        let _ = done.send((out.join().unwrap_or_default(), err));
    })?;
    Ok(read)
}

/// What a pipe says until it ends. It is closed before anybody goes on: a call leaves no open file behind.
fn all_of(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A pipe that breaks has said what it had to say.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    bytes
}

/// Why a program does not start, and what to do where that is known.
fn not_run(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("{error}; install git 2.41 or later"),
        _ => error.to_string(),
    }
}

fn end(child: &mut Child) {
    // A process that has just ended cannot be killed, which is just as well.
    let _ = child.kill();
    let _ = child.wait();
}

fn give_up(mut child: Child, limit: Duration) -> ProgramOutput {
    end(&mut child);
    let stderr = format!("fatal: no answer within {} s", limit.as_secs());
    ProgramOutput { code: None, stdout: String::new(), stderr }
}

fn version(text: &str) -> Option<(u32, u32)> {
    let numbers = text.strip_prefix("git version ")?;
    let mut parts = numbers.split(['.', ' ', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_git_builds_print_them() {
        assert_eq!(version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 2.41.0.windows.1"), Some((2, 41)));
        assert_eq!(version("git version 3.0-rc0"), Some((3, 0)));
        assert_eq!(version("hub 2"), None);
    }

    /// What the program is told about a variable: its value, or `None` where it is taken away.
    #[expect(clippy::option_option, reason = "taken away is not the same as never set")]
    fn told(name: &str) -> Option<Option<String>> {
        let command = Program::default().command();
        let mut all = command.get_envs().map(|(key, value)| {
            (key.to_string_lossy().into_owned(), value.map(|v| v.to_string_lossy().into_owned()))
        });
        all.find(|(key, _)| key == name).map(|(_, value)| value)
    }

    #[test]
    fn git_speaks_english_and_asks_nobody() {
        assert_eq!(told("LC_ALL"), Some(Some("C".to_owned())));
        assert_eq!(told("LANGUAGE"), Some(None));
        assert_eq!(told("GIT_TERMINAL_PROMPT"), Some(Some("0".to_owned())));
    }

    #[test]
    fn no_variable_leads_git_to_another_repository_or_makes_it_talk() {
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
            assert_eq!(told(name), Some(None), "{name}");
        }
        for name in ["GIT_TRACE", "GIT_TRACE_CURL", "GIT_CURL_VERBOSE"] {
            assert_eq!(told(name), Some(None), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_hangs_is_given_up() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let output = Program::new("sleep").run(command, Duration::from_millis(50)).unwrap();
        assert_eq!(output.code, None);
        assert!(output.stderr.contains("no answer"), "{}", output.stderr);
    }

    /// The first output ends within the limit, and the second one does not.
    #[cfg(unix)]
    #[test]
    fn a_limit_is_one_limit_for_both_outputs() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 0.7; exec 1>&2; sleep 0.7"]);
        let output = Program::new("sh").run(command, Duration::from_secs(1)).unwrap();
        assert_eq!((output.code, output.stdout.as_str()), (None, ""));
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let output = Program::new("sh").run(command, Duration::from_secs(60)).unwrap();
        assert_eq!(output.code, Some(3));
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
    }

    #[cfg(unix)]
    #[test]
    fn one_that_fails_is_not_told_as_too_old() {
        let error = Program::new("false").check_version().unwrap_err().to_string();
        assert!(error.contains("`false` cannot be run: `git --version` fails"), "{error}");
        assert!(error.contains("see whether it runs by hand"), "{error}");
    }

    #[test]
    fn an_absent_program_is_named() {
        let error = Program::new("no-such-git").check_version().unwrap_err().to_string();
        assert!(error.contains("`no-such-git` cannot be run"), "{error}");
        assert!(error.contains("install git 2.41"), "{error}");
    }
}
