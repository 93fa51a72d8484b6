//! `dist/` over HTTP on this machine: for people, with live reload, and for the browser tests, without.

use crate::site::DIST;
use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::thread;
use tokio::sync::watch;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// The request hangs until the next build is there.
const RELOAD: &str = r#"
const wait = () => fetch("/__reload")
  .then((answer) => answer.ok ? location.reload() : Promise.reject(answer.status))
  .catch(() => setTimeout(wait, 1000));
wait();
"#;

/// Whether the page reloads itself after a rebuild.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Live {
    Reload,
    Never,
}

/// A running server; it ends with the program.
pub(crate) struct Server {
    pub(crate) url: String,
    builds: watch::Sender<()>,
}

impl Server {
    /// Tells the open pages that there is a new build.
    pub(crate) fn reload(&self) {
        self.builds.send_replace(());
    }
}

/// Serves `dist/` at localhost; port 0 takes any free one.
pub(crate) fn start(port: u16, live: Live) -> Result<Server> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!("port {port} cannot be had; choose another with `cargo xtask serve --port N`")
    })?;
    listener.set_nonblocking(true).context("preparing the server's socket")?;
    let url = format!("http://localhost:{}/", listener.local_addr()?.port());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .context("starting the server")?;
    let (builds, watch) = watch::channel(());
    let app = app(live, watch);
    thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, app).await
        })
    });
    Ok(Server { url, builds })
}

fn app(live: Live, builds: watch::Receiver<()>) -> Router {
    let routes = match live {
        Live::Never => Router::new(),
        Live::Reload => Router::new()
            .route("/", get(page))
            .route("/__reload.js", get(([(CONTENT_TYPE, "text/javascript")], RELOAD)))
            .route("/__reload", get(next_build)),
    };
    // A browser that keeps yesterday's page shows yesterday's bug.
    routes.fallback_service(ServeDir::new(DIST)).with_state(builds).layer(
        SetResponseHeaderLayer::overriding(CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    )
}

async fn page() -> impl IntoResponse {
    match std::fs::read_to_string(Path::new(DIST).join("index.html")) {
        Ok(html) => Ok(Html(html.replacen(
            "</head>",
            "<script defer src=\"/__reload.js\"></script></head>",
            1,
        ))),
        Err(error) => Err((StatusCode::NOT_FOUND, error.to_string())),
    }
}

async fn next_build(State(mut builds): State<watch::Receiver<()>>) {
    builds.mark_unchanged();
    // An error means that the server is going away, and this answer with it.
    let _ = builds.changed().await;
}
