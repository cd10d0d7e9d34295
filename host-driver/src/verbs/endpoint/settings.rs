//! Settings of an endpoint.

use super::tap::Tap;
use crate::stack::Settings;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Octets of headers of IP and TCP without options.
const HEADERS_V4: u16 = 40;
const HEADERS_V6: u16 = 60;
/// The time of three full frames at 10 Gb/s. An interrupt that comes after silence is not held.
const HOLD_OFF_US: u32 = 4;

/// The largest segment with `address` that an MTU leaves, within what TCP can use.
pub(super) fn emss_octets(mtu_octets: u16, address: IpAddr) -> u16 {
    let headers = match address {
        IpAddr::V4(_) => HEADERS_V4,
        IpAddr::V6(_) => HEADERS_V6,
    };
    let octets = mtu_octets.saturating_sub(headers);
    octets.max(rnic_tcp::settings::EMSS_OCTETS_MIN)
}

/// Settings of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// Addresses, gateways, MTU.
    pub interface: Settings,
    /// TCP of all its connections. Their largest segment is no more than the MTU leaves with
    /// headers of their family.
    pub tcp: rnic_tcp::Settings,
    /// Where a [`Monitor`](crate::monitor::Monitor) answers, if it is to; the endpoint's thread
    /// serves it.
    pub monitor: Option<PathBuf>,
    /// Who sees the frames that the endpoint itself sends and receives, if anybody does.
    pub tap: Option<Tap>,
    /// Microseconds from one interrupt of the device to the next, at least, 0 to 1,023; what comes
    /// meanwhile has one together. More spare the processor, and let a peer's next segment wait.
    pub hold_off_us: u32,
}

impl EndpointSettings {
    /// An interface with TCP's default settings.
    pub fn new(interface: Settings) -> Self {
        let tcp = rnic_tcp::Settings {
            emss_octets: emss_octets(interface.mtu_octets, Ipv4Addr::UNSPECIFIED.into()),
            ..rnic_tcp::Settings::default()
        };
        Self {
            interface,
            tcp,
            monitor: None,
            tap: None,
            hold_off_us: HOLD_OFF_US,
        }
    }
}
