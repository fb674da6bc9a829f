//! A forge on loopback: the calls of carp's that GitHub, GitLab and Gitea answer, in the shapes of their pages, and
//! the ways in which they fail.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use carp::model::api::ForgeKind;
use serde_json::{Value, json};

use super::http::{Request, read_request};

/// What opens it.
pub(crate) const TOKEN: &str = "s3cr3t-t0ken";
/// The request that brought every commit.
const NUMBER: u64 = 7;
/// Who has the token.
const OURS: u64 = 1;
const LOGIN: &str = "github-actions[bot]";

/// How it answers.
#[derive(Clone, Debug)]
pub(crate) enum Mood {
    Well,
    /// A code with headers and a body.
    Says(&'static str, String),
    /// Nothing, for as long as this.
    Slow(Duration),
    /// More than anybody reads.
    Huge,
}

/// What it has, and what it was asked.
pub(crate) struct Has {
    pub(crate) mood: Mood,
    /// The statuses of every commit, the last one last: state, name and description.
    pub(crate) statuses: Vec<(String, String, String)>,
    /// The comments, the first one first: their texts.
    pub(crate) comments: Vec<String>,
    /// Who wrote which of them, where that is not who has the token; nobody may edit theirs.
    pub(crate) of_others: BTreeMap<usize, u64>,
    /// Who set the statuses.
    pub(crate) set_by: u64,
    /// Whether Gitea has pages of comments, as it has of other lists.
    pub(crate) gitea_pages: bool,
    /// Whether a commit was brought by a request.
    pub(crate) is_requested: bool,
    /// `METHOD path`.
    pub(crate) asked: Vec<String>,
}

/// A running forge; it stops when it is dropped.
pub(crate) struct Forge {
    kind: ForgeKind,
    address: SocketAddr,
    has: Arc<Mutex<Has>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Forge {
    pub(crate) fn start(kind: ForgeKind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let has = Arc::new(Mutex::new(Has {
            mood: Mood::Well,
            statuses: Vec::new(),
            comments: Vec::new(),
            of_others: BTreeMap::new(),
            set_by: OURS,
            gitea_pages: false,
            is_requested: true,
            asked: Vec::new(),
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, there) = (Arc::clone(&stop), Arc::clone(&has));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let there = Arc::clone(&there);
                // A client that hangs up in the middle is its own affair.
                std::thread::spawn(move || drop(stream.and_then(|s| serve(s, kind, &there))));
            }
        });
        Self { kind, address, has, stop, thread: Some(thread) }
    }

    /// The page of the repository.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/our/fleet", self.address)
    }

    /// Who answers for it.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn has(&self) -> MutexGuard<'_, Has> {
        self.has.lock().unwrap()
    }

    pub(crate) fn is(&self, mood: Mood) {
        self.has().mood = mood;
    }

    /// The calls since the last question that wrote something.
    pub(crate) fn written(&self) -> Vec<String> {
        let asked = std::mem::take(&mut self.has().asked);
        asked.into_iter().filter(|call| !call.starts_with("GET ")).collect()
    }

    /// The flag that names it.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            ForgeKind::GitHub => "github",
            ForgeKind::GitLab => "gitlab",
            ForgeKind::Gitea => "gitea",
        }
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut stream: TcpStream, kind: ForgeKind, has: &Mutex<Has>) -> std::io::Result<()> {
    let request = read_request(&stream)?;
    let mood = {
        let mut has = has.lock().unwrap();
        has.asked.push(format!("{} {}", request.method, request.path));
        has.mood.clone()
    };
    match mood {
        Mood::Well => {}
        Mood::Says(head, body) => return send(&mut stream, head, &body),
        Mood::Slow(time) => std::thread::sleep(time),
        Mood::Huge => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")?;
            let block = vec![b' '; 1 << 16];
            loop {
                stream.write_all(&block)?;
            }
        }
    }
    let (head, body) = answer(&request, kind, &mut has.lock().unwrap());
    send(&mut stream, head, &body.to_string())
}

fn send(stream: &mut TcpStream, head: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: \
         close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes())
}

fn answer(request: &Request, kind: ForgeKind, has: &mut Has) -> (&'static str, Value) {
    let (header, wanted, api) = match kind {
        ForgeKind::GitHub => {
            ("Authorization", format!("Bearer {TOKEN}"), "/api/v3/repos/our/fleet")
        }
        ForgeKind::GitLab => ("PRIVATE-TOKEN", TOKEN.to_owned(), "/api/v4/projects/our%2Ffleet"),
        ForgeKind::Gitea => ("Authorization", format!("token {TOKEN}"), "/api/v1/repos/our/fleet"),
    };
    // Gitea takes either word before the token.
    let other = (kind == ForgeKind::Gitea).then(|| format!("Bearer {TOKEN}"));
    // GitHub answers nobody without a name.
    let is_known = request.header("User-Agent").is_some_and(|agent| !agent.is_empty());
    let is_ours = [Some(&wanted), other.as_ref()]
        .contains(&request.header(header).map(str::to_owned).as_ref());
    if !is_ours || !is_known {
        return ("401 Unauthorized", json!({"message": "Bad credentials"}));
    }
    if request.path == "/api/v4/user" {
        return ("200 OK", json!({"id": OURS, "username": LOGIN}));
    }
    let Some(path) = request.path.strip_prefix(api) else {
        return ("404 Not Found", json!({"message": "Not Found"}));
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match kind {
        ForgeKind::GitLab => gitlab(request, &parts, &body, has),
        kind => github(request, &parts, &body, has, kind),
    }
}

fn of<'a>(body: &'a Value, field: &str) -> &'a str {
    body[field].as_str().unwrap_or_default()
}

fn github(
    request: &Request,
    parts: &[&str],
    body: &Value,
    has: &mut Has,
    kind: ForgeKind,
) -> (&'static str, Value) {
    let is_gitea = kind == ForgeKind::Gitea;
    match (request.method.as_str(), parts) {
        ("GET", ["commits", _, "statuses"]) => {
            let word = if is_gitea { "status" } else { "state" };
            let one = |(state, name, description): &(String, String, String)| json!({word: state, "context": name, "description": description, "creator": {"id": has.set_by}});
            ("200 OK", has.statuses.iter().rev().map(one).collect())
        }
        ("POST", ["statuses", _]) if of(body, "description").chars().count() > 140 => {
            ("422 Unprocessable Entity", json!({"message": "Validation Failed"}))
        }
        ("POST", ["statuses", _]) => set(has, body, "context"),
        ("GET", ["commits", commit, "pulls"]) if !is_gitea => {
            let pull = json!({
                "number": NUMBER,
                "merged_at": "2026-11-01T09:00:00Z",
                "merge_commit_sha": commit,
                "base": {"ref": "main"},
            });
            // One that has the commit and is not merged, and one into another branch.
            let open = json!({"number": 9, "merged_at": null, "base": {"ref": "main"}});
            let other =
                json!({"number": 8, "merged_at": "2026-11-01T09:00:00Z", "base": {"ref": "next"}});
            ("200 OK", if has.is_requested { json!([open, other, pull]) } else { json!([open]) })
        }
        ("GET", ["commits", _, "pull"]) if is_gitea && has.is_requested => {
            ("200 OK", json!({"number": NUMBER, "merged": true, "base": {"ref": "main"}}))
        }
        ("GET", ["issues", "7", "comments"]) => ("200 OK", comments(request, has, is_gitea)),
        ("POST", ["issues", "7", "comments"]) => comment(has, body),
        ("PATCH", ["issues", "comments", id]) => edit(has, id, body),
        _ => ("404 Not Found", json!({"message": "Not Found"})),
    }
}

fn gitlab(request: &Request, parts: &[&str], body: &Value, has: &mut Has) -> (&'static str, Value) {
    match (request.method.as_str(), parts) {
        ("GET", ["repository", "commits", _, "statuses"]) => {
            let one = |(id, (state, name, description)): (usize, &(String, String, String))| json!({"id": id, "status": state, "name": name, "description": description, "author": {"id": has.set_by}});
            ("200 OK", has.statuses.iter().enumerate().map(one).collect())
        }
        // As GitLab's state machine has it.
        ("POST", ["statuses", _]) if !["success", "failed"].contains(&of(body, "state")) => (
            "400 Bad Request",
            json!({"message": "Cannot transition status via :run from :running"}),
        ),
        ("POST", ["statuses", _]) => set(has, body, "name"),
        ("GET", ["repository", "commits", commit, "merge_requests"]) => {
            let request = json!({
                "iid": NUMBER,
                "state": "merged",
                "target_branch": "main",
                "merge_commit_sha": commit,
            });
            let open = json!({"iid": 9, "state": "opened", "target_branch": "main"});
            ("200 OK", if has.is_requested { json!([open, request]) } else { json!([open]) })
        }
        ("GET", ["merge_requests", "7", "notes"]) => ("200 OK", comments(request, has, false)),
        ("POST", ["merge_requests", "7", "notes"]) => comment(has, body),
        ("PUT", ["merge_requests", "7", "notes", id]) => edit(has, id, body),
        _ => ("404 Not Found", json!({"message": "404 Not found"})),
    }
}

fn set(has: &mut Has, body: &Value, name: &str) -> (&'static str, Value) {
    let text = |field| of(body, field).to_owned();
    has.statuses.push((text("state"), text(name), text("description")));
    has.set_by = OURS;
    ("201 Created", json!({"creator": {"id": OURS}, "author": {"id": OURS}}))
}

/// Gitea gives all of them at once, or pages of what it calls `limit`: 30 where nothing is said, 50 at most.
fn comments(request: &Request, has: &Has, is_gitea: bool) -> Value {
    let number = |name: &str| {
        let found = request.query.split('&').find_map(|pair| pair.strip_prefix(name));
        found.and_then(|text| text.parse::<usize>().ok())
    };
    let one = |(id, body): (usize, &String)| {
        let author = has.of_others.get(&id).copied().unwrap_or(OURS);
        let login = if author == OURS { LOGIN } else { "somebody" };
        let who = json!({"id": author, "login": login, "username": login});
        json!({"id": id, "body": body, "user": who, "author": who})
    };
    let all = has.comments.iter().enumerate().map(one);
    if is_gitea && !has.gitea_pages {
        return all.collect();
    }
    let size = if is_gitea {
        number("limit=").unwrap_or(30).min(50)
    } else {
        number("per_page=").unwrap_or(20).min(100)
    };
    let page = number("page=").unwrap_or(1);
    all.skip(size * (page - 1)).take(size).collect()
}

fn comment(has: &mut Has, body: &Value) -> (&'static str, Value) {
    has.comments.push(of(body, "body").to_owned());
    ("201 Created", json!({"id": has.comments.len() - 1}))
}

fn edit(has: &mut Has, id: &str, body: &Value) -> (&'static str, Value) {
    let id: Option<usize> = id.parse().ok();
    if id.is_some_and(|id| has.of_others.contains_key(&id)) {
        return ("403 Forbidden", json!({"message": "Must have admin rights to Repository."}));
    }
    let comment = id.and_then(|id| has.comments.get_mut(id));
    let Some(comment) = comment else { return ("404 Not Found", json!({"message": "Not Found"})) };
    of(body, "body").clone_into(comment);
    ("200 OK", json!({"id": id}))
}
