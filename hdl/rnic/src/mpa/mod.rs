//! MPA.
