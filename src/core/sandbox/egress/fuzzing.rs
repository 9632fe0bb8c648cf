//! A door for fuzz targets: what clients of the proxy ask for.

use std::io::Read;

use super::head::Head;
use super::request::{Request, RequestKind};

/// A head as it was read.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadHead {
    /// Its first line.
    pub line: String,
    /// The values of its headers `Host`.
    pub hosts: Vec<Vec<u8>>,
    /// Bytes that came behind it.
    pub rest: Vec<u8>,
    /// Its request to the proxy, if it keeps the rules.
    pub request: Option<JudgedRequest>,
}

/// A request that keeps the rules.
#[derive(Debug, PartialEq, Eq)]
pub struct JudgedRequest {
    /// The host that it leads to.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Bytes that are sent there; `None` for a tunnel.
    pub sent: Option<Vec<u8>>,
}

/// Reads a head of at most `most` bytes. A reason is the name of a failure.
pub fn read(stream: &mut impl Read, most: usize) -> Result<ReadHead, String> {
    let (head, rest) =
        Head::read(stream, Vec::new(), most).map_err(|error| format!("{error:?}"))?;
    let request = Request::new(&head, true).ok().map(|request| JudgedRequest {
        host: request.host,
        port: request.port,
        sent: match request.kind {
            RequestKind::Tunnel => None,
            RequestKind::Fetch { request, .. } => Some(request),
        },
    });
    Ok(ReadHead {
        hosts: head.all("host").map(<[u8]>::to_vec).collect(),
        line: head.line,
        rest,
        request,
    })
}
