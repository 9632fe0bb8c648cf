//! Addresses of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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
