//! Listening for HTTP in a way that callers cannot use up: as many connections as can be borne, none of
//! them for ever, and always room for one more, which is a probe of a kubelet as likely as not.
//!
//! Nothing is asked of a caller before its request, so a thousand of them can connect and say nothing. Then
//! the oldest ones make room: whoever is answered needs a moment, and whoever waits for nothing has had it.

use std::collections::BTreeMap;
use std::io;
use std::net::{self, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};
use tracing::warn;

use super::Error;

/// How many connections there may be.
const MOST: usize = 128;
/// How long a connection may take for a request, from its first byte to the first one of the answer, and for
/// each next part of an answer; and how long it may be kept for another request.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long to wait where no connection can be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes an address.
///
/// # Errors
/// It is not free, or not one of this machine.
pub fn bind(address: SocketAddr) -> Result<net::TcpListener, Error> {
    let failed = |e: io::Error| Error::Listen { address, detail: e.to_string() };
    net::TcpListener::bind(address).map_err(failed)
}

/// A listening socket for [`axum::serve()`].
pub struct ServedSocket {
    /// Kept, so that the spare one can be made anew.
    socket: net::TcpListener,
    listener: TcpListener,
    /// An open file that is given up where there are no more, so that one caller can still be let in.
    spare: Option<net::TcpListener>,
    guests: Arc<Guests>,
    is_short: bool,
}

impl ServedSocket {
    /// A door to an address. It must be made inside a tokio runtime.
    ///
    /// # Errors
    /// The socket cannot be used.
    pub fn new(socket: net::TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let listener = TcpListener::from_std(socket.try_clone()?)?;
        let spare = socket.try_clone().ok();
        Ok(Self { socket, listener, spare, guests: Arc::default(), is_short: false })
    }

    /// Makes room where there is none: by the connection that is oldest, else by the file kept for this.
    fn make_room(&mut self, error: &io::Error) {
        if !self.is_short {
            warn!("a connection cannot be taken: {error}; the oldest ones are given up");
            self.is_short = true;
        }
        if !self.guests.send_oldest_away() {
            self.spare = None;
        }
    }
}

impl Listener for ServedSocket {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    self.spare = self.spare.take().or_else(|| self.socket.try_clone().ok());
                    self.is_short &= self.spare.is_none();
                    return (self.guests.welcome(stream), address);
                }
                // The caller went away before it was let in.
                Err(error) if is_the_callers(&error) => {}
                Err(error) => {
                    // There is an error without a caller, too: whoever was let in last is answered first.
                    sleep(PAUSE).await;
                    self.make_room(&error);
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

fn is_the_callers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The open connections, in the order in which they came.
#[derive(Default)]
struct Guests(Mutex<(u64, BTreeMap<u64, oneshot::Sender<()>>)>);

impl Guests {
    fn welcome(self: &Arc<Self>, stream: TcpStream) -> Guest {
        let (send_away, farewell) = oneshot::channel();
        let mut state = self.state();
        while state.1.len() >= MOST {
            state.1.pop_first().map(|(_, oldest)| oldest.send(()));
        }
        let number = state.0;
        state.0 += 1;
        state.1.insert(number, send_away);
        let time = Box::pin(sleep(PATIENCE));
        Guest { stream, number, guests: Arc::clone(self), farewell, time }
    }

    fn send_oldest_away(&self) -> bool {
        self.state().1.pop_first().is_some_and(|(_, oldest)| oldest.send(()).is_ok())
    }

    /// What is in there is whole at every moment, so a thread that panicked does no harm.
    fn state(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, oneshot::Sender<()>>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection, which ends by itself where it takes too long or where its place is wanted.
pub struct Guest {
    stream: TcpStream,
    number: u64,
    guests: Arc<Guests>,
    farewell: oneshot::Receiver<()>,
    time: Pin<Box<Sleep>>,
}

impl Guest {
    /// Fails where the connection is to end.
    fn may_stay(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        // A sender that is gone has sent it away, too.
        let is_over = Pin::new(&mut self.farewell).poll(cx).is_ready();
        if is_over || self.time.as_mut().poll(cx).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    fn answered(&mut self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.time.as_mut().reset(Instant::now() + PATIENCE);
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.guests.state().1.remove(&self.number);
    }
}

impl AsyncRead for Guest {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.may_stay(cx)?;
        Pin::new(&mut this.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.may_stay(cx)?;
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.answered(&written);
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.may_stay(cx)?;
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, parts);
        this.answered(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::Router;
    use axum::routing::get;

    use super::*;

    /// A server that answers `ok`; it ends with the test's process.
    fn serve() -> SocketAddr {
        let socket = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let router = Router::new().route("/healthz", get(|| async { "ok\n" }));
                axum::serve(ServedSocket::new(socket).unwrap(), router).await.unwrap();
            });
        });
        address
    }

    fn call(address: SocketAddr) -> net::TcpStream {
        let stream = net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE * 4)).unwrap();
        stream
    }

    fn answer(mut stream: net::TcpStream) -> String {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn half_open_connections_make_room_for_whoever_asks() {
        let address = serve();
        let mut open: Vec<_> = (0..MOST * 3).map(|_| call(address)).collect();
        for stream in &mut open {
            // Some of the first are gone by now, which the system may tell at once.
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nX: ");
        }
        assert!(answer(call(address)).ends_with("ok\n"));
        let mut first = open.remove(0);
        assert!(matches!(first.read(&mut [0; 64]), Ok(0) | Err(_)), "the oldest made room");
    }

    #[test]
    fn a_request_that_does_not_come_is_not_waited_for() {
        let address = serve();
        let mut stream = call(address);
        stream.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
        // A byte now and then buys no time.
        let mut slow = stream.try_clone().unwrap();
        let slow = std::thread::spawn(move || {
            (0..40).take_while(|_| slow.write_all(b"X").is_ok()).for_each(|_| {
                std::thread::sleep(PATIENCE / 20);
            });
        });
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        assert!(!slow.is_finished(), "it ended before the caller did");
        assert!(answer(call(address)).ends_with("ok\n"));
    }

    #[test]
    fn without_a_free_file_the_oldest_caller_goes_and_then_the_spare_one() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let socket = net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = socket.local_addr().unwrap();
            let mut door = ServedSocket::new(socket).unwrap();
            let _caller = call(address);
            let (mut guest, _) = door.accept().await;
            let full = io::Error::from(io::ErrorKind::Other);
            door.make_room(&full);
            let mut buffer = [0; 8];
            let read = std::future::poll_fn(|cx| {
                Pin::new(&mut guest).poll_read(cx, &mut ReadBuf::new(&mut buffer))
            });
            assert_eq!(read.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
            assert!(door.spare.is_some());
            door.make_room(&full);
            assert!(door.spare.is_none());
            let _next = call(address);
            door.accept().await;
            assert!(door.spare.is_some(), "it is kept again");
        });
    }
}
