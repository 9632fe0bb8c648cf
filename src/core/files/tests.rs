//! Tests of providers: for those here, and for whoever writes another one.

pub mod conformance;
