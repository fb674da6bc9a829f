//! Telling the forge through the proxy that the environment names, as git and curl reach it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use carp::model::api::ForgeKind;

use crate::support::Remote;
use crate::support::forge::{Forge, TOKEN};
use crate::support::people::{Person, printed};
use crate::support::small;

/// A proxy on loopback that tunnels whoever names himself, as `CONNECT` asks it to.
struct Tunnels {
    port: u16,
    /// Where to, one for each tunnel.
    asked: Arc<Mutex<Vec<String>>>,
}

/// `me:p@ss`, as the header has it.
const AUTHORIZATION: &str = "Basic bWU6cEBzcw==";

impl Tunnels {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&asked);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = Arc::clone(&told);
                std::thread::spawn(move || drop(tunnel(stream, &told)));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn tunnel(mut stream: TcpStream, told: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let to = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_tunnel = line.starts_with("CONNECT ");
    let mut is_known = false;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let (name, value) = line.trim_end().split_once(':').unwrap_or_default();
        is_known |=
            name.eq_ignore_ascii_case("proxy-authorization") && value.trim() == AUTHORIZATION;
        if line.trim().is_empty() {
            break;
        }
    }
    if !is_tunnel || !is_known {
        return stream
            .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    }
    told.lock().unwrap().push(to.clone());
    let mut forge = TcpStream::connect(to)?;
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut from, mut into) = (stream.try_clone()?, forge.try_clone()?);
    let there = std::thread::spawn(move || std::io::copy(&mut from, &mut into));
    std::io::copy(&mut forge, &mut stream)?;
    stream.shutdown(std::net::Shutdown::Both)?;
    drop(there.join());
    Ok(())
}

#[test]
fn the_forge_is_told_through_the_proxy_that_the_environment_names() {
    let proxy = Tunnels::start();
    let (forge, remote) = (Forge::start(ForgeKind::GitHub), Remote::new());
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let turn = |url: &str, env: &[(&str, &str)]| {
        let args = ["reconcile", "--once", "--forge", "github", "--forge-url", url];
        let mut command = person.command(&args);
        let output =
            command.env("CARP_FORGE_TOKEN", TOKEN).envs(env.iter().copied()).output().unwrap();
        let said = printed(&output);
        assert!(output.status.success() && !said.contains(TOKEN), "{said}");
        assert!(!said.contains("p%40ss") && !said.contains("p@ss"), "{said}");
        // A try that failed is one line of carp's own.
        assert!(!said.contains("ERROR"), "{said}");
        said
    };
    let address = |user: &str| format!("{user}127.0.0.1:{}", proxy.port);
    let (ours, others) = (address("http://me:p%40ss@"), address("http://"));
    // The tunnel leads to a forge that speaks no TLS, so it is not told and the token stays with carp.
    let encrypted = forge.url().replace("http://", "https://");
    for (user, tunnels) in [(&others, 0), (&ours, 1)] {
        let said = turn(&encrypted, &[("https_proxy", user)]);
        assert!(said.contains("forge not told: "), "{said}");
        assert!(said.contains(&format!("asked through the proxy {}", address(""))), "{said}");
        let asked = proxy.asked();
        assert_eq!(asked.is_empty(), tunnels == 0, "{asked:?}");
        assert!(asked.iter().all(|to| *to == forge.host()), "{asked:?}");
        person.push_one("README.md", &format!("# {tunnels}\n"));
    }
    assert_eq!(forge.has().statuses.len(), 0);
    let said = turn(&encrypted, &[("https_proxy", &ours), ("NO_PROXY", "localhost,127.0.0.1")]);
    assert!(
        said.contains("forge not told: ") && proxy.asked().is_empty(),
        "asked directly: {said}"
    );
    person.push_one("README.md", "# An edit that changes nothing\n");

    // What is not encrypted stays on this machine, whatever the environment says.
    let said = turn(&forge.url(), &[("http_proxy", &ours), ("all_proxy", &ours)]);
    assert!(said.contains("forge: told") && proxy.asked().is_empty(), "{said}");
    assert_eq!(forge.has().statuses.len(), 1);
}
