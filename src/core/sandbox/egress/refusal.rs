//! Refusals of the proxy, and their answers.

/// A request that gets no further. The text names the rule and the host alone: never the address
/// that a name stands for, never the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EgressRefusal {
    #[error("the token of a running command is missing or not valid")]
    Token,
    #[error("the request is not an HTTP/1.1 request to a proxy")]
    Malformed,
    #[error("the address is longer than 8 KiB or the headers are larger than 32 KiB")]
    TooLong,
    #[error("only downloads: the methods are GET and HEAD")]
    Method,
    #[error("only downloads: a request must have no body")]
    Body,
    #[error("only downloads: a connection cannot be upgraded")]
    Upgrade,
    #[error("only http:// and https:// addresses are fetched")]
    Scheme,
    #[error("port {port} of `{host}` is not one of {usual}")]
    Port {
        host: String,
        port: u16,
        usual: String,
    },
    #[error("`{host}` is not a public address: this server reaches only the internet")]
    NotPublic { host: String },
    #[error("`{host}` has no address")]
    Unknown { host: String },
    #[error("`{host}` does not answer")]
    Unreachable { host: String },
    #[error("the answer of `{host}` is not HTTP/1")]
    Answer { host: String },
    #[error("only downloads: the tunnel carries nothing but TLS")]
    NotTls,
    #[error("the answer is larger than {mebibytes} MiB (max_file_size_mb)")]
    Large { mebibytes: u64 },
    #[error("only downloads: more than {kibibytes} KiB were sent")]
    Sent { kibibytes: u64 },
    #[error("too many connections at once")]
    Connections,
}

impl EgressRefusal {
    /// The answer of the proxy.
    pub(super) fn answer(&self) -> String {
        let status = match self {
            Self::Token => "407 Proxy Authentication Required",
            Self::Malformed => "400 Bad Request",
            Self::Unknown { .. } | Self::Unreachable { .. } | Self::Answer { .. } => {
                "502 Bad Gateway"
            }
            Self::Connections => "503 Service Unavailable",
            _ => "403 Forbidden",
        };
        let challenge = match self {
            Self::Token => "Proxy-Authenticate: Basic realm=\"fileshed\"\r\n",
            _ => "",
        };
        let body = format!("fileshed: {self}\n");
        format!(
            "HTTP/1.1 {status}\r\n{challenge}Content-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}
