//! Capabilities: the JSON after the version numbers.
//!
//! ```text
//!   {"capabilities":{"max_data_xfer_size":1048576,"max_msg_fds":16}}   and a zero octet
//! ```
//!
//! Each end says what it can receive. What is left out has a default, and what is not known is
//! ignored. Migration is left out: a sender without it does not support it.

use serde_json::{json, Value};
use thiserror::Error;

use super::{MESSAGE_FDS_MAX, TRANSFER_OCTETS_MAX};

/// What the sender of a version message can receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Most file descriptors with one message.
    pub max_msg_fds: u32,
    /// Most octets of data in a region access.
    pub max_data_xfer_size: u32,
}

/// The text after a version is no JSON, or a capability in it is no number of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("malformed capabilities")]
pub struct BadCapabilities;

impl Capabilities {
    /// What this implementation can receive.
    pub const OURS: Self = Self {
        max_msg_fds: MESSAGE_FDS_MAX as u32,
        max_data_xfer_size: TRANSFER_OCTETS_MAX,
    };

    /// What holds for a peer that does not say.
    pub const DEFAULT: Self = Self {
        max_msg_fds: 1,
        max_data_xfer_size: 1 << 20,
    };

    /// As on the socket.
    pub fn encode(&self) -> Vec<u8> {
        let text = json!({"capabilities": {
            "max_msg_fds": self.max_msg_fds,
            "max_data_xfer_size": self.max_data_xfer_size,
        }});
        let mut octets = text.to_string().into_bytes();
        octets.push(0);
        octets
    }

    /// Reads what follows a version; nothing there means the defaults.
    pub fn decode(octets: &[u8]) -> Result<Self, BadCapabilities> {
        let text = octets.strip_suffix(&[0]).unwrap_or(octets);
        if text.is_empty() {
            return Ok(Self::DEFAULT);
        }
        let value: Value = serde_json::from_slice(text).map_err(|_| BadCapabilities)?;
        let listed = match value
            .as_object()
            .ok_or(BadCapabilities)?
            .get("capabilities")
        {
            None => return Ok(Self::DEFAULT),
            Some(listed) => listed.as_object().ok_or(BadCapabilities)?,
        };
        let number = |name: &str, default: u32| match listed.get(name) {
            None => Ok(default),
            Some(value) => {
                let number = value.as_u64().and_then(|number| number.try_into().ok());
                number.ok_or(BadCapabilities)
            }
        };
        Ok(Self {
            max_msg_fds: number("max_msg_fds", Self::DEFAULT.max_msg_fds)?,
            max_data_xfer_size: number("max_data_xfer_size", Self::DEFAULT.max_data_xfer_size)?,
        })
    }
}
