//! A Git daemon and an ssh server on loopback, each in front of the repositories below a folder.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server process; it ends when this is dropped.
struct Running {
    child: Child,
    port: u16,
}

impl Running {
    /// Starts a server on a free port and waits until it listens.
    fn start(command: impl Fn(u16) -> Command) -> Self {
        // Between the question for a free port and its use another process may take it.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = command(port);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut running = Self { child: command.spawn().unwrap(), port };
            if running.listens() {
                return running;
            }
        }
        panic!("the server does not start");
    }

    fn listens(&mut self) -> bool {
        for _ in 0..100 {
            let answers = is_answered(self.port);
            std::thread::sleep(Duration::from_millis(if answers { 10 } else { 50 }));
            // Where another server answered, which had taken the port, this one is gone.
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if answers {
                return true;
            }
        }
        false
    }
}

/// Whether a server listens on a port. A client that asks for a port where nobody does may be given that one as its own, and
/// then it is connected to itself.
fn is_answered(port: u16) -> bool {
    let stream = TcpStream::connect(("127.0.0.1", port));
    stream.is_ok_and(|stream| stream.local_addr().is_ok_and(|own| own.port() != port))
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `git daemon`, which anybody may push to.
pub(crate) struct Daemon {
    running: Running,
}

impl Daemon {
    /// Serves every repository below a folder. `None` where git has no daemon.
    pub(crate) fn start(root: &Path) -> Option<Self> {
        let output = Command::new("git").arg("--exec-path").output().ok()?;
        let folder = String::from_utf8(output.stdout).ok()?;
        // The program itself: `git daemon` would leave it behind when it is killed.
        let program = PathBuf::from(folder.trim()).join("git-daemon");
        if !program.exists() {
            return None;
        }
        let running = Running::start(|port| {
            let mut command = Command::new(&program);
            command.args(["--reuseaddr", "--listen=127.0.0.1", "--export-all"]);
            command.args(["--enable=receive-pack", &format!("--port={port}")]);
            command.arg(format!("--base-path={}", root.display())).arg(root);
            command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
            command
        });
        Some(Self { running })
    }

    pub(crate) fn url(&self, repository: &str) -> String {
        format!("git://127.0.0.1:{}/{repository}", self.running.port)
    }
}

/// An ssh server with a key that was made for it.
pub(crate) struct Ssh {
    running: Running,
    root: PathBuf,
    user: String,
}

/// Where the server's keys lie, beside the repositories.
const KEYS: &str = "ssh";

impl Ssh {
    /// Lets this user in with a key that is made now. `None` where there is no ssh server.
    pub(crate) fn start(root: &Path) -> Option<Self> {
        let server = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"];
        let server = server.iter().map(Path::new).find(|path| path.exists())?;
        let keys = root.join(KEYS);
        fs::create_dir(&keys).unwrap();
        for name in ["host", "key"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(keys.join(name));
            if !command.status().is_ok_and(|status| status.success()) {
                return None;
            }
        }
        fs::rename(keys.join("key.pub"), keys.join("authorized")).unwrap();
        for name in ["host", "key", "authorized"] {
            fs::set_permissions(keys.join(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let user = Command::new("id").arg("-un").output().ok()?.stdout;
        let user = String::from_utf8(user).ok()?.trim().to_owned();
        // The server wants this folder when root starts it; a package makes it at boot.
        let _ = fs::create_dir_all("/run/sshd");
        let sshd = |mode: &str, port| {
            let mut command = Command::new(server);
            command.args([mode, "-e", "-f", "/dev/null"]);
            for option in options(&keys, port) {
                command.arg("-o").arg(option);
            }
            command
        };
        // Unpacked and never set up, it has no user of its own.
        let usable = sshd("-t", 22).stderr(Stdio::null()).status();
        if !usable.is_ok_and(|status| status.success()) {
            return None;
        }
        let running = Running::start(|port| sshd("-D", port));
        Some(Self { running, root: root.to_owned(), user })
    }

    pub(crate) fn url(&self, repository: &str) -> String {
        let path = self.root.join(repository);
        format!("ssh://{}@127.0.0.1:{}{}", self.user, self.running.port, path.display())
    }
}

fn options(keys: &Path, port: u16) -> Vec<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let keys = keys.display();
    vec![
        format!("HostKey={keys}/host"),
        format!("AuthorizedKeysFile={keys}/authorized"),
        "ListenAddress=127.0.0.1".to_owned(),
        format!("Port={port}"),
        "StrictModes=no".to_owned(),
        "UsePAM=no".to_owned(),
        "PermitRootLogin=yes".to_owned(),
        "PasswordAuthentication=no".to_owned(),
        "PidFile=none".to_owned(),
        format!("SetEnv=PATH={path}"),
    ]
}

/// The ssh command that the key of an URL's server needs; `None` for other URLs.
pub(crate) fn ssh_command(url: &str) -> Option<String> {
    let path = url.strip_prefix("ssh://")?;
    let path = Path::new(&path[path.find('/')?..]);
    let key = path.parent()?.join(KEYS).join("key");
    Some(format!(
        "ssh -F none -i {} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o \
         UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
        key.display()
    ))
}
