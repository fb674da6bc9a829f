//! A server on loopback that has the files of releases, and the ways in which it fails.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::http::read_request;

/// What it says to a path.
#[derive(Clone, Debug)]
pub(crate) enum Release {
    /// A file.
    File(String),
    /// A status with a body.
    Says(&'static str, &'static str),
    /// Less than the length that it tells.
    Torn(String),
    /// A file whose length it does not tell, and then nothing more.
    Unmeasured(String),
    /// More than anybody reads.
    Huge,
    /// Another address.
    Elsewhere(String),
    /// Nothing: the connection is closed.
    HangsUp,
}

type Answers = dyn Fn(&str) -> Release + Send + Sync;

/// A running server; it stops when it is dropped.
pub(crate) struct Releases {
    address: SocketAddr,
    answers: Arc<Mutex<Arc<Answers>>>,
    asked: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Releases {
    pub(crate) fn start(answers: impl Fn(&str) -> Release + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers: Arc<Mutex<Arc<Answers>>> = Arc::new(Mutex::new(Arc::new(answers)));
        let (stop, asked) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let there = (Arc::clone(&answers), Arc::clone(&stop), Arc::clone(&asked));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if there.1.load(Ordering::SeqCst) {
                    return;
                }
                let (answers, asked) = (Arc::clone(&there.0.lock().unwrap()), Arc::clone(&there.2));
                // A client that hangs up in the middle is its own affair.
                std::thread::spawn(move || drop(stream.and_then(|s| serve(s, &*answers, &asked))));
            }
        });
        Self { address, answers, asked, stop, thread: Some(thread) }
    }

    /// It answers otherwise from now on.
    pub(crate) fn answer(&self, answers: impl Fn(&str) -> Release + Send + Sync + 'static) {
        *self.answers.lock().unwrap() = Arc::new(answers);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The paths since the last question.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Drop for Releases {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    mut stream: TcpStream,
    answers: &Answers,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let request = read_request(&stream)?;
    // What is published is for everybody.
    assert_eq!(request.header("Authorization"), None);
    asked.lock().unwrap().push(request.path.clone());
    let (head, length, body) = match answers(&request.path) {
        Release::File(body) => ("200 OK".to_owned(), Some(body.len()), body),
        Release::Says(head, body) => (head.to_owned(), Some(body.len()), body.to_owned()),
        Release::Torn(body) => ("200 OK".to_owned(), Some(body.len() * 2), body),
        Release::Unmeasured(body) => ("200 OK".to_owned(), None, body),
        Release::Elsewhere(to) => (format!("302 Found\r\nLocation: {to}"), Some(0), String::new()),
        Release::HangsUp => return Ok(()),
        Release::Huge => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n")?;
            let block = vec![b' '; 1 << 16];
            loop {
                stream.write_all(&block)?;
            }
        }
    };
    let length = length.map(|length| format!("Content-Length: {length}\r\n")).unwrap_or_default();
    let head = format!("HTTP/1.1 {head}\r\n{length}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
