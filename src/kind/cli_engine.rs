//! The engine that runs the `kind` program, of version 0.33 or so.
#![expect(clippy::disallowed_methods, reason = "the configuration is a file of carp's own folder")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::engine::{Cancel, KindEngine, Order};
use super::failure::EngineFailure;
use super::program::{End, Ran, run};
use super::reason::{KindReason, classify, gist};
use super::state::{NameLock, StateFolder};
use crate::model::api::EndpointType;

/// How long a question may take.
const ASK: Duration = Duration::from_secs(60);
/// How long a deletion may take.
const DELETE: Duration = Duration::from_secs(300);
/// The most of kind's words that are kept, in bytes.
const MOST_WORDS: usize = 900;
/// What would lead kind to another cluster or to a person's own kubeconfig.
const MISLEADING: [&str; 2] = ["KIND_CLUSTER_NAME", "KUBECONFIG"];

/// Runs `kind`. What it takes from the environment, such as `DOCKER_HOST` and
/// `KIND_EXPERIMENTAL_PROVIDER`, it gets; a person's own kubeconfig it never sees.
#[derive(Clone, Debug)]
pub struct KindProgram {
    /// The program.
    pub program: OsString,
    /// carp's folder.
    pub state: StateFolder,
}

impl KindProgram {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for name in MISLEADING {
            command.env_remove(name);
        }
        // Never --quiet: it silences the errors too.
        command.args(args);
        command
    }

    fn run(
        &self,
        doing: &str,
        mut command: Command,
        input: Stdio,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<Ran, EngineFailure> {
        let program = self.program.to_string_lossy();
        let ran = run(&mut command, input, limit, cancel).map_err(|e| {
            EngineFailure::new(KindReason::KindMissing, format!("`{program}` cannot be run: {e}"))
        })?;
        match ran.end {
            End::Exited(Some(0)) => Ok(ran),
            End::Exited(_) => {
                let said = gist(&ran.stderr, MOST_WORDS);
                let said =
                    if said.is_empty() { format!("{doing}: kind said nothing") } else { said };
                Err(EngineFailure::new(classify(&ran.stderr), said))
            }
            End::TimedOut => {
                let message = format!("{doing} did not end within {limit:?}");
                Err(EngineFailure::new(KindReason::DeadlineExceeded, message))
            }
            End::Cancelled => {
                Err(EngineFailure::new(KindReason::Cancelled, format!("{doing} was told to stop")))
            }
        }
    }

    fn ask(&self, doing: &str, args: &[&str]) -> Result<String, EngineFailure> {
        let never = Cancel::default();
        Ok(self.run(doing, self.command(args), Stdio::null(), ASK, &never)?.stdout)
    }
}

/// The lines of an answer.
fn lines(answer: &str) -> Vec<String> {
    let lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

fn path(path: PathBuf) -> Result<String, EngineFailure> {
    let text = path.into_os_string().into_string();
    text.map_err(|p| {
        EngineFailure::new(KindReason::StateFailed, format!("`{}` is not Unicode", p.display()))
    })
}

impl KindEngine for KindProgram {
    fn list(&self) -> Result<Vec<String>, EngineFailure> {
        Ok(lines(&self.ask("listing the clusters", &["get", "clusters"])?))
    }

    fn create(&self, order: &Order, lock: &NameLock, cancel: &Cancel) -> Result<(), EngineFailure> {
        let folder = self.state.private()?;
        let config = path(folder.path().join("config.yaml"))?;
        std::fs::write(&config, &order.config).map_err(|e| {
            EngineFailure::new(KindReason::StateFailed, format!("writing `{config}`: {e}"))
        })?;
        let kubeconfig = path(folder.path().join("kubeconfig"))?;
        let mut args = vec!["create", "cluster", "--name", &order.name, "--config", &config];
        args.extend(["--kubeconfig", &kubeconfig, "--wait", &order.wait]);
        if order.retain {
            args.push("--retain");
        }
        let doing = format!("creating {}", order.name);
        self.run(&doing, self.command(&args), lock.as_input()?, order.limit, cancel).map(drop)
    }

    fn kubeconfig(&self, name: &str, from: EndpointType) -> Result<String, EngineFailure> {
        let mut args = vec!["get", "kubeconfig", "--name", name];
        if from == EndpointType::Internal {
            args.push("--internal");
        }
        self.ask(&format!("reading the kubeconfig of {name}"), &args)
    }

    fn nodes(&self, name: &str) -> Result<Vec<String>, EngineFailure> {
        let answer =
            self.ask(&format!("listing the nodes of {name}"), &["get", "nodes", "--name", name])?;
        Ok(lines(&answer))
    }

    fn delete(&self, name: &str, lock: &NameLock) -> Result<(), EngineFailure> {
        let folder = self.state.private()?;
        // A file of its own: kind would edit the person's.
        let kubeconfig = path(folder.path().join("kubeconfig"))?;
        let args = ["delete", "cluster", "--name", name, "--kubeconfig", &kubeconfig];
        let (doing, never) = (format!("deleting {name}"), Cancel::default());
        self.run(&doing, self.command(&args), lock.as_input()?, DELETE, &never).map(drop)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A program in place of kind that says what it was given.
    fn telling(folder: &std::path::Path, script: &str) -> KindProgram {
        use std::os::unix::fs::PermissionsExt as _;
        let program = folder.join("kind");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let state = StateFolder::open(&folder.join("state")).unwrap();
        KindProgram { program: program.into_os_string(), state }
    }

    #[test]
    fn kind_gets_a_configuration_and_a_kubeconfig_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let script = format!(
            "{{ echo \"$@\"; while [ $# -gt 0 ]; do [ $1 = --config ] && cat $2; shift; done; \
             echo \"[$KIND_CLUSTER_NAME$KUBECONFIG]\"; }} > {}",
            said.display()
        );
        let kind = telling(folder.path(), &script);
        let held = kind.state.hold("a").unwrap();
        let order = Order {
            name: "a".to_owned(),
            config: "{}\n".to_owned(),
            wait: "5m".to_owned(),
            retain: true,
            limit: Duration::from_secs(60),
        };
        kind.create(&order, &held, &Cancel::default()).unwrap();
        let said = std::fs::read_to_string(said).unwrap();
        let lines: Vec<_> = said.lines().collect();
        assert!(lines[0].starts_with("create cluster --name a --config "), "{said}");
        assert!(lines[0].ends_with("--wait 5m --retain"), "{said}");
        assert!(!lines[0].split(' ').any(|word| word == "-q" || word == "--quiet"), "{said}");
        assert_eq!(lines[1..], ["{}", "[]"]);
        let state = folder.path().join("state");
        assert_eq!(std::fs::read_dir(state).unwrap().count(), 1, "only the names are left");
    }

    #[test]
    fn an_answer_is_lines_and_a_failure_has_kinds_words() {
        let folder = tempfile::tempdir().unwrap();
        let kind = telling(folder.path(), "echo b; echo; echo c; echo 'No kind' >&2");
        assert_eq!(kind.list().unwrap(), ["b", "c"]);
        let kind = telling(
            folder.path(),
            "echo ' ✗ x' >&2; echo 'ERROR: failed to pull image y' >&2; exit 1",
        );
        let failure = kind.list().unwrap_err();
        assert_eq!(failure.reason, KindReason::ImagePullFailed);
        assert_eq!(failure.message, "failed to pull image y");
        let absent = KindProgram { program: "/no/such/kind".into(), ..kind };
        assert_eq!(absent.list().unwrap_err().reason, KindReason::KindMissing);
    }
}
