//! How a connection to PostgreSQL begins: in TLS where its address asks for that.
//!
//! `sslmode=require` never goes on without TLS. Which authorities are believed is what the system
//! believes, or what `SSL_CERT_FILE` names, and the name in the certificate must be that of the host.

use postgres::{Client, Config};

use super::DatabaseError;

#[cfg(feature = "tls")]
pub(super) fn connect(config: &Config) -> Result<Client, DatabaseError> {
    use std::sync::Arc;

    use postgres::config::{Host, SslMode};
    use rustls::ClientConfig;
    use rustls_platform_verifier::BuilderVerifierExt;
    use tokio_postgres_rustls::MakeRustlsConnect;

    let is_local = |host: &Host| matches!(host, Host::Unix(_));
    if config.get_ssl_mode() == SslMode::Disable || config.get_hosts().iter().all(is_local) {
        return Ok(config.connect(postgres::NoTls)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)?
        .with_no_client_auth();
    Ok(config.connect(MakeRustlsConnect::new(tls))?)
}

#[cfg(not(feature = "tls"))]
pub(super) fn connect(config: &Config) -> Result<Client, DatabaseError> {
    Ok(config.connect(postgres::NoTls)?)
}
