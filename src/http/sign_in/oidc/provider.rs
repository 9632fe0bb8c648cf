//! A provider of OpenID Connect: what it publishes, and what it is asked.
//!
//! Every question ends within a bounded time and reads a bounded answer; redirects are not followed.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::{Error, Timings};
use moka::sync::Cache;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::Body;
use ureq::http::Response;

use super::claims::{self, ClaimMap, Expected, IdTokenError, KeySet};
use super::{OidcError, OpenIdConnect};

/// For the whole of one question.
const QUESTION: Duration = Timings::STANDARD.sign_in.question;
/// Longest answer.
const ANSWER_MAX_BYTES: u64 = 1024 * 1024;
/// Time for which published data of a provider counts.
pub(super) const PUBLISHED: Duration = Timings::STANDARD.sign_in.published;
/// Time for which keys count that lack the key of a token, because providers change keys.
pub(super) const KEYS_AGAIN: Duration = Timings::STANDARD.sign_in.keys;

/// Metadata that a provider publishes (OpenID Connect Discovery 1.0, section 3).
#[derive(Debug, Deserialize)]
pub(super) struct ProviderMetadata {
    issuer: String,
    pub(super) authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// Response to the exchange of a code.
#[derive(Deserialize)]
pub(super) struct TokenResponse {
    pub(super) id_token: String,
    access_token: Option<String>,
}

impl OpenIdConnect {
    /// Returns the metadata that the provider publishes; blocks.
    pub(super) fn metadata(&self) -> Result<Arc<ProviderMetadata>, Error> {
        let found = self.metadata.try_get_with((), || {
            let issuer = self.config.oidc_issuer.as_str();
            let address = format!("{issuer}/.well-known/openid-configuration");
            let metadata: ProviderMetadata = self.get(&address, None)?;
            // A slash at the end is a matter of spelling in settings, and of identity in tokens.
            if metadata.issuer.trim_end_matches('/') != issuer {
                tracing::warn!(named = metadata.issuer, "the provider is not `oidc.issuer`");
                return Err(OidcError::Unusable);
            }
            let endpoints = [
                Some(&metadata.authorization_endpoint),
                Some(&metadata.token_endpoint),
                Some(&metadata.jwks_uri),
                metadata.userinfo_endpoint.as_ref(),
            ];
            for endpoint in endpoints.into_iter().flatten() {
                if !endpoint.starts_with("https://") && !self.config.oidc_issuer.is_loopback() {
                    tracing::warn!(endpoint, "the endpoint of the provider is not https");
                    return Err(OidcError::Unusable);
                }
            }
            Ok(Arc::new(metadata))
        });
        found.map_err(|_: Arc<OidcError>| OidcError::Unusable.into())
    }

    /// Exchanges a code for tokens; blocks.
    pub(super) fn exchange(
        &self,
        code: &str,
        verifier: &str,
        callback: &str,
    ) -> Result<TokenResponse, Error> {
        let metadata = self.metadata()?;
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", callback)
            .append_pair("code_verifier", verifier);
        let mut request = self
            .agent
            .post(&metadata.token_endpoint)
            .header("accept", "application/json")
            .content_type("application/x-www-form-urlencoded");
        match &self.config.oidc_client_secret {
            Some(secret) if metadata.takes_basic() => {
                // RFC 6749, section 2.3.1: both are encoded as in a form before they are put together.
                let encoded = |text: &str| {
                    let bytes = form_urlencoded::byte_serialize(text.as_bytes());
                    bytes.collect::<String>()
                };
                let pair = format!(
                    "{}:{}",
                    encoded(&self.config.oidc_client_id),
                    encoded(secret.reveal())
                );
                request =
                    request.header("authorization", format!("Basic {}", STANDARD.encode(pair)));
            }
            Some(secret) => {
                form.append_pair("client_id", &self.config.oidc_client_id)
                    .append_pair("client_secret", secret.reveal());
            }
            None => {
                form.append_pair("client_id", &self.config.oidc_client_id);
            }
        }
        let answer = request.config().timeout_global(Some(QUESTION)).build();
        let answer = answer.send(form.finish());
        // A code that is wrong or was used is refused with a status.
        match answer {
            Ok(response) if response.status().is_client_error() => {
                tracing::warn!(
                    status = response.status().as_u16(),
                    "the provider of OpenID Connect refused the code"
                );
                Err(OidcError::Refused.into())
            }
            answer => Ok(read(answer, &metadata.token_endpoint)?),
        }
    }

    /// The claims of a token that it made for this attempt; blocks.
    pub(super) fn verified(&self, token: &str, nonce: &str, now: i64) -> Result<ClaimMap, Error> {
        let metadata = self.metadata()?;
        let expected = Expected {
            issuer: &metadata.issuer,
            client_id: &self.config.oidc_client_id,
            nonce,
        };
        let keys = self.keys(&metadata)?;
        let mut claims = claims::verify(token, &keys, &expected, now);
        if claims == Err(IdTokenError::UnknownKey) && self.asked_again.get(&()).is_none() {
            self.asked_again.insert((), ());
            self.keys.invalidate(&());
            claims = claims::verify(token, &*self.keys(&metadata)?, &expected, now);
        }
        claims.map_err(|error| {
            tracing::warn!(%error, "a person could not be signed in");
            OidcError::Untrusted.into()
        })
    }

    /// Returns the provider's claims about the user beyond those of the token; blocks.
    pub(super) fn user_info(
        &self,
        tokens: &TokenResponse,
        claims: &ClaimMap,
    ) -> Result<Option<ClaimMap>, Error> {
        let metadata = self.metadata()?;
        let (Some(endpoint), Some(token)) = (&metadata.userinfo_endpoint, &tokens.access_token)
        else {
            return Ok(None);
        };
        let more: ClaimMap = self.get(endpoint, Some(token))?;
        if more.get("sub") != claims.get("sub") {
            tracing::warn!("the provider's userinfo names another user");
            return Err(OidcError::Untrusted.into());
        }
        Ok(Some(more))
    }

    fn keys(&self, metadata: &ProviderMetadata) -> Result<Arc<KeySet>, Error> {
        let found = self
            .keys
            .try_get_with((), || self.get(&metadata.jwks_uri, None).map(Arc::new));
        found.map_err(|_: Arc<OidcError>| OidcError::Unusable.into())
    }

    fn get<T: DeserializeOwned>(
        &self,
        address: &str,
        bearer: Option<&str>,
    ) -> Result<T, OidcError> {
        let mut request = self.agent.get(address).header("accept", "application/json");
        if let Some(token) = bearer {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.config().timeout_global(Some(QUESTION)).build();
        read(request.call(), address)
    }
}

impl ProviderMetadata {
    /// Returns `true` if a client sends its secret in a header, which is also the default.
    fn takes_basic(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_ref();
        methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic"))
    }
}

/// Makes a place for what a provider publishes.
pub(super) fn published<T: Clone + Send + Sync + 'static>(life: Duration) -> Cache<(), T> {
    Cache::builder().max_capacity(1).time_to_live(life).build()
}

/// An answer that can be read. Its text does not go into the log: it may hold tokens.
fn read<T: DeserializeOwned>(
    answer: Result<Response<Body>, ureq::Error>,
    address: &str,
) -> Result<T, OidcError> {
    let problem = match answer {
        Ok(mut response) if response.status().is_success() => {
            let body = response.body_mut().with_config().limit(ANSWER_MAX_BYTES);
            match body.read_json() {
                Ok(value) => return Ok(value),
                Err(error) => format!("cannot be read: {error}"),
            }
        }
        Ok(response) => format!("has status {}", response.status().as_u16()),
        Err(error) => format!("does not come: {error}"),
    };
    tracing::warn!(
        address,
        problem,
        "an answer of the provider of OpenID Connect"
    );
    Err(OidcError::Unusable)
}
