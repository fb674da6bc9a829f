//! A machine for kind: the real `kind`, a docker that only pretends, and a real API server that stands
//! for every cluster that is made.
//!
//! `CARP_DOCKER_STANDIN` names the program that answers as docker. kind itself is real, so what is tested
//! is its own parsing, validation, clean-up and words; nodes that really run are not.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::apiserver::ApiServer;
use super::people::carp;
use super::{definitions, skip};

/// How long anything may take here: much longer than it ever does.
const PATIENCE: Duration = Duration::from_secs(120);
/// How far apart two looks are, most of which run kubectl.
const STEP: Duration = Duration::from_millis(300);
/// Waits in a call of docker while a file names words of it.
const DOCKER: &str = "#!/bin/sh
while [ -e \"$FD_STATE/hang\" ]; do
  case \"$*\" in *\"$(cat \"$FD_STATE/hang\")\"*) sleep 0.05 ;; *) break ;; esac
done
exec \"$STANDIN\" \"$@\"
";

/// The machine, with the API server.
pub(crate) struct Machine {
    pub(crate) server: ApiServer,
    dir: TempDir,
    assets: PathBuf,
    standin: PathBuf,
}

impl Machine {
    /// A machine; `None`, told aloud, where the environment has not what it takes.
    pub(crate) fn start(test: &str) -> Option<Self> {
        Self::with(test, |_| ApiServer::start())
    }

    /// The same, where the API server knows the kind.
    pub(crate) fn with_the_kind(test: &str) -> Option<Self> {
        Self::with(test, |folder| {
            let own = folder.join("crds.yaml");
            fs::write(&own, carp(folder, &["crds"]).output().unwrap().stdout).unwrap();
            definitions::serving("kind", &[own])
        })
    }

    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    fn with(test: &str, server: impl FnOnce(&Path) -> Option<ApiServer>) -> Option<Self> {
        let needed = "KUBEBUILDER_ASSETS or CARP_DOCKER_STANDIN is unset";
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
        let standin = std::env::var_os("CARP_DOCKER_STANDIN").map(PathBuf::from);
        let (Some(assets), Some(standin)) = (assets, standin) else {
            skip(test, needed);
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let server = server(dir.path())?;
        for folder in ["bin", "docker", "home"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let docker = dir.path().join("bin/docker");
        fs::write(&docker, DOCKER).unwrap();
        fs::set_permissions(docker, fs::Permissions::from_mode(0o755)).unwrap();
        Some(Self { server, dir, assets, standin })
    }

    /// Installs one of the definitions that `CARP_CRDS` has; false where it is unset.
    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    pub(crate) fn install(&self, definition: &str) -> bool {
        let Some(folder) = std::env::var_os("CARP_CRDS").map(PathBuf::from) else { return false };
        definitions::learn(&self.server, &[folder.join(format!("{definition}.yaml"))]);
        true
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A program with this machine's environment.
    fn with_environment(&self, mut command: Command) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.path().join("bin");
        command
            .env("PATH", format!("{}:{}:{path}", bin.display(), self.assets.display()))
            .env("STANDIN", &self.standin)
            .env("FD_STATE", self.docker())
            .env("FD_KUBECONF", self.server.kubeconfig())
            .env("FD_PORT", self.server.port().to_string())
            .env("HOME", self.path().join("home"))
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            // Both would mislead kind.
            .env("KUBECONFIG", self.path().join("home/.kube/config"))
            .env("KIND_CLUSTER_NAME", "misled")
            .stdin(Stdio::null());
        command
    }

    /// `carp ARGS` on this machine.
    pub(crate) fn carp(&self, args: &[&str]) -> Command {
        self.with_environment(carp(self.path(), args))
    }

    /// `kind ARGS` by a person.
    pub(crate) fn kind(&self, args: &[&str]) -> Output {
        let mut command = self.with_environment(Command::new(self.assets.join("kind")));
        command.env_remove("KIND_CLUSTER_NAME").args(args);
        command.output().unwrap()
    }

    fn docker(&self) -> PathBuf {
        self.path().join("docker")
    }

    /// Lets a verb of docker fail with a text (`exec` fails where the call has the text).
    pub(crate) fn fault(&self, verb: &str, text: &str) {
        fs::write(self.docker().join(format!("fault.{verb}")), text).unwrap();
    }

    pub(crate) fn mend(&self, verb: &str) {
        fs::remove_file(self.docker().join(format!("fault.{verb}"))).unwrap();
    }

    /// Lets every call of docker that has the text hang.
    pub(crate) fn hang(&self, text: &str) {
        fs::write(self.docker().join("hang"), text).unwrap();
    }

    pub(crate) fn go_on(&self) {
        fs::remove_file(self.docker().join("hang")).unwrap();
    }

    /// The nodes that there are, sorted.
    pub(crate) fn nodes(&self) -> Vec<String> {
        let files = fs::read_dir(self.docker()).unwrap().map(|f| f.unwrap().file_name());
        let names = files.map(|name| name.into_string().unwrap());
        let mut nodes: Vec<_> =
            names.filter_map(|n| n.strip_prefix("c.").map(str::to_owned)).collect();
        nodes.sort();
        nodes
    }

    /// Moves the API server of a node to another port, as a stopped node would.
    pub(crate) fn move_port(&self, node: &str, port: u16) {
        let file = self.docker().join(format!("c.{node}"));
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|line| match line.split_once('=') {
            Some(("port", _)) => format!("port={port}\n"),
            _ => format!("{line}\n"),
        });
        fs::write(file, lines.collect::<String>()).unwrap();
    }

    /// How often docker was asked something with that text in it.
    pub(crate) fn calls(&self, text: &str) -> usize {
        let log = fs::read_to_string(self.docker().join("calls.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains(text)).count()
    }

    /// Waits until something is so.
    #[track_caller]
    pub(crate) fn until<T>(&self, what: &str, mut is_so: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(so) = is_so() {
                return so;
            }
            std::thread::sleep(STEP);
        }
        panic!("never {what}; nodes: {:?}", self.nodes());
    }

    /// Creates a KINDCluster in the namespace `default`.
    #[track_caller]
    pub(crate) fn create(&self, name: &str, spec: Value) {
        let file = self.object_file(name, spec, json!({}));
        self.server.kubectl(&["create", "--validate=false", "-f", file.to_str().unwrap()]);
    }

    /// A file with a KINDCluster.
    pub(crate) fn object_file(&self, name: &str, spec: Value, more: Value) -> PathBuf {
        let mut metadata = json!({"name": name, "namespace": "default"});
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let object = json!({
            "apiVersion": "infrastructure.cluster-k8s.io/v1alpha1", "kind": "KINDCluster",
            "metadata": metadata, "spec": spec,
        });
        let file = self.path().join(format!("{name}.json"));
        fs::write(&file, object.to_string()).unwrap();
        file
    }

    /// The KINDCluster; `None` where it is gone.
    pub(crate) fn object(&self, name: &str) -> Option<Value> {
        let kind = "/apis/infrastructure.cluster-k8s.io/v1alpha1/namespaces/default/kindclusters";
        self.server.objects().get(&format!("{kind}/{name}"))
    }

    /// Waits until the status of a KINDCluster is as it should be.
    #[track_caller]
    pub(crate) fn wait(&self, name: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let (begun, mut last) = (Instant::now(), Value::Null);
        while begun.elapsed() < PATIENCE {
            if let Some(object) = self.object(name) {
                last = object["status"].clone();
                if is_so(&last) {
                    return last;
                }
            }
            std::thread::sleep(STEP);
        }
        panic!("{name} is never {what}: {last:#}; nodes: {:?}", self.nodes());
    }

    #[track_caller]
    pub(crate) fn wait_ready(&self, name: &str) -> Value {
        self.wait(name, "ready", |status| status["ready"] == true)
    }

    /// Waits until a KINDCluster is gone.
    #[track_caller]
    pub(crate) fn wait_gone(&self, name: &str) {
        self.until(&format!("{name} is gone"), || self.object(name).is_none().then_some(()));
    }

    /// A key of a secret, decoded; `None` where there is no such secret.
    pub(crate) fn secret(&self, name: &str, key: &str) -> Option<String> {
        let path = format!("/api/v1/namespaces/default/secrets/{name}");
        let secret = serde_json::from_value::<Secret>(self.server.objects().get(&path)?).unwrap();
        Some(String::from_utf8(secret.data?.remove(key)?.0).unwrap())
    }

    /// `carp kind run ARGS`, left running.
    pub(crate) fn controller(&self, args: &[&str]) -> Controller {
        let mut command = self.carp(&["kind", "run", "--interval", "1s", "--log-level", "debug"]);
        if !args.contains(&"--kubeconfig") {
            command.arg("--kubeconfig").arg(self.server.kubeconfig());
        }
        let mut child = command.args(args).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&log);
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| told.lock().unwrap().push(line));
        });
        Controller { child, log }
    }
}

/// A running `carp kind run`. It is killed when this is dropped.
pub(crate) struct Controller {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
}

impl Controller {
    /// What it has logged.
    pub(crate) fn logged(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// Waits for a line of the log.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(line) = self.log.lock().unwrap().iter().find(|line| line.contains(text)) {
                return line.clone();
            }
            std::thread::sleep(STEP);
        }
        panic!("no {text:?} in the log:\n{}", self.logged());
    }

    /// What it answers over HTTP.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> String {
        let line = self.wait_for("listening on ");
        let address = line.rsplit(' ').next().unwrap().to_owned();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Asks it to end, and waits; whether it ended well.
    pub(crate) fn stop(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        self.child.wait().unwrap().success()
    }

    /// Kills it, as a machine that loses power would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the controller's log:\n{}", self.logged());
        }
    }
}
