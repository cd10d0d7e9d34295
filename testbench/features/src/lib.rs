//! No code: the manifest of this crate is what it is for.
#![deny(missing_docs)]
