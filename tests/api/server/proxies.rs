//! Addresses of clients behind proxies: `trusted_proxies`.

use std::io::Write as _;

use fileshed_test_support::{Server, comes, skip};

/// The end of the log line of a refused credential, before the address.
const REFUSED: &str = "a credential was refused address=";

/// A proxy that is trusted, and a client that is none.
const PROXY: [u8; 4] = [127, 0, 0, 2];
const DIRECT: [u8; 4] = [127, 0, 0, 3];

/// The address that a server takes a request for, with these lines of headers, from a peer at `from`.
fn taken_for(server: &Server, from: [u8; 4], lines: &[&str]) -> String {
    let addresses = || -> Vec<String> {
        let log = server.log();
        let rest = log.split(REFUSED).skip(1);
        let addresses = rest.map(|rest| rest.split_whitespace().next().unwrap_or_default());
        addresses.map(str::to_owned).collect()
    };
    let before = addresses().len();
    let mut head = format!(
        "GET /dav/ HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer wrong\r\n",
        server.address()
    )
    .into_bytes();
    for line in lines {
        // Bytes of Latin-1, so that a line can have some that are not UTF-8.
        head.extend(line.chars().map(|c| c as u8).chain(*b"\r\n"));
    }
    let mut connection = server.connect_from(from);
    connection
        .write_all(&[&head[..], b"\r\n"].concat())
        .unwrap();
    let logged = comes(|| addresses().get(before).cloned());
    logged.unwrap_or_else(|| panic!("{lines:?} is not logged: {}", server.log()))
}

fn start() -> Server {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env(
            "FILESHED_TRUSTED_PROXIES",
            "127.0.0.2, 10.1.0.0/16, fd00::/8",
        )
        .start()
}

#[test]
fn a_client_that_is_no_trusted_proxy_cannot_name_its_address() {
    let server = start();
    for line in [
        "X-Forwarded-For: 198.51.100.7",
        "X-Forwarded-For: 198.51.100.7, 127.0.0.2",
        "X-Forwarded-For: 127.0.0.2",
        "Forwarded: for=198.51.100.7",
        "X-Real-IP: 198.51.100.7",
    ] {
        assert_eq!(taken_for(&server, DIRECT, &[line]), "127.0.0.3", "{line}");
    }
    // Without the setting, no address is one of a proxy.
    let server = Server::with_key();
    let line = "X-Forwarded-For: 198.51.100.7";
    assert_eq!(taken_for(&server, PROXY, &[line]), "127.0.0.2");
}

#[test]
fn the_last_address_that_is_no_trusted_proxy_is_the_client() {
    let server = start();
    for (lines, expected) in [
        (&[][..], "127.0.0.2"),
        (&["X-Forwarded-For: 198.51.100.7"], "198.51.100.7"),
        // The client wrote the first ones itself.
        (
            &["X-Forwarded-For: 203.0.113.9, 198.51.100.7"],
            "198.51.100.7",
        ),
        (
            &["X-Forwarded-For: 127.0.0.2,10.1.0.1 , 198.51.100.7"],
            "198.51.100.7",
        ),
        (
            &[
                "X-Forwarded-For: 203.0.113.9",
                "Accept: */*",
                "x-forwarded-for: 198.51.100.7",
            ],
            "198.51.100.7",
        ),
        (
            &["X-Forwarded-For: unknown, <b>,, 198.51.100.7"],
            "198.51.100.7",
        ),
        (
            &["X-Forwarded-For: \u{ff}\u{fe}, 198.51.100.7"],
            "198.51.100.7",
        ),
        // Several proxies.
        (
            &["X-Forwarded-For: 203.0.113.9, 198.51.100.7, fd00::1, 10.1.2.3"],
            "198.51.100.7",
        ),
        (
            &[
                "X-Forwarded-For: 203.0.113.9, 198.51.100.7",
                "X-Forwarded-For: 10.1.2.3",
            ],
            "198.51.100.7",
        ),
        (
            &["X-Forwarded-For: 203.0.113.9, 198.51.100.7, 10.2.0.1, 10.1.0.1"],
            "10.2.0.1",
        ),
        (&["X-Forwarded-For: 10.1.0.1, 10.1.0.2"], "10.1.0.1"),
        // An entry that is no address is nobody's.
        (&["X-Forwarded-For: 198.51.100.7, unknown"], "127.0.0.2"),
        (
            &["X-Forwarded-For: 198.51.100.7, unknown, 10.1.0.1"],
            "10.1.0.1",
        ),
        (&["X-Forwarded-For: 198.51.100.7, "], "127.0.0.2"),
        (&["X-Forwarded-For:"], "127.0.0.2"),
        (&["X-Forwarded-For: 198.51.100.7/32"], "127.0.0.2"),
        (&["X-Forwarded-For: localhost"], "127.0.0.2"),
        (&["Forwarded: for=198.51.100.7"], "127.0.0.2"),
        // Other forms of addresses.
        (&["X-Forwarded-For: 198.51.100.7:4711"], "198.51.100.7"),
        (&["X-Forwarded-For: ::ffff:198.51.100.7"], "198.51.100.7"),
        (
            &["X-Forwarded-For: 198.51.100.7, ::ffff:10.1.0.9"],
            "198.51.100.7",
        ),
        (&["X-Forwarded-For: 2001:DB8:0::7"], "2001:db8::7"),
        (&["X-Forwarded-For: [2001:db8::7]"], "2001:db8::7"),
        (&["X-Forwarded-For: [2001:db8::7]:4711"], "2001:db8::7"),
        (&["X-Forwarded-For: 2001:db8::7%eth0"], "127.0.0.2"),
    ] {
        assert_eq!(taken_for(&server, PROXY, lines), expected, "{lines:?}");
    }
}

/// A server that listens for both versions sees addresses of IPv4 in those of IPv6.
#[test]
fn an_address_is_the_same_in_both_versions() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        skip("addresses of IPv6: this machine has none");
        return;
    }
    let server = Server::with()
        .env("FILESHED_API_KEYS", "a-key-that-nobody-guesses")
        .env("FILESHED_TRUSTED_PROXIES", "127.0.0.2")
        .serving(&["serve", "--bind", "[::]:0"]);
    let line = ["X-Forwarded-For: 198.51.100.7"];
    assert_eq!(taken_for(&server, PROXY, &line), "198.51.100.7");
    assert_eq!(taken_for(&server, DIRECT, &line), "127.0.0.3");
}
