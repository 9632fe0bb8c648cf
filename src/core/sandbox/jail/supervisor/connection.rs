//! Connections of a command: each is one to the proxy. File rules know ports and no addresses, so
//! the port of the proxy on another machine would be as good.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use super::listener::{Call, Listener, Verdict};
use super::process::Memory;
use fileshed_types::Timings;

/// The proxy listens on this machine: it answers at once.
const PATIENCE: Duration = Timings::STANDARD.jail.proxy;

/// connect: the caller's socket becomes one that leads to the proxy.
pub(super) fn to_proxy(listener: &Listener, call: &Call, port: u16) -> Verdict {
    connect(listener, call, port).into()
}

fn connect(listener: &Listener, call: &Call, port: u16) -> Result<(), Errno> {
    if call.word(2) < 8 {
        return Err(Errno::INVAL);
    }
    let address: [u8; 8] = Memory::of(listener, call)?.bytes(call.argument(1))?;
    // struct sockaddr_in: family, port, address.
    let [port_high, port_low] = port.to_be_bytes();
    let family = (libc::AF_INET as u16).to_ne_bytes();
    let wanted = [family[0], family[1], port_high, port_low, 127, 0, 0, 1];
    if address != wanted {
        return Err(Errno::ACCESS);
    }
    let theirs = call.word(0);
    let flags = flags_of(call, theirs)?;
    let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let socket = TcpStream::connect_timeout(&proxy, PATIENCE).map_err(|_| Errno::CONNREFUSED)?;
    socket
        .set_nonblocking(flags & libc::O_NONBLOCK as u32 != 0)
        .map_err(|_| Errno::CONNREFUSED)?;
    let kept = flags & libc::O_CLOEXEC as u32;
    listener.replace(call, theirs, socket.as_fd(), kept)
}

/// How a socket of the caller is open.
fn flags_of(call: &Call, descriptor: u32) -> Result<u32, Errno> {
    let thread = call.thread();
    let place = format!("/proc/{thread}/fd/{descriptor}");
    let target = rustix::fs::readlinkat(rustix::fs::CWD, place, Vec::new());
    if !target.is_ok_and(|target| target.to_bytes().starts_with(b"socket:")) {
        return Err(Errno::NOTSOCK);
    }
    let about = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}"))
        .map_err(|_| Errno::BADF)?;
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .ok_or(Errno::BADF)
}

/// Sends a descriptor over a socket of this program's own.
pub(crate) fn hand_over(channel: &OwnedFd, handle: BorrowedFd<'_>) -> std::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let handles = [handle];
    control.push(SendAncillaryMessage::ScmRights(&handles));
    rustix::net::sendmsg(
        channel,
        &[IoSlice::new(&[1])],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}
