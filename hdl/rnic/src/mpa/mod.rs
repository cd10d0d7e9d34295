//! MPA: from accepted octets of a TCP stream to FPDUs.

pub mod context;
pub mod inbox;
pub mod manager;
