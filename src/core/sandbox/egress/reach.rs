//! From a name to a connection: resolved once, and connected to exactly what was checked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use super::ProxyRules;
use super::public::is_public;
use super::refusal::Refusal;
use fileshed_types::Timings;

/// Longest time that one address may take to answer.
const CONNECT: Duration = Timings::STANDARD.egress.connect;

/// Addresses of one name that are tried.
const TRIED: usize = 3;

/// Connects to a host whose addresses keep the rules, on a port that is opened for it, or one of
/// `usual` where nothing but downloads is allowed.
pub(super) fn connect(
    rules: &ProxyRules,
    host: &str,
    port: u16,
    usual: &[u16],
) -> Result<TcpStream, Refusal> {
    let host_name = || host.to_owned();
    // This is also what turns 0x7f000001, 017700000001 and 2130706433 into the address they are.
    let found: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|_| Refusal::Unknown { host: host_name() })?
        .collect();
    if found.is_empty() {
        return Err(Refusal::Unknown { host: host_name() });
    }
    let mut refusal = Refusal::NotPublic { host: host_name() };
    let mut good = Vec::new();
    for address in found {
        match judge(rules, host, address, usual) {
            Reach::Good => good.push(address),
            Reach::Port => {
                let usual: Vec<String> = usual.iter().map(ToString::to_string).collect();
                refusal = Refusal::Port {
                    host: host_name(),
                    port,
                    usual: usual.join(", "),
                };
            }
            Reach::NotPublic => {}
        }
    }
    if good.is_empty() {
        return Err(refusal);
    }
    good.iter()
        .take(TRIED)
        .find_map(|address| TcpStream::connect_timeout(address, CONNECT).ok())
        .ok_or_else(|| Refusal::Unreachable { host: host_name() })
}

enum Reach {
    Good,
    /// Reachable, but not on this port.
    Port,
    NotPublic,
}

fn judge(rules: &ProxyRules, host: &str, address: SocketAddr, usual: &[u16]) -> Reach {
    let (ip, port) = (address.ip(), address.port());
    let own = is_own(ip);
    // No setting opens the server to its own commands.
    if own && rules.is_served(port) {
        return Reach::NotPublic;
    }
    let opened: Vec<Option<u16>> = rules
        .allow
        .iter()
        .filter(|destination| destination.covers(host, ip))
        .map(fileshed_types::settings::Destination::port)
        .collect();
    if opened.contains(&Some(port)) {
        return Reach::Good;
    }
    let reachable = opened.contains(&None) || (is_public(ip) && !own);
    match (reachable, !rules.downloads_only || usual.contains(&port)) {
        (true, true) => Reach::Good,
        (true, false) => Reach::Port,
        (false, _) => Reach::NotPublic,
    }
}

/// Returns `true` if an address is one of this machine's: the kernel answers by the source it would
/// use, and sends nothing.
fn is_own(address: IpAddr) -> bool {
    if address.is_loopback() || address.is_unspecified() {
        return true;
    }
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(address)
            if address
                .to_ipv4_mapped()
                .is_some_and(|inner| is_own(inner.into())) =>
        {
            return true;
        }
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = || {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((address, 9)).ok()?;
        socket.local_addr().ok()
    };
    source().is_some_and(|source| source.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(allow: &[&str], host: &str, address: &str) -> &'static str {
        let rules = ProxyRules {
            allow: allow
                .iter()
                .map(|text| text.parse().expect("read"))
                .collect(),
            ..ProxyRules::new(1)
        };
        rules.served.lock().expect("free").push(8000);
        match judge(&rules, host, address.parse().expect("read"), &[80, 8080]) {
            Reach::Good => "good",
            Reach::Port => "port",
            Reach::NotPublic => "private",
        }
    }

    #[test]
    fn an_address_is_judged_with_its_port() {
        assert_eq!(verdict(&[], "x", "8.8.8.8:80"), "good");
        assert_eq!(verdict(&[], "x", "8.8.8.8:25"), "port");
        assert_eq!(verdict(&["8.8.8.8:25"], "x", "8.8.8.8:25"), "good");
        assert_eq!(verdict(&["8.8.8.8:25"], "x", "8.8.8.8:26"), "port");
        assert_eq!(verdict(&[], "x", "10.0.0.5:80"), "private");
        assert_eq!(verdict(&["10.0.0.0/24"], "x", "10.0.0.5:80"), "good");
        assert_eq!(verdict(&["10.0.0.0/24"], "x", "10.0.0.5:22"), "port");
        assert_eq!(verdict(&["10.0.0.5:22"], "x", "10.0.0.5:80"), "private");
        assert_eq!(verdict(&["inner"], "inner", "10.0.0.5:80"), "good");
        assert_eq!(verdict(&["inner"], "outer", "10.0.0.5:80"), "private");
        assert_eq!(verdict(&[], "x", "127.0.0.1:80"), "private");
        assert_eq!(verdict(&["127.0.0.1"], "x", "127.0.0.1:80"), "good");
    }

    #[test]
    fn every_port_is_open_where_not_only_downloads_are_allowed() {
        let rules = ProxyRules {
            downloads_only: false,
            ..ProxyRules::new(1)
        };
        let reaches = |address: &str| {
            let address = address.parse().expect("read");
            matches!(judge(&rules, "x", address, &[80]), Reach::Good)
        };
        assert!(reaches("8.8.8.8:25") && reaches("[2606:4700::1111]:22"));
        for inner in [
            "127.0.0.1:5432",
            "10.0.0.5:80",
            "169.254.169.254:80",
            "[::1]:80",
        ] {
            assert!(!reaches(inner), "{inner}");
        }
    }

    #[test]
    fn nothing_opens_the_server_itself() {
        for allow in [
            "127.0.0.1:8000",
            "127.0.0.0/8",
            "localhost:8000",
            "0.0.0.0/0",
            "::/0",
        ] {
            for address in [
                "127.0.0.1:8000",
                "127.9.9.9:8000",
                "0.0.0.0:8000",
                "[::1]:8000",
                "[::ffff:127.0.0.1]:8000",
                "[::]:8000",
            ] {
                assert_eq!(
                    verdict(&[allow], "localhost", address),
                    "private",
                    "{address}"
                );
            }
        }
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        for own in [
            "127.0.0.1",
            "127.1.2.3",
            "::1",
            "0.0.0.0",
            "::",
            "::ffff:127.0.0.1",
        ] {
            assert!(is_own(own.parse().expect(own)), "{own}");
        }
        assert!(!is_own("8.8.8.8".parse().expect("an address")));
    }
}
