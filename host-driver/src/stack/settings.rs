//! Addresses, gateways, VLAN and MTU of an interface, and what is wrong with them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// Smallest MTU of an interface, in octets.
pub const MTU_OCTETS_MIN: u16 = 576;
/// Smallest MTU of an interface with an IPv6 address (RFC 8200 section 5), in octets.
pub const MTU_OCTETS_MIN_V6: u16 = 1_280;
/// Largest MTU of an interface, in octets.
pub const MTU_OCTETS_MAX: u16 = 9_000;
/// The MTU of Ethernet without long frames (RFC 894), in octets.
const MTU_OCTETS_ETHERNET: u16 = 1_500;
/// Addresses of an interface, at most.
pub const ADDRESSES_MAX: usize = 64;

/// An address, and how many of its bits all on its link share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPrefix {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub bits: u8,
}

impl AddressPrefix {
    /// Whether `other` is on the same link.
    pub fn contains(&self, other: IpAddr) -> bool {
        match (self.address, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(self.bits))
                    .unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            _ => false,
        }
    }

    /// Whether `other` is every host of this IPv4 prefix, or the prefix itself (RFC 1122 section
    /// 3.2.1.3). Prefixes of 31 and 32 bits have neither (RFC 3021).
    pub fn is_broadcast(&self, other: IpAddr) -> bool {
        let (IpAddr::V4(_), IpAddr::V4(address)) = (self.address, other) else {
            return false;
        };
        let hosts = u32::MAX.checked_shr(u32::from(self.bits)).unwrap_or(0);
        let host = address.to_bits() & hosts;
        hosts > 1 && self.contains(other) && (host == hosts || host == 0)
    }

    fn bits_max(&self) -> u8 {
        match self.address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        }
    }
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// MAC address.
    pub mac: [u8; 6],
    /// Addresses, 1 to [`ADDRESSES_MAX`].
    pub addresses: Vec<AddressPrefix>,
    /// Where packets go whose destination is on no link of these: at most one for IPv4 and one for
    /// IPv6.
    pub gateways: Vec<IpAddr>,
    /// VLAN id, if frames are tagged.
    pub vlan: Option<u16>,
    /// Largest IP packet in octets.
    pub mtu_octets: u16,
}

/// What is wrong with settings.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The MAC address is that of no single station.
    #[error("the MAC address is zero or that of a group; give one whose first octet is even")]
    Mac,
    /// None, or too many.
    #[error("{0} addresses; give 1 to {ADDRESSES_MAX}")]
    Addresses(usize),
    /// An address of no single host.
    #[error("{0} is no address of a single host on a link")]
    Address(IpAddr),
    /// A prefix that is longer than the address.
    #[error("{address}/{bits}: a prefix has 1 to {most} bits")]
    Prefix {
        /// The address.
        address: IpAddr,
        /// Bits asked for.
        bits: u8,
        /// Bits of such an address.
        most: u8,
    },
    /// An address that is given twice.
    #[error("{0} is given twice")]
    Twice(IpAddr),
    /// A gateway that cannot be reached without one.
    #[error("gateway {0} is on no link of the addresses that are given, or is one of them")]
    Gateway(IpAddr),
    /// A second gateway of one family.
    #[error("gateway {0} is the second one of its family")]
    SecondGateway(IpAddr),
    /// An id that no VLAN has.
    #[error("VLAN {0}: ids are 1 to 4094")]
    Vlan(u16),
    /// An MTU out of range.
    #[error("an MTU of {octets} octets; it is {least} to {MTU_OCTETS_MAX}")]
    Mtu {
        /// Octets asked for.
        octets: u16,
        /// The least that these addresses allow.
        least: u16,
    },
}

/// Whether an address may be that of one host on a link, as a source or a destination.
pub(super) fn is_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let is_none = v4.is_unspecified() || v4.is_loopback() || v4.is_multicast();
            !(is_none || v4 == Ipv4Addr::BROADCAST || v4.octets()[0] >= 240)
        }
        IpAddr::V6(v6) => {
            let is_none = v6.is_unspecified() || v6.is_multicast();
            !(is_none || v6 == Ipv6Addr::LOCALHOST || v6.to_ipv4_mapped().is_some())
        }
    }
}

impl Settings {
    /// An interface on the links of `addresses`, and nowhere else: no gateway, no VLAN, Ethernet's
    /// MTU of 1500 octets.
    pub fn new(mac: [u8; 6], addresses: Vec<AddressPrefix>) -> Self {
        Self {
            mac,
            addresses,
            gateways: Vec::new(),
            vlan: None,
            mtu_octets: MTU_OCTETS_ETHERNET,
        }
    }

    /// Whether an interface can be so.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), SettingsError> {
        if self.mac == [0; 6] || self.mac[0] & 1 == 1 {
            return Err(SettingsError::Mac);
        }
        if !(1..=ADDRESSES_MAX).contains(&self.addresses.len()) {
            return Err(SettingsError::Addresses(self.addresses.len()));
        }
        for (number, prefix) in self.addresses.iter().enumerate() {
            self.check_address(prefix, &self.addresses[..number])?;
        }
        for (number, &gateway) in self.gateways.iter().enumerate() {
            let is_family = |other: &IpAddr| other.is_ipv4() == gateway.is_ipv4();
            if self.gateways[..number].iter().any(is_family) {
                return Err(SettingsError::SecondGateway(gateway));
            }
            if self.is_own(gateway) || !is_host(gateway) || !self.is_on_link(gateway) {
                return Err(SettingsError::Gateway(gateway));
            }
        }
        if let Some(vlan) = self.vlan.filter(|vlan| !(1..=4_094).contains(vlan)) {
            return Err(SettingsError::Vlan(vlan));
        }
        let has_v6 = self.addresses.iter().any(|prefix| prefix.address.is_ipv6());
        let least = match has_v6 {
            true => MTU_OCTETS_MIN_V6,
            false => MTU_OCTETS_MIN,
        };
        if !(least..=MTU_OCTETS_MAX).contains(&self.mtu_octets) {
            let octets = self.mtu_octets;
            return Err(SettingsError::Mtu { octets, least });
        }
        Ok(())
    }

    fn check_address(
        &self,
        prefix: &AddressPrefix,
        before: &[AddressPrefix],
    ) -> Result<(), SettingsError> {
        let AddressPrefix { address, bits } = *prefix;
        let most = prefix.bits_max();
        if !(1..=most).contains(&bits) {
            return Err(SettingsError::Prefix {
                address,
                bits,
                most,
            });
        }
        if !is_host(address) || prefix.is_broadcast(address) {
            return Err(SettingsError::Address(address));
        }
        match before.iter().any(|other| other.address == address) {
            true => Err(SettingsError::Twice(address)),
            false => Ok(()),
        }
    }

    /// Whether `address` is one of the interface's.
    pub fn is_own(&self, address: IpAddr) -> bool {
        self.addresses
            .iter()
            .any(|prefix| prefix.address == address)
    }

    /// Whether `address` is reached without a gateway. Link-local ones always are (RFC 4291 section
    /// 2.5.6).
    pub fn is_on_link(&self, address: IpAddr) -> bool {
        let is_near = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
        let has_v6 = self.addresses.iter().any(|prefix| prefix.address.is_ipv6());
        is_near && has_v6 || self.addresses.iter().any(|prefix| prefix.contains(address))
    }

    /// Whether `address` is every host of one of the links.
    pub(super) fn is_broadcast(&self, address: IpAddr) -> bool {
        self.addresses
            .iter()
            .any(|prefix| prefix.is_broadcast(address))
    }

    /// Which of the interface's addresses speaks to `other`: one on its link, or the first one of
    /// its family.
    pub fn source_for(&self, other: IpAddr) -> Option<IpAddr> {
        let on_link = self.addresses.iter().find(|prefix| prefix.contains(other));
        let is_family = |prefix: &&AddressPrefix| prefix.address.is_ipv4() == other.is_ipv4();
        let found = on_link.or_else(|| self.addresses.iter().find(is_family));
        found.map(|prefix| prefix.address)
    }
}

#[cfg(test)]
mod tests;
