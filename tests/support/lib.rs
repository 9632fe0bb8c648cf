//! What the tests share: the real server on a loopback port, requests to it, and what can be seen of
//! it from outside.
//!
//! `Server::start()` or `Server::with().env("FILESHED_API_KEYS", "key").start()`. Each server has its
//! own directory and no environment but its own; it ends with its value.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot go on panics, and it starts processes"
)]

pub mod family;
pub mod journal;
pub mod jwt;
pub mod moment;
pub mod outside;
pub mod rng;
mod schema;
pub mod standin;
pub mod wire;

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest that a server may take to start or to stop.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The program, not yet started.
#[derive(Clone)]
pub struct Setup {
    /// Gone with the last value that names it.
    directory: Arc<tempfile::TempDir>,
    environment: Vec<(String, String)>,
    flags: Vec<String>,
    launcher: Vec<String>,
}

impl Setup {
    /// Another program starts the server: it gets the server's command line as its arguments.
    #[must_use]
    pub fn through(mut self, launcher: &[&str]) -> Self {
        self.launcher = launcher.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// The command line of that program.
    pub fn launcher(&self) -> &[String] {
        &self.launcher
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A flag of its command line, with its value.
    #[must_use]
    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.push(format!("--{name}"));
        self.flags.push(value.to_owned());
        self
    }

    /// Writes a file beside the data, for configurations and secrets.
    #[must_use]
    pub fn file(self, name: &str, content: &str) -> Self {
        std::fs::write(self.directory.path().join(name), content).unwrap();
        self
    }

    /// Where a file beside the data lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs the program with these arguments to its end.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts the server and waits until it listens.
    pub fn start(self) -> Server {
        let mut child = self
            .command(&["serve", "--bind", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (sender, receiver) = mpsc::channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(address) = listening(&line) {
                    let _ = sender.send(address);
                }
                let mut log = written.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let address = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("the server does not listen:\n{}", log.lock().unwrap())
        });
        Server {
            child,
            address,
            log,
            setup: self,
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let program = program().into_os_string().into_string().unwrap();
        let mut words = self.launcher.iter().chain([&program]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .args(arguments)
            .args(&self.flags)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }
}

/// The address in the line that says so, in either log format.
fn listening(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening")?;
    let (_, rest) = rest
        .split_once("address")
        .or_else(|| line.split_once("address"))?;
    let rest = rest.trim_start_matches(['"', ':', '=']);
    let end = rest.find(['"', ' ', ',']).unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to its output.
    pub stdout: String,
    /// What it wrote to its error output.
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A running server.
pub struct Server {
    child: Child,
    address: String,
    log: Arc<Mutex<String>>,
    setup: Setup,
}

impl Server {
    /// A server in shared mode.
    pub fn start() -> Self {
        Self::with().start()
    }

    /// A server that is configured first.
    pub fn with() -> Setup {
        Setup {
            directory: Arc::new(tempfile::tempdir().unwrap()),
            environment: Vec::new(),
            flags: Vec::new(),
            launcher: Vec::new(),
        }
    }

    /// A server with the service key `service-key`.
    pub fn with_key() -> Self {
        Self::with().env("FILESHED_API_KEYS", "service-key").start()
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

    /// Everything that was logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until `text` was logged.
    pub fn logged(&self, text: &str) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if self.log().contains(text) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Runs the program beside the server, on the same data.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.setup.run(arguments)
    }

    /// The process itself.
    pub fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Asks the server to stop.
    pub fn terminate(&self) {
        rustix::process::kill_process(self.process(), rustix::process::Signal::TERM).unwrap();
    }

    /// Ends the server as a crash does: at once, in the middle of whatever it does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts another server on the same data.
    #[must_use]
    pub fn again(&self) -> Self {
        self.setup.clone().start()
    }

    /// The same with another setting.
    #[must_use]
    pub fn again_with(&self, name: &str, value: &str) -> Self {
        self.setup.clone().env(name, value).start()
    }

    /// Waits for the end; the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server does not stop:\n{}", self.log())
    }

    /// Sends bytes as they are and reads until the connection ends, however it ends.
    pub fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = Vec::new();
        let _ = stream.write_all(request);
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A call without any header.
    pub fn call(&self, operation: &str, arguments: &Value) -> Answer {
        self.client().call(operation, arguments)
    }

    /// Requests without headers, to which some may be added.
    pub fn client(&self) -> Client<'_> {
        Client {
            server: self,
            headers: Vec::new(),
        }
    }

    /// What Open WebUI sends for a user; the server must have the key of [`Server::with_key`].
    /// Each user has a group `team` of its own, on a server that takes groups from headers.
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

    /// Somebody with a personal token.
    pub fn with_token(&self, secret: &str) -> Client<'_> {
        self.client()
            .header("Authorization", &format!("Bearer {secret}"))
    }
}

/// The id of the group that [`Server::as_user`] names.
pub fn team_of(user: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    let id: String = user.chars().map(plain).take(59).collect();
    format!("team-{id}")
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Headers for requests to a server.
#[derive(Clone)]
pub struct Client<'a> {
    server: &'a Server,
    headers: Vec<(String, Vec<u8>)>,
}

impl Client<'_> {
    /// With one more header.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.header_bytes(name, value.as_bytes())
    }

    /// With one more header, of any bytes.
    #[must_use]
    pub fn header_bytes(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.push((name.to_owned(), value.to_vec()));
        self
    }

    /// The server that is called.
    pub fn server(&self) -> &Server {
        self.server
    }

    /// The text of a header that was set.
    pub fn header_text(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name)?;
        std::str::from_utf8(&found.1).ok()
    }

    /// In this conversation.
    #[must_use]
    pub fn chat(self, id: &str) -> Self {
        self.header("X-OpenWebUI-Chat-Id", id)
    }

    /// Calls an operation. What it answers has the form that the document says.
    #[track_caller]
    pub fn call(&self, operation: &str, arguments: &Value) -> Answer {
        let answer = self.post(operation, arguments.to_string().as_bytes());
        if answer.status == 200 {
            schema::assert_declared(operation, &answer.body["data"]);
        }
        answer
    }

    /// A body as it is, also one that is no JSON.
    pub fn post(&self, operation: &str, body: &[u8]) -> Answer {
        self.send("POST", &format!("/{operation}"), body)
    }

    /// Asks for a page or a file.
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, b"")
    }

    /// A request as it is.
    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(self.server.url(path));
        for (name, value) in &self.headers {
            request = request.header(name, value.as_slice());
        }
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .max_redirects(0)
            .output_buffer_size(1 << 20)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let response = if body.is_empty() && method != "POST" {
            agent.run(request.body(()).unwrap())
        } else {
            agent.run(request.body(body).unwrap())
        };
        Answer::read(response.unwrap())
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// All of its headers.
    pub headers: ureq::http::HeaderMap,
    /// Its body as text.
    pub text: String,
    /// The text as JSON, null if it is none.
    pub body: Value,
}

impl Answer {
    fn read(response: ureq::http::Response<ureq::Body>) -> Self {
        let (parts, body) = response.into_parts();
        let mut text = Vec::new();
        body.into_reader().read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_str(&text).unwrap_or_default(),
            text,
        }
    }

    /// The value of a header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap_or("?"))
    }

    /// The code of a failure, or "" on success.
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// Asserts success and gives `data`.
    #[track_caller]
    pub fn data(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.text);
        assert_eq!(self.body["success"], true, "{}", self.text);
        &self.body["data"]
    }

    /// Asserts a failure in the whole form of the envelope.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.text);
        assert_eq!(self.body["success"], false, "{}", self.text);
        let error = &self.body["error"];
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        assert!(error["hint"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(error["details"].is_object(), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
    }
}

/// The program that cargo built beside the tests.
pub fn program() -> PathBuf {
    if let Some(program) = std::env::var_os("CARGO_BIN_EXE_fileshed") {
        return program.into();
    }
    // A test binary that was started by hand lies in `deps`, beside the program.
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("fileshed")
}

/// The files of the repository that tests compare with.
pub fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap()
}
