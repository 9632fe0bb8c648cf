//! From a name to a connection: resolved once, and connected to exactly what was checked, which is an
//! address of the public internet unless others are opened.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use super::ProxyRules;
use super::refusal::EgressRefusal;
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
) -> Result<TcpStream, EgressRefusal> {
    let host_name = || host.to_owned();
    // This is also what turns 0x7f000001, 017700000001 and 2130706433 into the address they are.
    let found: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|_| EgressRefusal::Unknown { host: host_name() })?
        .collect();
    if found.is_empty() {
        return Err(EgressRefusal::Unknown { host: host_name() });
    }
    let mut refusal = EgressRefusal::NotPublic { host: host_name() };
    let mut good = Vec::new();
    for address in found {
        match judge(rules, host, address, usual) {
            Reach::Good => good.push(address),
            Reach::Port => {
                let usual: Vec<String> = usual.iter().map(ToString::to_string).collect();
                refusal = EgressRefusal::Port {
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
        .ok_or_else(|| EgressRefusal::Unreachable { host: host_name() })
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

/// Networks of IPv4 that lead elsewhere: IANA's special-purpose registry, multicast, the reserved
/// end, and one public address that clouds answer themselves.
const ELSEWHERE_4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Also the metadata services of clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    // The host of a virtual machine in Azure.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// Global unicast: the only part of IPv6 that is public at all. Outside of it lie loopback,
/// unspecified, IPv4-mapped, NAT64 (`64:ff9b::`), unique local, link-local and multicast.
const GLOBAL_6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Networks inside of it that lead elsewhere.
const ELSEWHERE_6: [(Ipv6Addr, u32); 4] = [
    // Teredo, benchmarks, ORCHID: protocol assignments.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4 carries any IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Returns `true` if an address belongs to the public internet: not to this machine, its network, its
/// cloud, nor to one of the forms that carry another address inside.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    let in_4 = |address: Ipv4Addr, (base, bits): (Ipv4Addr, u32)| {
        (u32::from(address) ^ u32::from(base)) >> (32 - bits) == 0
    };
    let in_6 = |address: Ipv6Addr, (base, bits): (Ipv6Addr, u32)| {
        (u128::from(address) ^ u128::from(base)) >> (128 - bits) == 0
    };
    match address {
        IpAddr::V4(address) => !ELSEWHERE_4.iter().any(|network| in_4(address, *network)),
        IpAddr::V6(address) => {
            in_6(address, GLOBAL_6) && !ELSEWHERE_6.iter().any(|network| in_6(address, *network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_types::Mutex;

    fn rules(allow: &[&str], downloads_only: bool) -> ProxyRules {
        let allow = allow.iter().map(|text| text.parse().expect("read"));
        ProxyRules {
            allow: allow.collect(),
            mebibytes: 1,
            downloads_only,
            served: Mutex::default(),
        }
    }

    fn verdict(allow: &[&str], host: &str, address: &str) -> &'static str {
        let rules = rules(allow, true);
        rules.served.lock().push(8000);
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
        let rules = rules(&[], false);
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

    /// Both ends of every network that is not public.
    const NOT_PUBLIC: &str = "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 \
        100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1 127.255.255.255 169.254.0.0 \
        169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 \
        192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 \
        198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 \
        224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 168.63.129.16 \
        :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 \
        64:ff9b::808:808 64:ff9b:1::1 100::1 100:0:0:1::1 1fff:ffff::1 2001:: 2001::1 2001:2::1 \
        2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8:: 2001:db8:ffff::1 2002:: 2002:7f00:1:: \
        2002:808:808::1 2002:ffff::1 3fff:: 3fff:fff:ffff::1 4000::1 5f00::1 fc00::1 fd00::1 \
        fd00:ec2::254 fdff:ffff::1 fe80::1 febf::1 fec0::1 feff::1 ff00::1 ff02::1 ffff::1";

    /// Neighbours of those networks, and well-known services.
    const PUBLIC: &str = "1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 \
        100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 169.253.255.255 \
        169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 \
        192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 \
        198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:4860::8888 \
        2001:db7:ffff::1 2001:db9::1 2003::1 2606:4700::1111 2a00:1450::1 3ffe:ffff::1 3fff:1000::1";

    #[test]
    fn the_table_is_exhaustive() {
        for (texts, public) in [(NOT_PUBLIC, false), (PUBLIC, true)] {
            for text in texts.split_whitespace() {
                let address: IpAddr = text.parse().expect(text);
                assert_eq!(is_public(address), public, "{text}");
            }
        }
    }

    #[test]
    fn nothing_that_carries_a_private_address_is_public() {
        for inner in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1"] {
            let inner: Ipv4Addr = inner.parse().expect(inner);
            let [a, b, c, d] = inner.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            for outer in [
                inner.to_ipv6_mapped(),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, !high, !low),
            ] {
                assert!(!is_public(outer.into()), "{outer}");
            }
        }
    }
}
