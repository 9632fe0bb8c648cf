//! A network namespace of a command's own, in which nothing is but a socket of the server's proxy.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::process::checked;
use crate::message::JobEvent;

/// Brings the loopback device of a new network up, and has the server listen on `port` there: the
/// socket keeps the network that it was made in.
pub(super) fn lead_to_proxy(port: u16, server: &OwnedFd) -> std::io::Result<()> {
    raise_loopback()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    JobEvent::Listening.send(server, &[listener.as_fd()])
}

/// A new network has this device, and it is down.
pub(super) fn raise_loopback() -> std::io::Result<()> {
    let socket = rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: an all-zero request is valid.
    #[expect(unsafe_code, reason = "the kernel's own structure")]
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is the structure of this call, and lives through it.
    #[expect(unsafe_code, reason = "no safe crate sets up devices")]
    let result = unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS as libc::Ioctl,
            std::ptr::from_ref(&request),
        )
    };
    checked(result.into()).map(drop)
}

/// Gives a process in a UTS namespace of its own a name that tells nothing of the host.
pub(super) fn name_machine(name: &str) -> std::io::Result<()> {
    // SAFETY: the name lives through the call, which is given its length.
    #[expect(unsafe_code, reason = "rustix has it behind a feature")]
    let result = unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) };
    checked(result.into()).map(drop)
}
