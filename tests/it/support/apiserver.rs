//! A real kube-apiserver with its etcd, on free loopback ports, with throw-away certificates and data.
//!
//! `KUBEBUILDER_ASSETS` names the folder with the two programs, as for every Kubernetes controller
//! project; without it there is none, and the tests that need one say that they were skipped.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType};
use serde_json::json;
use tempfile::TempDir;

use super::objects::Objects;

/// The token of the one user, who may do everything.
const TOKEN: &str = "throw-away";

/// A running pair. It is gone when this is dropped.
pub(crate) struct ApiServer {
    dir: TempDir,
    port: u16,
    etcd_port: u16,
    etcd: Child,
    server: Child,
}

impl ApiServer {
    /// Starts a pair; `None` where `KUBEBUILDER_ASSETS` is unset.
    pub(crate) fn start() -> Option<Self> {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    /// Starts a pair in a folder, on the data that is there in `etcd/`, if there is some.
    pub(crate) fn start_in(dir: TempDir) -> Option<Self> {
        let assets = PathBuf::from(std::env::var_os("KUBEBUILDER_ASSETS")?);
        certificates(dir.path());
        let mut pair = Self::begin(&assets, dir);
        // Between the choice of a port and its use somebody else may have taken it.
        for _ in 0..2 {
            if pair.becomes_ready().is_ok() {
                return Some(pair);
            }
            pair = pair.begin_again(&assets);
        }
        pair.wait();
        Some(pair)
    }

    fn begin(assets: &Path, dir: TempDir) -> Self {
        let [client, peer, port] = free_ports();
        let etcd = etcd(assets, dir.path(), client, peer);
        let server = server(assets, dir.path(), client, port);
        Self { dir, port, etcd_port: client, etcd, server }
    }

    /// The same data on other ports.
    fn begin_again(mut self, assets: &Path) -> Self {
        self.end();
        let dir = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        Self::begin(assets, dir)
    }

    /// The folder of its files.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The file that clients read.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.dir.path().join("kubeconfig")
    }

    /// The port that it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Runs kubectl against it, and returns what it printed.
    #[track_caller]
    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        let output = self.kubectl_may_fail(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {args:?}: {error}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// The same, whether or not it goes well.
    pub(crate) fn kubectl_may_fail(&self, args: &[&str]) -> Output {
        let mut command = Command::new("kubectl");
        command.env("KUBECONFIG", self.kubeconfig()).env("HOME", self.dir.path()).args(args);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// A connection to it, by which much is asked or written: `kubectl` asks for all kinds before anything else.
    pub(crate) fn objects(&self) -> Objects {
        Objects::by(&self.kubeconfig())
    }

    /// Until every right that was given or taken up to now counts.
    ///
    /// The authorizer watches its four kinds of objects, each in the order of its changes. So once it
    /// knows an object of each kind that was made just now, it knows what was changed before.
    pub(crate) fn wait_for_rights(&self) {
        let newest = tempfile::Builder::new().suffix(".yaml").tempfile_in(self.dir.path()).unwrap();
        let name = newest.path().file_stem().unwrap().to_str().unwrap();
        let user = name.trim_start_matches('.').to_lowercase();
        fs::write(newest.path(), rights_to_nothing(&user)).unwrap();
        self.kubectl(&["create", "-f", newest.path().to_str().unwrap()]);
        let objects = self.objects();
        let may = |resource: &&str| {
            let get = json!({"namespace": "default", "verb": "get", "resource": resource});
            objects.may(&user, get)
        };
        for _ in 0..600 {
            if ["nothing", "nowhere"].iter().all(may) {
                return;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!("the rights of {user} never counted");
    }

    /// Ends both, and puts what etcd has kept into a new folder on the same disk.
    pub(crate) fn end_into(mut self, data: &Path) {
        self.end();
        fs::rename(self.dir.path().join("etcd"), data).unwrap();
    }

    /// Ends the server; etcd goes on.
    pub(crate) fn stop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Starts the server again, with the same data on the same port.
    pub(crate) fn start_again(&mut self) {
        let assets = PathBuf::from(std::env::var_os("KUBEBUILDER_ASSETS").unwrap());
        self.server = server(&assets, self.dir.path(), self.etcd_port, self.port);
        self.wait();
    }

    fn config(&self) -> String {
        let (dir, port) = (self.dir.path().display(), self.port);
        format!(
            "apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority: '{dir}/ca.crt'}}
contexts:
- name: test
  context: {{cluster: test, user: test, namespace: default}}
users:
- name: test
  user: {{token: {TOKEN}}}
"
        )
    }

    fn end(&mut self) {
        for child in [&mut self.server, &mut self.etcd] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Until the server answers that it is ready; two minutes at most.
    fn becomes_ready(&mut self) -> Result<(), String> {
        let log = self.dir.path().join("apiserver.log");
        fs::write(self.kubeconfig(), self.config()).unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(120) {
            if let Some(status) = self.server.try_wait().unwrap() {
                return Err(format!("kube-apiserver ended ({status}):\n{}", tail(&log)));
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() && self.is_ready() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("kube-apiserver did not become ready:\n{}", tail(&log)))
    }

    fn wait(&mut self) {
        self.becomes_ready().unwrap_or_else(|why| panic!("{why}"));
    }

    fn is_ready(&self) -> bool {
        self.objects().get_if_ready("/api/v1/namespaces/default").is_some()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.end();
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// An object of each kind that gives rights, by which `user` may read what there is none of: one kind
/// by the roles of the cluster, and one by those of a namespace.
fn rights_to_nothing(user: &str) -> String {
    let roles = [("ClusterRole", "", "nothing"), ("Role", ", namespace: default", "nowhere")];
    let objects = roles.map(|(kind, namespace, resource)| {
        let meta = format!("metadata: {{name: '{user}'{namespace}}}");
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1
kind: {kind}
{meta}
rules: [{{apiGroups: [''], resources: [{resource}], verbs: [get]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {kind}Binding
{meta}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: '{user}'}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: '{user}'}}]
"
        )
    });
    objects.join("---\n")
}

/// Ports that nobody listens on just now.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn etcd(assets: &Path, dir: &Path, client: u16, peer: u16) -> Child {
    let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    let mut command = Command::new(assets.join("etcd"));
    command.arg("--data-dir").arg(dir.join("etcd")).arg("--unsafe-no-fsync");
    command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
    command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
    command.args(["--initial-cluster", &format!("default={peer}")]);
    started(command, &dir.join("etcd.log"))
}

fn server(assets: &Path, dir: &Path, etcd: u16, port: u16) -> Child {
    fs::write(dir.join("tokens"), format!("{TOKEN},admin,admin,system:masters\n")).unwrap();
    let mut command = Command::new(assets.join("kube-apiserver"));
    let file = |name: &str| dir.join(name).display().to_string();
    for (flag, value) in [
        ("etcd-servers", format!("http://127.0.0.1:{etcd}")),
        ("bind-address", "127.0.0.1".to_owned()),
        ("secure-port", port.to_string()),
        ("cert-dir", file("certs")),
        ("tls-cert-file", file("server.crt")),
        ("tls-private-key-file", file("server.key")),
        ("client-ca-file", file("ca.crt")),
        ("token-auth-file", file("tokens")),
        ("authorization-mode", "RBAC".to_owned()),
        ("service-account-issuer", "https://127.0.0.1".to_owned()),
        ("service-account-key-file", file("server.crt")),
        ("service-account-signing-key-file", file("server.key")),
        ("service-cluster-ip-range", "10.0.0.0/24".to_owned()),
        ("disable-admission-plugins", "ServiceAccount".to_owned()),
        ("endpoint-reconciler-type", "none".to_owned()),
        // A server makes ready for what it serves, which is half of what a test with one costs.
        ("runtime-config", "api/beta=false,policy/v1beta1=true".to_owned()),
        ("feature-gates", "APIPriorityAndFairness=false".to_owned()),
    ] {
        command.arg(format!("--{flag}={value}"));
    }
    // It lives for seconds, and would tidy its memory up most of the time.
    command.env("GOGC", "300");
    started(command, &dir.join("apiserver.log"))
}

fn started(mut command: Command, log: &Path) -> Child {
    let log = fs::File::create(log).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command.spawn().unwrap()
}

fn certificates(dir: &Path) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    fs::write(dir.join("ca.crt"), ca.self_signed(&ca_key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().unwrap();
    let mut server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    server.subject_alt_names.push(SanType::IpAddress([127, 0, 0, 1].into()));
    let server = server.signed_by(&key, &issuer).unwrap();
    fs::write(dir.join("server.crt"), server.pem()).unwrap();
    fs::write(dir.join("server.key"), key.serialize_pem()).unwrap();
}
