//! The promises of a provider, on storages in memory and on real servers of S3's interface and of
//! Azure's.

mod azure;
mod faults;
mod memory;
mod proxy;
mod s3;
mod s3_server;
