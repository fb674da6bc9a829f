//! The controller over HTTP: health, metrics, and a webhook that wakes it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::StreamExt as _;

use super::hook::{Caller, Check, SecretFile};
use super::metrics::MEDIA_TYPE;
use super::turns::Shared;
use super::wakeup::Hint;

/// The largest body of a webhook. Pushes of many commits come near a megabyte.
const MOST_BODY: usize = 2 << 20;
/// How long a caller may take to send its body.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the handlers know.
pub(super) struct AppState {
    pub(super) shared: Arc<Shared>,
    pub(super) secret: Option<SecretFile>,
    pub(super) clock: fn() -> jiff::Timestamp,
}

impl AppState {
    pub(super) fn new(
        shared: Arc<Shared>,
        secret: Option<SecretFile>,
        clock: fn() -> jiff::Timestamp,
    ) -> Self {
        Self { shared, secret, clock }
    }

    /// The routes.
    pub(super) fn router(self) -> Router {
        Router::new()
            .route("/healthz", get(healthz))
            .route("/readyz", get(readyz))
            .route("/metrics", get(metrics))
            .route("/hook/{kind}", post(hook))
            .with_state(Arc::new(self))
    }
}

async fn healthz(State(door): State<Arc<AppState>>) -> Response {
    match door.shared.health.stuck((door.clock)()) {
        None => (StatusCode::OK, "ok\n").into_response(),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("stuck: {why}\n")).into_response(),
    }
}

async fn readyz(State(door): State<Arc<AppState>>) -> Response {
    let readiness = door.shared.health.readiness();
    let code = if readiness.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, format!("{readiness}\n")).into_response()
}

async fn metrics(State(door): State<Arc<AppState>>) -> Response {
    ([(header::CONTENT_TYPE, MEDIA_TYPE)], door.shared.metrics.text()).into_response()
}

/// Rings, if the caller knows the secret. What else it says is not looked at.
async fn hook(
    State(door): State<Arc<AppState>>,
    Path(kind): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let (code, text) = called(&door, &kind, &headers, body).await;
    let result = match code {
        StatusCode::ACCEPTED => "accepted",
        StatusCode::UNAUTHORIZED => "unauthorized",
        _ => "refused",
    };
    door.shared.metrics.hooked(result);
    (code, format!("{text}\n")).into_response()
}

async fn called(
    door: &AppState,
    kind: &str,
    headers: &HeaderMap,
    body: Body,
) -> (StatusCode, &'static str) {
    let (Some(caller), Some(secret)) = (Caller::parse(kind), &door.secret) else {
        return (StatusCode::NOT_FOUND, "there is no such webhook");
    };
    let Some(header) = headers.get(caller.header()) else {
        return (StatusCode::UNAUTHORIZED, "the signature is missing");
    };
    let Some(claim) = caller.claim(header.as_bytes()) else {
        return (StatusCode::UNAUTHORIZED, "the signature has not its form");
    };
    let secret = match secret.read() {
        Ok(secret) => secret,
        Err(error) => {
            tracing::error!("{error}");
            return (StatusCode::INTERNAL_SERVER_ERROR, "the secret cannot be read");
        }
    };
    let is_good = match claim.check(&secret) {
        None => false,
        Some(check) => match tokio::time::timeout(PATIENCE, checked(check, body)).await {
            Ok(Ok(is_good)) => is_good,
            Ok(Err(refused)) => return refused,
            Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the body did not come"),
        },
    };
    if !is_good {
        tracing::warn!(kind, "a webhook with a wrong signature was refused");
        return (StatusCode::UNAUTHORIZED, "the signature is wrong");
    }
    door.shared.wakeup.ring(Hint::Hook);
    (StatusCode::ACCEPTED, "accepted")
}

/// Reads a body to its end without keeping it: a caller without the secret costs a connection, of which
/// there is always one more, and no memory.
async fn checked(mut check: Check, body: Body) -> Result<bool, (StatusCode, &'static str)> {
    let (mut body, mut length) = (body.into_data_stream(), 0);
    while let Some(part) = body.next().await {
        let part = part.map_err(|_| (StatusCode::BAD_REQUEST, "the body broke off"))?;
        length += part.len();
        if length > MOST_BODY {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"));
        }
        check.update(&part);
    }
    Ok(check.passes())
}
