//! The packet room against plain octet strings.

pub(super) mod bench;
mod still;
mod traffic;
