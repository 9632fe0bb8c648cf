//! Encrypted, mutually authenticated connections between servers on the same data.
//!
//! The address of another server comes from the registry, and forwarded calls carry credentials. A sealed
//! connection is only opened to a server that has the pepper of the installation: neither a server whose
//! address somebody else wrote into the registry, nor an eavesdropper, learns a credential.
//!
//! The protocol is TLS 1.3 with raw public keys (RFC 7250). All servers of an installation have one Ed25519
//! key, derived from the pepper, and accept no other. There is no certificate to make, to distribute or to
//! renew, the library is the one that talks to Open WebUI and PostgreSQL, and nothing of the protocol is of
//! our own making. Each connection has fresh keys, so a recording is of no use later, neither with the pepper.
//!
//! Sealed connections arrive at the address of the HTTP listener: their first byte tells them from HTTP,
//! whose requests begin with a letter.

use std::io;
use std::sync::Arc;

use fileshed_core::Core;
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    PeerIncompatible, ServerConfig, SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, client};

/// First byte of a TLS connection: a record of the handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;

/// PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410, section 7).
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Marks a request that another server on the same data sent on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentOn;

/// The key of an installation, for both ends of a connection.
#[derive(Clone)]
pub struct Seal {
    /// Accepts sealed connections; fails if the client does not have the key.
    pub(super) acceptor: TlsAcceptor,
    connector: TlsConnector,
}

impl Seal {
    /// Returns the seal of a data directory, or `None` if no other server has its data.
    #[must_use]
    pub fn of(core: &Core) -> Option<Self> {
        match core.runs.peer_secret().map(Self::new)? {
            Ok(seal) => Some(seal),
            Err(error) => unreachable!("every 32 bytes are a key: {error}"),
        }
    }

    fn new(secret: [u8; 32]) -> Result<Self, Error> {
        let pkcs8 = [PKCS8.as_slice(), &secret].concat();
        let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(pkcs8))?;
        let public = key.public_key().map(|public| public.as_ref().to_vec());
        let public = public.ok_or_else(|| Error::General("a key without a public key".into()))?;
        Self::with_key(CertifiedKey::new(vec![public.into()], key))
    }

    fn with_key(key: CertifiedKey) -> Result<Self, Error> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(SameKey {
            public: key.end_entity_cert()?.clone().into_owned(),
            signatures: provider.signature_verification_algorithms,
        });
        let key = Arc::new(key);
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(Arc::clone(&verifier) as Arc<dyn ClientCertVerifier>)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
                Arc::clone(&key),
            )));
        // Each connection proves anew that it has the key.
        server.send_tls13_tickets = 0;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(key)));
        client.enable_sni = false;
        Ok(Self {
            acceptor: Arc::new(server).into(),
            connector: Arc::new(client).into(),
        })
    }

    /// Waits until a client has sent something; returns `true` if it begins a sealed connection.
    pub(super) async fn is_begun_on(stream: &TcpStream) -> bool {
        let mut first = [0];
        matches!(stream.peek(&mut first).await, Ok(1)) && first == [HANDSHAKE]
    }

    /// Begins a sealed connection; fails if the server does not have the key.
    pub(super) async fn connect<S>(&self, stream: S) -> io::Result<client::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from("fileshed").map_err(io::Error::other)?;
        self.connector.connect(name, stream).await
    }
}

/// Accepts one public key, whose signature over the handshake the library verifies.
#[derive(Debug)]
struct SameKey {
    public: CertificateDer<'static>,
    signatures: WebPkiSupportedAlgorithms,
}

impl SameKey {
    fn expect(&self, public: &CertificateDer<'_>) -> Result<(), Error> {
        if *public == self.public {
            Ok(())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }
}

/// The methods that both kinds of verifiers have.
macro_rules! verify_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            public: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let public = SubjectPublicKeyInfoDer::from(public.as_ref());
            verify_tls13_signature_with_raw_key(message, &public, signature, &self.signatures)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for SameKey {
    fn verify_server_cert(
        &self,
        public: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.expect(public)?;
        Ok(ServerCertVerified::assertion())
    }

    verify_signatures!();
}

impl ClientCertVerifier for SameKey {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        public: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.expect(public)?;
        Ok(ClientCertVerified::assertion())
    }

    verify_signatures!();
}

#[cfg(test)]
mod tests;
