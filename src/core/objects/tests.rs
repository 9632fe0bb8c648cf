//! The promises of a provider, on storages in memory and on real servers of S3's interface and of
//! Azure's, and behind a translation to Google's.

mod azure;
mod faults;
mod google;
mod memory;
mod proxy;
mod s3;
