//! Attacks that try to reach a listener over a socket.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use super::Scene;

/// `{T}`, `{U}` and `{A}` are the TCP port, the UDP port and the abstract name of listeners; `{Z}/socket`
/// and `{O}/socket` are sockets of a listener.
const ROWS: &[(&str, &[&str])] = &[
    ("curl", &["-m2", "-T", "a", "http://127.0.0.1:{T}/"]),
    (
        "curl",
        &["-m2", "--data", "@a", "http://[::ffff:127.0.0.1]:{T}/"],
    ),
    (
        "curl",
        &["-m2", "-x", "socks5://127.0.0.1:{T}", "http://x/"],
    ),
    ("curl", &["-m2", "--unix-socket", "{Z}/socket", "http://x/"]),
    ("curl", &["-m2", "--unix-socket", "{O}/socket", "http://x/"]),
    (
        "curl",
        &["-m2", "--abstract-unix-socket", "{A}", "http://x/"],
    ),
    ("curl", &["-m2", "telnet://127.0.0.1:{T}"]),
    ("curl", &["-m2", "tftp://127.0.0.1:{U}/x"]),
    (
        "wget",
        &["-t1", "-T2", "--post-file=a", "http://127.0.0.1:{T}/"],
    ),
    (
        "gawk",
        &["BEGIN{s=\"/inet/tcp/0/127.0.0.1/{T}\"; print 1 |& s}"],
    ),
    (
        "gawk",
        &["BEGIN{s=\"/inet/udp/0/127.0.0.1/{U}\"; print 1 |& s}"],
    ),
    ("git", &["ls-remote", "git://127.0.0.1:{T}/x"]),
    ("tar", &["-cf", "127.0.0.1:x", "a"]),
    ("xmllint", &["http://127.0.0.1:{T}/x"]),
    ("pandoc", &["http://127.0.0.1:{T}/x"]),
    ("ffmpeg", &["-i", "tcp://127.0.0.1:{T}", "-f", "null", "-"]),
    ("ffmpeg", &["-i", "unix:{Z}/socket", "-f", "null", "-"]),
    (
        "ffmpeg",
        &[
            "-f",
            "s16le",
            "-i",
            "a",
            "-f",
            "data",
            "udp://127.0.0.1:{U}",
        ],
    ),
    ("convert", &["http://127.0.0.1:{T}/x", "null:"]),
    (
        "exiftool",
        &[
            "-if",
            "use IO::Socket; IO::Socket::INET->new('127.0.0.1:{T}')",
            "a",
        ],
    ),
    (
        "perl",
        &[
            "-MIO::Socket",
            "-e",
            "IO::Socket::INET->new('127.0.0.1:{T}')",
        ],
    ),
    (
        "perl",
        &[
            "-MIO::Socket::UNIX",
            "-e",
            "IO::Socket::UNIX->new('{Z}/socket')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import socket; socket.socket(1).connect('{Z}/socket')",
        ],
    ),
    (
        "python3",
        &["-c", "import socket; socket.socket(1).connect('\\0{A}')"],
    ),
    (
        "python3",
        &[
            "-c",
            "import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {U}))",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import socket; socket.socket(2, 1).sendto(b'x', 0x20000000, ('127.0.0.1', {T}))",
        ],
    ),
    // A pair is allowed; its peer cannot be changed.
    (
        "python3",
        &[
            "-c",
            "import socket; a, b = socket.socketpair(1, 2); a.sendto(b'x', '\\0{A}')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import socket; a, b = socket.socketpair(1, 2); a.connect('{Z}/socket')",
        ],
    ),
    // io_uring_setup
    (
        "python3",
        &[
            "-c",
            "import ctypes; assert ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)) < 0",
        ],
    ),
    ("nc", &["-w1", "127.0.0.1", "{T}"]),
    ("nc", &["-w1", "-U", "{Z}/socket"]),
    ("bash", &["-c", "echo x > /dev/tcp/127.0.0.1/{T}"]),
];

#[test]
fn nobody_is_reached() {
    let scene = Scene::new();
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let name = format!("fileshed-attacks-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("valid");
    let local = [
        UnixListener::bind_addr(&address).expect("a name"),
        UnixListener::bind(scene.path("zone/socket")).expect("a socket"),
        UnixListener::bind(scene.path("other/socket")).expect("a socket"),
    ];
    tcp.set_nonblocking(true).expect("set");
    udp.set_nonblocking(true).expect("set");
    for socket in &local {
        socket.set_nonblocking(true).expect("set");
    }
    let ports =
        [tcp.local_addr(), udp.local_addr()].map(|at| at.expect("bound").port().to_string());
    for (program, arguments) in ROWS {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|text| {
                text.replace("{T}", &ports[0])
                    .replace("{U}", &ports[1])
                    .replace("{A}", &name)
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        scene.holds(program, &arguments);
        let reached = tcp.accept().is_ok()
            || udp.recv(&mut [0; 8]).is_ok()
            || local.iter().any(|socket| socket.accept().is_ok());
        assert!(!reached, "{program} {arguments:?} reached somebody");
    }
}

#[test]
fn there_is_no_network() {
    let scene = Scene::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    listener.set_nonblocking(true).expect("set");
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let udp_port = udp.local_addr().expect("bound").port();
    udp.set_nonblocking(true).expect("set");
    let address = format!("http://127.0.0.1:{port}/");
    scene.holds("curl", &["-m", "2", &address]);
    scene.holds("wget", &["-t1", "-T2", "-O-", &address]);
    let tcp = format!("BEGIN{{s=\"/inet/tcp/0/127.0.0.1/{port}\"; print 1 |& s}}");
    scene.holds("gawk", &[&tcp]);
    let datagram = format!("BEGIN{{s=\"/inet/udp/0/127.0.0.1/{udp_port}\"; print 1 |& s}}");
    scene.holds("gawk", &[&datagram]);
    let families = "import socket\nfor f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16, 17, 38):\n  try:\n    socket.socket(f, socket.SOCK_DGRAM); print('opened', f)\n  except OSError as e: pass\na, b = socket.socketpair(); a.send(b'x'); print('pair', b.recv(1))";
    if let Some(ended) = scene.attack("python3", &["-c", families]) {
        assert!(!ended.output.contains("opened"), "{}", ended.output);
        assert!(ended.output.contains("pair b'x'"), "{}", ended.output);
    }
    assert!(listener.accept().is_err(), "somebody connected");
    assert!(udp.recv(&mut [0; 8]).is_err(), "somebody sent");
}
