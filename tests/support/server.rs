//! The real server, as a process on a loopback port.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::ops::Deref;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use rustix::net::{self, AddressFamily, SocketType};

use crate::{PATIENCE, Setup, TestApp, comes};

/// A running server. It is also a [`TestApp`], which has what callers see.
pub struct Server {
    child: Child,
    log: Arc<Mutex<String>>,
    app: TestApp,
}

impl Server {
    /// A server in shared mode.
    pub fn start() -> Self {
        Self::with().start()
    }

    /// A server that is configured first.
    pub fn with() -> Setup {
        Setup::new()
    }

    /// A server with the service key `service-key`.
    pub fn with_key() -> Self {
        Self::with().env("FILESHED_API_KEYS", "service-key").start()
    }

    pub(crate) fn spawn(setup: Setup, arguments: &[&str]) -> Self {
        let mut child = setup
            .command(arguments)
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
        Self {
            child,
            log,
            app: TestApp::at(address, setup),
        }
    }

    /// Everything that was logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until `text` was logged.
    pub fn logged(&self, text: &str) -> bool {
        comes(|| self.log().contains(text).then_some(())).is_some()
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
        self.send_kill();
        self.child.wait().unwrap();
    }

    /// Does the same without waiting for the end.
    pub fn send_kill(&self) {
        rustix::process::kill_process(self.process(), rustix::process::Signal::KILL).unwrap();
    }

    /// Starts another server on the same data.
    #[must_use]
    pub fn again(&self) -> Self {
        self.app.setup().clone().start()
    }

    /// The same with another setting.
    #[must_use]
    pub fn again_with(&self, name: &str, value: &str) -> Self {
        self.app.setup().clone().env(name, value).start()
    }

    /// Waits for the end; the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let Some(status) = comes(|| self.child.try_wait().unwrap()) else {
            panic!("the server does not stop:\n{}", self.log())
        };
        status.code()
    }

    /// Returns `true` if the process has ended.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Sends bytes as they are and reads until the connection ends, however it ends.
    pub fn raw(&self, request: &[u8]) -> String {
        self.try_raw(request).unwrap()
    }

    /// Connects from an address of this machine.
    pub fn connect_from(&self, address: [u8; 4]) -> TcpStream {
        let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        net::bind(&socket, &SocketAddrV4::new(address.into(), 0)).unwrap();
        let (_, port) = self.address().rsplit_once(':').unwrap();
        let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port.parse().unwrap());
        net::connect(&socket, &at).unwrap();
        TcpStream::from(socket)
    }

    /// The same as [`Self::raw`]; fails where nobody listens.
    pub fn try_raw(&self, request: &[u8]) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(self.address())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut answer = Vec::new();
        let _ = stream.write_all(request);
        let _ = stream.read_to_end(&mut answer);
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

impl Deref for Server {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
