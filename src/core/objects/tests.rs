//! The promises of a provider, on storages in memory and on a real server of S3's interface.

mod faults;
mod memory;
mod proxy;
mod s3;
mod s3_server;
