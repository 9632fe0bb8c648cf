//! A server as callers see it, in this process or in another.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, HOST, USER_AGENT};
use axum::http::{HeaderName, HeaderValue, Request};
use fileshed::config::{Effective, Inputs};
use fileshed::http;
use fileshed_core::limiter::Limiter;
use fileshed_core::{Clock, Core};
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::balanced::Balanced;
use crate::client::team_of;
use crate::wait::{self, in_time};
use crate::{Answer, Client, Finished, PATIENCE, Setup, program, skip};

/// The server's routes: with [`Setup::app`] without a socket, in this process, and with a
/// [`Server`](crate::Server) behind its port.
///
/// Without a process there is no log, signals are not handled, and connections are not limited. Commands
/// still run, started by the helper. With `FILESHED_TEST_PROXY` each value has processes.
pub struct TestApp {
    address: String,
    /// Empty if the routes belong to another process. Several servers get one request each, in turn.
    routes: Vec<Routes>,
    turn: AtomicUsize,
    /// Those processes, where they are this value's own.
    _balanced: Option<Balanced>,
    setup: Setup,
}

impl TestApp {
    /// Routes in shared mode.
    pub fn start() -> Self {
        Self::with().app()
    }

    /// Routes that are configured first.
    pub fn with() -> Setup {
        Setup::new()
    }

    /// Routes with the service key `service-key`.
    pub fn with_key() -> Self {
        Self::with().env("FILESHED_API_KEYS", "service-key").app()
    }

    /// The routes of the server that listens there.
    pub(crate) fn at(address: String, setup: Setup) -> Self {
        Self {
            address,
            routes: Vec::new(),
            turn: AtomicUsize::new(0),
            _balanced: None,
            setup,
        }
    }

    /// In this process, or behind a proxy where the tests are to have one.
    pub(crate) fn open(setup: Setup) -> Self {
        assert!(!setup.needs_process(), "a command line needs a process");
        let count = servers(&setup);
        if count > 1 && std::env::var_os("FILESHED_TEST_PROXY").is_some() {
            let balanced = Balanced::start(&setup, count);
            let address = balanced.address();
            return Self {
                _balanced: Some(balanced),
                ..Self::at(address, setup)
            };
        }
        let routes = (0..count).map(|_| Routes::open(&setup));
        Self {
            routes: routes.collect(),
            ..Self::at(ADDRESS.to_owned(), setup)
        }
    }

    /// Returns `true` if shells see all zones of a user; if not, that is a named skip.
    pub fn has_tree(&self) -> bool {
        let has_tree = self.client().get("/health").body["namespaces"] == true;
        if !has_tree {
            skip("documents in a shell: without namespaces it has one zone");
        }
        has_tree
    }

    /// Returns the setup that it was started with.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Makes a request in this process, if the routes are here.
    pub(crate) fn answer(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, Vec<u8>)],
        body: &[u8],
    ) -> Option<Answer> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let routes = self.routes.get(turn.checked_rem(self.routes.len())?)?;
        Some(routes.answer(method, path, headers, body))
    }

    /// Begins a request in this process, and drops it as soon as `until` is so: its client hangs up.
    pub fn hang_up(&self, path: &str, header: (&str, &str), until: impl Fn() -> bool) {
        let (name, value) = header;
        let headers = [(name.to_owned(), value.as_bytes().to_vec())];
        self.routes[0].hang_up(request("GET", path, &headers, b""), until);
    }

    /// The limiter of each server in this process.
    pub fn limiters(&self) -> Vec<Limiter> {
        let stores = self.routes.iter().map(|routes| &routes.core);
        stores.map(|core| core.store.limiter.clone()).collect()
    }

    /// host:port
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The directory of its data.
    pub fn data(&self) -> PathBuf {
        self.setup.path("data")
    }

    /// Moves the clock of the routes forward, where they are in this process.
    pub fn advance(&self, seconds: i64) {
        assert!(!self.routes.is_empty(), "the clock is in another process");
        for routes in &self.routes {
            routes.core.store.clock.advance(seconds);
        }
    }

    /// Runs the program beside the server, on the same data.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.setup.run(arguments)
    }

    /// A call without any header.
    pub fn call(&self, operation: &str, arguments: &Value) -> Answer {
        self.client().call(operation, arguments)
    }

    /// Requests without headers, to which some may be added.
    pub fn client(&self) -> Client<'_> {
        Client::to(self)
    }

    /// Returns a client with the headers that Open WebUI sends for a user; the server must have the key of
    /// [`TestApp::with_key`]. Each user has a group `team` of its own, on a server that takes groups from
    /// headers.
    pub fn as_user(&self, user: &str) -> Client<'_> {
        self.as_member(user, &team_of(user))
    }

    /// A user in the group of this id, called `team`.
    pub fn as_member(&self, user: &str, group: &str) -> Client<'_> {
        self.client()
            .header("Authorization", "Bearer service-key")
            .header("X-OpenWebUI-User-Id", user)
            .header("X-OpenWebUI-User-Group-Ids", group)
            .header("X-OpenWebUI-User-Groups", "team")
    }

    /// Ada and Bob, the members of one group, called `team`.
    pub fn team(&self) -> (Client<'_>, Client<'_>) {
        (self.as_member("ada", "t"), self.as_member("bob", "t"))
    }

    /// Returns a client with a personal token.
    pub fn with_token(&self, secret: &str) -> Client<'_> {
        self.client()
            .header("Authorization", &format!("Bearer {secret}"))
    }
}

/// Returns the number of servers that a test has behind one address: one, or `FILESHED_TEST_SERVERS` if
/// they share a registry.
fn servers(setup: &Setup) -> usize {
    let is_shared = |(name, _): &(String, String)| name == "FILESHED_REGISTRY";
    if !setup.environment.iter().any(is_shared) {
        return 1;
    }
    let several = std::env::var("FILESHED_TEST_SERVERS");
    several.map_or(1, |number| number.parse().unwrap())
}

/// The address that a server in this process believes to have.
const ADDRESS: &str = "127.0.0.1:8000";

struct Routes {
    core: Arc<Core>,
    router: Router,
    /// There until the end.
    runtime: Option<Runtime>,
}

impl Routes {
    fn open(setup: &Setup) -> Self {
        let data = "FILESHED_STORAGE_BASE_PATH";
        let mut environment: Vec<(OsString, OsString)> =
            vec![(data.into(), setup.path("data").into_os_string())];
        let given = setup.environment.iter();
        environment.extend(given.map(|(name, value)| (name.into(), value.into())));
        let inputs = Inputs {
            environment,
            ..Inputs::default()
        };
        let mut config = Effective::load(&inputs).unwrap().config;
        config.core.helper = program();
        config.core.timings = setup.timings.clone();
        let core = Arc::new(Core::open_at(config.core.clone(), Clock::movable()).unwrap());
        core.store.listens_at(ADDRESS.parse().unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .max_blocking_threads(http::threads(&config))
            .build()
            .unwrap();
        let entered = runtime.enter();
        let router = fileshed::app(Arc::clone(&core), &config);
        drop(entered);
        Self {
            core,
            router,
            runtime: Some(runtime),
        }
    }

    fn answer(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, Vec<u8>)],
        body: &[u8],
    ) -> Answer {
        let request = request(method, path, headers, body);
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(async {
            let answer = async {
                let response = self.router.clone().oneshot(request).await.unwrap();
                let (parts, body) = response.into_parts();
                let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                Answer::of(parts.status.as_u16(), parts.headers, &body)
            };
            in_time(answer).await
        })
    }

    fn hang_up(&self, request: Request<Body>, until: impl Fn() -> bool) {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(in_time(async {
            tokio::select! {
                answered = self.router.clone().oneshot(request) => panic!("{answered:?}"),
                () = wait::until(until) => {}
            }
        }));
    }
}

/// A request as clients send it.
fn request(method: &str, path: &str, headers: &[(String, Vec<u8>)], body: &[u8]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name, value.as_slice());
    }
    // Headers that a client adds by itself.
    let length = (!body.is_empty() || method == "POST").then(|| body.len().to_string());
    let own = [
        (HOST, Some(ADDRESS.to_owned())),
        (USER_AGENT, Some("tests".to_owned())),
        (ACCEPT, Some("*/*".to_owned())),
        (CONTENT_LENGTH, length),
    ];
    let has = |request: &axum::http::request::Builder, name: &HeaderName| {
        request
            .headers_ref()
            .is_some_and(|headers| headers.contains_key(name))
    };
    for (name, value) in own {
        if let Some(value) = value
            && !has(&request, &name)
        {
            request = request.header(name, HeaderValue::from_str(&value).unwrap());
        }
    }
    request.body(Body::from(body.to_vec())).unwrap()
}

impl Drop for Routes {
    fn drop(&mut self) {
        self.core.runs.processes.stop();
        self.core.runs.processes.wait(PATIENCE);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}
