//! The controller over HTTP: that it lives, and whether it works.

use std::net::TcpListener;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::sync::watch;

use crate::service::ServedSocket;

/// What the controller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControllerPhase {
    /// It has not seen the objects yet.
    Starting,
    /// Another one leads.
    Standby,
    /// It works.
    Working,
    /// It was told to stop.
    Stopping,
}

impl ControllerPhase {
    const fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Standby => "standby",
            Self::Working => "ok",
            Self::Stopping => "stopping",
        }
    }
}

/// Answers `/healthz` and `/readyz` as long as the process lives.
pub(super) async fn answer(listener: TcpListener, phase: watch::Receiver<ControllerPhase>) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .with_state(phase);
    let served = async { axum::serve(ServedSocket::new(listener)?, router).await };
    let served: std::io::Result<()> = served.await;
    if let Err(error) = served {
        tracing::error!("nothing listens any more: {error}");
    }
}

async fn readyz(State(phase): State<watch::Receiver<ControllerPhase>>) -> (StatusCode, String) {
    let phase = *phase.borrow();
    let code = match phase {
        ControllerPhase::Standby | ControllerPhase::Working => StatusCode::OK,
        ControllerPhase::Starting | ControllerPhase::Stopping => StatusCode::SERVICE_UNAVAILABLE,
    };
    (code, format!("{}\n", phase.word()))
}
