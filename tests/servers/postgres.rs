//! The distribution's PostgreSQL, for the tests of one process.

use crate::skip;
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// The user `nobody`, who runs the server if tests run as root, which it refuses.
const NOBODY: u32 = 65_534;

/// An authority, and a certificate of it for this machine.
const CERTIFICATES: &str = r"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout authority.key -out authority.pem
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr
    echo subjectAltName=DNS:localhost > names
    openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
        -extfile names -out server.pem
    chmod 600 server.key
";

/// Those that this process started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// Starts the server in its directory, and ends it when the process at the other end of standard input is
/// gone. The directory is removed unless that process asks to keep it; hundreds of databases are gigabytes.
const WATCHED: &str = r#"
    "$@" & server=$!
    read -r keep
    kill -INT "$server"
    wait "$server"
    [ -n "$keep" ] || rm -rf "$PWD"
"#;

/// A server that listens on a socket in a directory of its own. None of its files outlives it.
#[derive(Debug)]
pub struct Postgres {
    child: Option<Child>,
    programs: PathBuf,
    directory: PathBuf,
    settings: Vec<String>,
    /// Its port for TLS, if it has one.
    port: Option<u16>,
    databases: AtomicU32,
}

impl Postgres {
    /// Returns the server of this process, which ends with it; `None` if PostgreSQL is not installed.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        // Every test that lacks it is named, not only the first.
        find_or_skip()?;
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// Makes a database cluster and starts it. Writes are not flushed to a disk, because its files are
    /// removed with it.
    pub fn start() -> Option<Self> {
        Self::start_with(&["fsync=off"])
    }

    /// The same with every commit on the disk, as installations have it: for what is measured.
    pub fn start_durable() -> Option<Self> {
        Self::start_with(&["fsync=on"])
    }

    /// Starts a server that also listens on a port of this machine, and accepts only TLS there; `None` if
    /// `openssl` cannot make its certificate.
    pub fn start_with_tls() -> Option<Self> {
        let mut server = Self::start_with(&["fsync=off"])?;
        server.stop();
        if !server.make_certificates() {
            skip("openssl is not installed");
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        server.settings.extend([
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={port}"),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", server.file("server.pem")),
            format!("ssl_key_file={}", server.file("server.key")),
        ]);
        server.port = Some(port);
        let access = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        fs::write(server.directory.join("data/pg_hba.conf"), access).expect("written");
        server.go_on();
        Some(server)
    }

    /// The certificate of who signed its own, as a file.
    pub fn authority(&self) -> String {
        self.file("authority.pem")
    }

    fn file(&self, name: &str) -> String {
        self.directory.join(name).to_string_lossy().into_owned()
    }

    fn make_certificates(&self) -> bool {
        let made = as_ordinary_user(Command::new("sh"), &self.directory)
            .args(["-ec", CERTIFICATES])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        made.is_ok_and(|status| status.success())
    }

    fn start_with(settings: &[&str]) -> Option<Self> {
        let programs = find_or_skip()?;
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("postgres-{}-{number}", std::process::id());
        let directory = env::temp_dir().join(name);
        let data = directory.join("data");
        let _old = fs::remove_dir_all(&directory);
        fs::create_dir_all(&data).expect("a directory");
        // Every account may reach the socket, but only callers with the address know it.
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("open");
        if is_root(&directory) {
            for place in [&directory, &data] {
                chown(place, Some(NOBODY), Some(NOBODY)).expect("given away");
            }
        }
        let made = as_ordinary_user(Command::new(programs.join("initdb")), &directory)
            .args([
                "-A",
                "trust",
                "-U",
                "fileshed",
                "-E",
                "UTF8",
                "--no-sync",
                "-D",
            ])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .expect("initdb");
        assert!(made.success(), "initdb: {made}");
        let mut server = Self {
            child: None,
            programs,
            directory,
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
            port: None,
            databases: AtomicU32::new(0),
        };
        server.go_on();
        Some(server)
    }

    /// Starts it on what it has.
    pub fn go_on(&mut self) {
        let mut command = as_ordinary_user(Command::new("sh"), &self.directory);
        command
            .args(["-c", WATCHED, "sh"])
            .arg(self.programs.join("postgres"))
            .arg("-D")
            .arg(self.directory.join("data"))
            .arg("-k")
            .arg(&self.directory)
            .args(["-c", "listen_addresses=", "-c", "max_connections=300"])
            .args(["-c", "max_wal_size=128MB", "-c", "min_wal_size=32MB"])
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("postgres");
        let mut lines = BufReader::new(child.stderr.take().expect("its errors")).lines();
        let ready = lines.find(|line| {
            let line = line.as_ref().expect("a line");
            line.contains("ready to accept connections")
        });
        assert!(ready.is_some(), "PostgreSQL ended: {:?}", child.wait());
        thread::spawn(move || lines.for_each(drop));
        self.child = Some(child);
    }

    /// Ends it at once, with every connection; committed changes stay.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            if let Some(mut input) = child.stdin.take() {
                let _told = input.write_all(b"keep\n");
            }
            let _ended = child.wait();
        }
    }

    /// Ends it as a crash does: unfinished work is lost, and it repairs itself at its next start.
    pub fn crash(&mut self) {
        let ended = as_ordinary_user(Command::new(self.programs.join("pg_ctl")), &self.directory)
            .args(["-m", "immediate", "-D"])
            .arg(self.directory.join("data"))
            .arg("stop")
            .stdout(Stdio::null())
            .status()
            .expect("pg_ctl");
        assert!(ended.success(), "pg_ctl: {ended}");
        self.stop();
    }

    /// Returns the path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(".s.PGSQL.5432")
    }

    /// A database that nobody else has, by its name.
    pub fn new_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// The address of a database that nobody else has.
    pub fn database(&self) -> String {
        let name = self.new_database();
        if let Some(port) = self.port {
            return format!("postgres://fileshed@localhost:{port}/{name}?sslmode=require");
        }
        let host = self.directory.to_string_lossy().replace('/', "%2F");
        format!("postgres://fileshed@{host}/{name}")
    }

    /// Returns the answer to a statement, as `psql` prints it, without headers.
    pub fn run(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database).args(["-c", sql]).output();
        let output = output.expect("psql");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Carries out a statement in a session that stays open, with the locks that it took.
    pub fn hold(&self, database: &str, sql: &str) -> Session {
        let mut command = self.psql(database);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("psql");
        let input = child.stdin.as_mut().expect("its input");
        writeln!(input, "{sql};\n\\echo done").expect("sent");
        let output = child.stdout.take().expect("its output");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "done"), "{sql}");
        Session { child }
    }

    /// Waits in the database until a condition holds there.
    pub fn wait_until(&self, database: &str, condition: &str) {
        let sql = format!(
            "SET statement_timeout = '2min';
             DO $$ BEGIN
                 WHILE NOT ({condition}) LOOP PERFORM pg_sleep(0.05); END LOOP;
             END $$"
        );
        self.run(database, &sql);
    }

    fn psql(&self, database: &str) -> Command {
        let mut command = Command::new(self.programs.join("psql"));
        command
            .args(["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1"])
            .args(["-U", "fileshed", "-d", database, "-h"])
            .arg(&self.directory)
            .args(["-p", &self.port.unwrap_or(5432).to_string()]);
        command
    }
}

/// A connection with all that it locked, which is free when this is dropped.
#[derive(Debug)]
pub struct Session {
    child: Child,
}

impl Drop for Session {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
        let _gone = fs::remove_dir_all(&self.directory);
    }
}

fn is_root(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(directory).is_ok_and(|found| found.uid() == 0)
}

/// Returns `true` if the account of the tests is in the list of accounts, where `initdb` looks for it.
fn has_a_name() -> bool {
    let mut named = Command::new("id");
    named.arg("-un").stdout(Stdio::null()).stderr(Stdio::null());
    named.status().is_ok_and(|status| status.success())
}

fn as_ordinary_user(mut command: Command, directory: &Path) -> Command {
    if is_root(Path::new("/proc/self")) {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir(directory).env("LC_ALL", "C.UTF-8");
    command
}

/// The newest one: Debian keeps a directory for each version.
/// The directory of its programs, if this account can start them.
#[track_caller]
fn find_or_skip() -> Option<PathBuf> {
    let programs = find();
    if programs.is_none() {
        skip("PostgreSQL is not installed");
    } else if !has_a_name() {
        skip("PostgreSQL serves nobody whose account has no name");
        return None;
    }
    programs
}

fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("FILESHED_TEST_POSTGRES") {
        return Some(named.into());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let places = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    let installed = places.filter(|place| place.join("initdb").is_file());
    installed.max_by_key(|place| {
        let version = place.parent().and_then(Path::file_name);
        version.and_then(|version| version.to_str()?.parse::<u32>().ok())
    })
}
