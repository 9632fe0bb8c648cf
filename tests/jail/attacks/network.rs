//! Attacks: network.

use super::Scene;

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
