//! Several servers on the same data behind a real proxy, which gives each of them one request in turn:
//! the worst case, for the proxy of an installation keeps a user with one server.

use std::net::{SocketAddr, TcpListener};

use fileshed_test_servers::Proxy;

use crate::{Server, Setup, repository};

/// Lines of the delivered configuration, and their replacement in the tests.
const BALANCE: (&str, &str) = (
    "    balance hash var(txn.user)\n    # Who is moved where one server goes are its users alone, \
     and they come back with it.\n    hash-type consistent\n",
    "    balance roundrobin\n",
);

/// First words of a line with a server.
const SERVER: &str = "    server fileshed-";

/// First words of the line that makes the proxy check repeatedly that each server is ready.
const CHECK: &str = "    default-server check ";

/// Servers as processes, and the proxy before them.
pub(crate) struct Balanced {
    address: SocketAddr,
    // It ends before those it sends to.
    _proxy: Proxy,
    _servers: Vec<Server>,
}

impl Balanced {
    /// Starts so many servers, and the proxy, whose address they give in links.
    pub(crate) fn start(setup: &Setup, count: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut each = setup.clone();
        let public_url = format!("http://{address}");
        // Before what a test says of it.
        each.environment
            .insert(0, ("FILESHED_PUBLIC_URL".to_owned(), public_url));
        let servers: Vec<Server> = (0..count).map(|_| each.clone().start()).collect();
        let configuration = configuration(servers.iter().map(|server| server.address()));
        Self {
            address,
            _proxy: Proxy::start(listener, &setup.path("haproxy.cfg"), &configuration),
            _servers: servers,
        }
    }

    /// host:port of the proxy.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }
}

/// The configuration that is delivered, for servers at these addresses, in turn.
fn configuration<'a>(addresses: impl Iterator<Item = &'a str>) -> String {
    let file = repository().join("deploy/haproxy.cfg");
    let delivered = std::fs::read_to_string(file).unwrap();
    assert!(delivered.contains(BALANCE.0), "{delivered}");
    let delivered = delivered.replace(BALANCE.0, BALANCE.1);
    // No server goes away here: none is taken for gone because it is slow.
    let is_kept = |line: &&str| !line.starts_with(SERVER) && !line.starts_with(CHECK);
    let lines = delivered.lines().filter(is_kept);
    let lines = lines.map(str::to_owned);
    let servers = addresses.enumerate();
    let servers = servers.map(|(number, address)| format!("{SERVER}{number} {address}"));
    lines.chain(servers).map(|line| line + "\n").collect()
}
