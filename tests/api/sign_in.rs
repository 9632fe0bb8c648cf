//! Signing in on the page: sessions, links, tokens, and who tries to use somebody else's.

mod attacks;
pub(crate) mod browser;
mod link;
mod oidc;
mod session;
mod tokens;
