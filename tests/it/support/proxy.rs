//! A server in front of a real API server, which counts what is asked of it and fails as it is told.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

use super::apiserver::ApiServer;

/// What the server does instead of what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The next watch is told that its version is too old, as after a compaction.
    Gone,
    /// Every list and watch ends with an internal error.
    Broken,
}

/// The server in front. It ends when this is dropped.
pub(crate) struct Proxy {
    dir: TempDir,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    client: Client,
    counts: Mutex<BTreeMap<(String, &'static str), usize>>,
    faults: Mutex<BTreeMap<String, Fault>>,
    /// The kind whose watches are cut, and how often any was.
    cuts: watch::Sender<(u64, String)>,
}

impl Proxy {
    pub(crate) fn start(server: &ApiServer) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!(
            "apiVersion: v1
kind: Config
current-context: test
clusters: [{{name: test, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
users: [{{name: test, user: {{}}}}]
"
        );
        std::fs::write(dir.path().join("kubeconfig"), text).unwrap();
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let behind = server.kubeconfig();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let shared = Arc::new(Shared {
                    client: client(&behind).await,
                    counts: Mutex::default(),
                    faults: Mutex::default(),
                    cuts: watch::Sender::new((0, String::new())),
                });
                ready.send(Arc::clone(&shared)).unwrap();
                let app = Router::new().fallback(forward).with_state(shared);
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    ended = axum::serve(listener, app) => ended.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        let shared = is_ready.recv().unwrap();
        Self { dir, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The file that clients read to come here.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.dir.path().join("kubeconfig")
    }

    /// How often something was asked of a kind: `list`, `watch`, `get`, `patch`.
    pub(crate) fn asked(&self, plural: &str, verb: &'static str) -> usize {
        let counts = self.shared.counts.lock().unwrap();
        counts.get(&(plural.to_owned(), verb)).copied().unwrap_or(0)
    }

    /// Fails for a kind from now on, or once.
    pub(crate) fn fail(&self, plural: &str, fault: Fault) {
        self.shared.faults.lock().unwrap().insert(plural.to_owned(), fault);
    }

    /// Fails for a kind no more.
    pub(crate) fn mend(&self, plural: &str) {
        self.shared.faults.lock().unwrap().remove(plural);
    }

    /// Ends the watches of a kind, as an API server does after some minutes.
    pub(crate) fn cut(&self, plural: &str) {
        self.shared
            .cuts
            .send_modify(|(count, kind)| (*count, *kind) = (*count + 1, plural.to_owned()));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A client of an API server, as somebody who may do everything.
pub(crate) async fn client(kubeconfig: &Path) -> Client {
    let file = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

async fn forward(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (plural, verb) = asked(&parts);
    *shared.counts.lock().unwrap().entry((plural.clone(), verb)).or_default() += 1;
    if let Some(refusal) = fault(&shared, &plural, verb) {
        return refusal;
    }
    let path = parts.uri.path_and_query().unwrap().to_string();
    let mut request = axum::http::Request::builder().method(parts.method).uri(path);
    for header in [ACCEPT, CONTENT_TYPE] {
        if let Some(value) = parts.headers.get(&header) {
            request = request.header(header, value);
        }
    }
    let bytes = to_bytes(body, 16 << 20).await.unwrap();
    let request = request.body(kube::client::Body::from(bytes)).unwrap();
    let response = match shared.client.send(request).await {
        Ok(response) => response,
        Err(error) => {
            return (axum::http::StatusCode::BAD_GATEWAY, error.to_string()).into_response();
        }
    };
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(TRANSFER_ENCODING);
    let body = Body::new(body);
    if verb != "watch" {
        return Response::from_parts(parts, body);
    }
    let cut = until_cut(shared.cuts.subscribe(), plural);
    Response::from_parts(parts, Body::from_stream(body.into_data_stream().take_until(cut)))
}

fn until_cut(
    mut cuts: watch::Receiver<(u64, String)>,
    plural: String,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        while cuts.changed().await.is_ok() {
            if cuts.borrow_and_update().1 == plural {
                return;
            }
        }
        std::future::pending::<()>().await;
    })
}

fn fault(shared: &Shared, plural: &str, verb: &str) -> Option<Response> {
    let mut faults = shared.faults.lock().unwrap();
    let status = |code: u16, reason: &str, message: &str| {
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "code": code,
        })
    };
    match (*faults.get(plural)?, verb) {
        (Fault::Gone, "watch") => {
            faults.remove(plural);
            let gone = status(410, "Expired", "too old resource version: 1 (2)");
            let event = json!({"type": "ERROR", "object": gone}).to_string() + "\n";
            Some(([(CONTENT_TYPE, "application/json")], event).into_response())
        }
        (Fault::Broken, "list" | "watch") => {
            let broken = status(500, "InternalError", "etcdserver: request timed out");
            let code = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
            Some((code, [(CONTENT_TYPE, "application/json")], broken.to_string()).into_response())
        }
        _ => None,
    }
}

/// The kind that a request is about, and what it asks.
fn asked(parts: &Parts) -> (String, &'static str) {
    let mut rest: Vec<&str> = parts.uri.path().trim_matches('/').split('/').collect();
    rest.drain(..if rest[0] == "api" { 2 } else { 3 }.min(rest.len()));
    if rest.first() == Some(&"namespaces") && rest.len() > 2 {
        rest.drain(..2);
    }
    let plural = rest.first().copied().unwrap_or_default().to_owned();
    let query = parts.uri.query().unwrap_or_default();
    let verb = match parts.method.as_str() {
        "GET" if query.contains("watch=true") => "watch",
        "GET" if rest.len() == 1 => "list",
        "GET" => "get",
        "PATCH" => "patch",
        _ => "other",
    };
    (plural, verb)
}
