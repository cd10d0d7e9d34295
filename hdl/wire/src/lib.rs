//! Views and representations of the protocol headers the RNIC receives.
#![deny(missing_docs)]
