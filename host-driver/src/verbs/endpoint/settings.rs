//! What an endpoint is told when it is made.

use crate::stack::Settings;
use std::path::PathBuf;

/// Octets of headers of IP and TCP without options.
const HEADERS_V4: u16 = 40;
const HEADERS_V6: u16 = 60;

/// What an endpoint is told when it is made.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// Addresses, gateways, MTU.
    pub interface: Settings,
    /// TCP of all its connections; the largest segment is what the MTU leaves.
    pub tcp: rnic_tcp::Settings,
    /// Where a [`Monitor`](crate::monitor::Monitor) answers, if it is to; the endpoint's thread
    /// serves it.
    pub monitor: Option<PathBuf>,
}

impl EndpointSettings {
    /// An interface with TCP's default settings.
    pub fn new(interface: Settings) -> Self {
        let mut addresses = interface.addresses.iter();
        let headers = match addresses.any(|prefix| prefix.address.is_ipv6()) {
            true => HEADERS_V6,
            false => HEADERS_V4,
        };
        let emss_octets = interface.mtu_octets.saturating_sub(headers);
        let tcp = rnic_tcp::Settings {
            emss_octets: emss_octets.max(rnic_tcp::settings::EMSS_OCTETS_MIN),
            ..rnic_tcp::Settings::default()
        };
        Self {
            interface,
            tcp,
            monitor: None,
        }
    }
}
