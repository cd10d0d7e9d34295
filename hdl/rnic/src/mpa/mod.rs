//! MPA: from accepted octets to FPDUs.

pub mod joiner;
