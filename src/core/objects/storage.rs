//! The address of a storage, and how the server is known there.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use fileshed_types::{Clock, Secret};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::PaginatedListStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectStore, ObjectStoreScheme, RetryConfig,
};
use url::Url;

use crate::ObjectFiles;
use crate::bucket::Bucket;
use crate::failure::{chain, reason};
use crate::keys::Keys;

/// For how long one request is repeated that the storage does not want just now.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long somebody waits who asks whether a storage answers.
const CHECK_PATIENCE: Duration = Duration::from_secs(5);

/// A bucket, or a part of one, that holds the files of all namespaces.
#[derive(Clone)]
pub struct ObjectStorage {
    bucket: Arc<Bucket>,
    /// The path of the address.
    prefix: String,
    clock: Clock,
}

impl ObjectStorage {
    /// The storage at an address: `s3://bucket/path`, `gs://bucket/path`, `az://container/path`, or
    /// an `https` address of one of them. `options` say where and as whom, in the names of the crate
    /// `object_store` (`region`, `endpoint`, `access_key_id`, `secret_access_key` …); what they do
    /// not say is read from the environment, as its own programs read it (`AWS_REGION`,
    /// `AZURE_STORAGE_ACCOUNT_NAME`, `GOOGLE_APPLICATION_CREDENTIALS` …), and after that from the
    /// machine that the server runs on.
    ///
    /// Nothing is asked of the storage yet: [`ObjectStorage::check`] does.
    pub fn open(
        address: &str,
        options: &[(String, Secret)],
        clock: Clock,
    ) -> Result<Self, AddressError> {
        let url = Url::parse(address).map_err(|_| AddressError::Unknown)?;
        if url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        let scheme = ObjectStoreScheme::parse(&url).map_err(|_| AddressError::Unknown)?;
        // Only the first one has an effect, and somebody else may have chosen before.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let parts = match scheme.0 {
            ObjectStoreScheme::AmazonS3 => {
                let builder = AmazonS3Builder::from_env()
                    .with_client_options(client())
                    .with_retry(retry())
                    .with_allow_http(allows_http("AWS_ALLOW_HTTP"))
                    .with_url(address);
                let builder = configure(builder, options, |builder, key, value| {
                    Some(builder.with_config(key.parse().ok()?, value))
                })?;
                both(builder.build())?
            }
            ObjectStoreScheme::GoogleCloudStorage => {
                let builder = GoogleCloudStorageBuilder::from_env()
                    .with_client_options(client())
                    .with_retry(retry())
                    .with_url(address);
                let builder = configure(builder, options, |builder, key, value| {
                    Some(builder.with_config(key.parse().ok()?, value))
                })?;
                both(builder.build())?
            }
            ObjectStoreScheme::MicrosoftAzure => {
                let builder = MicrosoftAzureBuilder::from_env()
                    .with_client_options(client())
                    .with_retry(retry())
                    .with_allow_http(allows_http("AZURE_ALLOW_HTTP"))
                    .with_url(address);
                let builder = configure(builder, options, |builder, key, value| {
                    Some(builder.with_config(key.parse().ok()?, value))
                })?;
                both(builder.build())?
            }
            _ => return Err(AddressError::Unknown),
        };
        let bucket = Bucket::new(parts.0, Some(parts.1)).map_err(AddressError::Threads)?;
        Ok(Self::new(bucket, &scheme.1, clock))
    }

    /// One that is gone with its last value: for tests and examples.
    pub fn in_memory() -> io::Result<Self> {
        let bucket = Bucket::new(Arc::new(InMemory::new()), None)?;
        Ok(Self::new(bucket, &Path::default(), Clock::default()))
    }

    fn new(bucket: Bucket, prefix: &Path, clock: Clock) -> Self {
        Self {
            bucket: Arc::new(bucket),
            prefix: prefix.to_string(),
            clock,
        }
    }

    /// The files of a namespace, which no other namespace reaches. Its name is one segment of a
    /// key.
    #[must_use]
    pub fn files(&self, namespace: &str) -> ObjectFiles {
        ObjectFiles {
            bucket: Arc::clone(&self.bucket),
            keys: Keys::new(&self.prefix, namespace),
            clock: self.clock.clone(),
        }
    }

    /// Asks the storage for something, to see that it answers in time and knows the server; else why
    /// not, in words for its administrator.
    pub fn check(&self) -> Result<(), String> {
        let prefix = match self.prefix.as_str() {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        };
        let asked = self
            .bucket
            .wait(async { tokio::time::timeout(CHECK_PATIENCE, self.bucket.first(&prefix)).await });
        match asked {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                tracing::warn!(error = %chain(&error), "the object storage cannot be used");
                Err(reason(&error).to_owned())
            }
            Err(_) => Err(format!("no answer in {} seconds", CHECK_PATIENCE.as_secs())),
        }
    }
}

impl fmt::Debug for ObjectStorage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ObjectStorage")
            .field(&self.bucket)
            .finish()
    }
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is of no kind that is known.
    #[error("must be `s3://bucket/path`, `gs://bucket/path` or `az://container/path`")]
    Unknown,
    /// It holds a password, and addresses are shown.
    #[error("must not hold a password: set it among the options")]
    Credentials,
    /// No storage of this kind has such an option.
    #[error("has no option `{0}`")]
    Option(String),
    /// Something is missing or contradicts.
    #[error("cannot be used: {0}")]
    Refused(String),
    /// The machine has no more threads.
    #[error("no threads can be started")]
    Threads(#[source] io::Error),
}

fn client() -> ClientOptions {
    ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(5))
        .with_timeout(Duration::from_secs(30))
}

/// Whether the environment allows a storage without TLS: what is set for the client forgets it.
fn allows_http(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

fn retry() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(3),
            base: 2.,
        },
        max_retries: 6,
        retry_timeout: PATIENCE,
    }
}

fn configure<B>(
    builder: B,
    options: &[(String, Secret)],
    set: impl Fn(B, &str, &str) -> Option<B>,
) -> Result<B, AddressError> {
    options.iter().try_fold(builder, |builder, (key, value)| {
        let name = key.to_ascii_lowercase();
        set(builder, &name, value.reveal()).ok_or_else(|| AddressError::Option(key.clone()))
    })
}

type Both = (Arc<dyn ObjectStore>, Arc<dyn PaginatedListStore>);

fn both<S: ObjectStore + PaginatedListStore>(
    built: Result<S, Error>,
) -> Result<Both, AddressError> {
    let store = Arc::new(built.map_err(|error| AddressError::Refused(chain(&error)))?);
    Ok((Arc::clone(&store) as _, store))
}
