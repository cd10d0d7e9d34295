//! Where a device is, or who has it open, as a user writes it.

use crate::outcome::Failure;
use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// `vfio:` or `vfio-user:`, or what the driver refuses with a message of its own.
    Device(String),
    /// `monitor:PATH`: the socket of the application that has the device open.
    Monitor(PathBuf),
}

impl Address {
    /// The device's address, for what only its owner can do: to `action` it.
    pub(crate) fn device(&self, action: &str) -> Result<&str, Failure> {
        match self {
            Self::Device(address) => Ok(address),
            Self::Monitor(_) => Err(format!(
                "a monitor only looks: stop its application, then {action} the device by its \
                 vfio: or vfio-user: address"
            )
            .into()),
        }
    }
}

impl FromStr for Address {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.strip_prefix("monitor:") {
            Some(path) if !path.is_empty() => Self::Monitor(path.into()),
            _ => Self::Device(text.to_owned()),
        })
    }
}

/// As it was written.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Device(address) => f.write_str(address),
            Self::Monitor(path) => write!(f, "monitor:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_monitor_with_a_path_is_one() {
        for text in ["monitor:/run/a:b.sock", "vfio:0000:01:00.0", "monitor:"] {
            let Ok(address) = text.parse::<Address>();
            assert_eq!(address.to_string(), text);
            let is_monitor = matches!(address, Address::Monitor(_));
            assert_eq!(is_monitor, text.len() > 8 && text.starts_with("monitor:"));
        }
    }
}
