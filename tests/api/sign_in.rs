//! Signing in on the page: sessions, links, tokens, and attempts to use those of another user.

mod attacks;
pub(crate) mod browser;
mod link;
mod oidc;
mod session;
mod tokens;
