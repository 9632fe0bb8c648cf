//! The fileshed server.
