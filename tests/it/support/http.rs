//! A small HTTP server on loopback that runs `git http-backend` as a CGI program, so that pushes go
//! through the same protocol as they do to a real host.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Who may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody.
    Open,
    /// Whoever sends this as its `Authorization`.
    Only(&'static str),
    /// Nobody: whatever is sent as credentials is wrong.
    Closed,
}

/// A running server; it stops when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves every repository below a folder. `None` where git has no `http-backend`.
    pub(crate) fn start(root: &Path, access: Access) -> Option<Self> {
        let backend = backend()?;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, root) = (Arc::clone(&stop), root.to_owned());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (backend, root) = (backend.clone(), root.clone());
                std::thread::spawn(move || {
                    // A client that hangs up in the middle is its own affair.
                    let _ = stream.and_then(|stream| answer(stream, &backend, &root, access));
                });
            }
        });
        Some(Self { address, stop, thread: Some(thread) })
    }

    /// The URL of a repository, with credentials in it if they are given (`user:password`).
    pub(crate) fn url(&self, repository: &str, credentials: Option<&str>) -> String {
        let credentials = credentials.map(|c| format!("{c}@")).unwrap_or_default();
        format!("http://{credentials}{}/{repository}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is to stop.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn backend() -> Option<PathBuf> {
    let output = Command::new("git").arg("--exec-path").output().ok()?;
    let path =
        PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()).join("git-http-backend");
    path.exists().then_some(path)
}

/// A request that was read whole.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn answer(
    mut stream: TcpStream,
    backend: &Path,
    root: &Path,
    access: Access,
) -> std::io::Result<()> {
    let request = read_request(&stream)?;
    let response = match access {
        Access::Open => run(backend, root, &request)?,
        Access::Only(known) if request.header("Authorization") == Some(known) => {
            run(backend, root, &request)?
        }
        Access::Only(_) | Access::Closed => {
            let headers = "Status: 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"fleet\"";
            format!("{headers}\r\n\r\n").into_bytes()
        }
    };
    stream.write_all(&http_of_cgi(&response))
}

pub(crate) fn read_request(stream: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let text = line(&mut reader)?;
        let Some((name, value)) = text.split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    if header(&headers, "Expect").is_some() {
        (&*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = read_body(&mut reader, &headers)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Ok(Request { method, path: path.to_owned(), query: query.to_owned(), headers, body })
}

fn read_body(reader: &mut impl BufRead, headers: &[(String, String)]) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if header(headers, "Transfer-Encoding") != Some("chunked") {
        let length = header(headers, "Content-Length").and_then(|l| l.parse().ok()).unwrap_or(0);
        reader.take(length).read_to_end(&mut body)?;
        return Ok(body);
    }
    loop {
        let size = u64::from_str_radix(line(reader)?.trim(), 16).unwrap_or(0);
        if size == 0 {
            return Ok(body);
        }
        reader.take(size).read_to_end(&mut body)?;
        line(reader)?;
    }
}

fn line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut text = String::new();
    reader.read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

fn run(backend: &Path, root: &Path, request: &Request) -> std::io::Result<Vec<u8>> {
    let mut command = Command::new(backend);
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("REQUEST_METHOD", &request.method).env("PATH_INFO", &request.path);
    command.env("QUERY_STRING", &request.query).env("REMOTE_ADDR", "127.0.0.1");
    command.env("CONTENT_LENGTH", request.body.len().to_string());
    for (variable, name) in [
        ("CONTENT_TYPE", "Content-Type"),
        ("HTTP_CONTENT_ENCODING", "Content-Encoding"),
        ("GIT_PROTOCOL", "Git-Protocol"),
    ] {
        command.env_remove(variable);
        request.header(name).map(|value| command.env(variable, value));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().unwrap();
    let body = request.body.clone();
    let writing = std::thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output()?.stdout;
    // A backend that refuses need not read everything first.
    let _ = writing.join();
    Ok(output)
}

/// A CGI program's answer as HTTP: its `Status` header is the first line.
fn http_of_cgi(answer: &[u8]) -> Vec<u8> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len());
    let body = answer.get(end + 4..).unwrap_or_default();
    let mut status = "200 OK".to_owned();
    let mut headers = String::new();
    for text in String::from_utf8_lossy(&answer[..end]).lines() {
        match text.strip_prefix("Status: ") {
            Some(text) => text.clone_into(&mut status),
            None => _ = write!(headers, "{text}\r\n"),
        }
    }
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
