//! Ethernet and VLAN headers.
//!
//! ```text
//!  destination 6 | source 6 | type 2                          IEEE 802.3
//!  destination 6 | source 6 | 0x8100 | priority, id | type 2  IEEE 802.1Q
//! ```

use super::settings::Settings;
use smoltcp::wire::{EthernetAddress, EthernetFrame, EthernetProtocol};
use std::net::{IpAddr, Ipv6Addr};

/// A MAC address.
pub(super) type Mac = [u8; 6];

/// Octets before an IP packet, at most.
pub(super) const LINK_OCTETS_MAX: usize = 14 + 4;
const TAGGED: u16 = 0x8100;
const ID_MASK: u16 = 0x0fff;
/// Group of all IPv6 nodes on a link (RFC 2464 section 7).
pub(super) const ALL_NODES: Mac = [0x33, 0x33, 0, 0, 0, 1];

/// Why a frame is not for the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOurs {
    /// It is shorter than its headers.
    Short,
    /// It is for another station.
    Mac,
    /// It is of another VLAN.
    Vlan,
}

/// The packet in a frame for the interface, and its type.
pub(super) fn read<'a>(
    settings: &Settings,
    frame: &'a [u8],
) -> Result<(EthernetProtocol, &'a [u8]), NotOurs> {
    let header = EthernetFrame::new_checked(frame).map_err(|_| NotOurs::Short)?;
    if !is_ours(settings, header.dst_addr()) {
        return Err(NotOurs::Mac);
    }
    let (kind, packet) = (header.ethertype(), header.payload());
    let EthernetProtocol::Unknown(TAGGED) = kind else {
        return match settings.vlan {
            None => Ok((kind, packet)),
            Some(_) => Err(NotOurs::Vlan),
        };
    };
    let &[high, low, kind_high, kind_low, ref packet @ ..] = packet else {
        return Err(NotOurs::Short);
    };
    // An id of 0 is a priority without a VLAN (IEEE 802.1Q section 9.6).
    let id = u16::from_be_bytes([high, low]) & ID_MASK;
    if id != settings.vlan.unwrap_or(0) {
        return Err(NotOurs::Vlan);
    }
    let kind = u16::from_be_bytes([kind_high, kind_low]);
    Ok((kind.into(), packet))
}

fn is_ours(settings: &Settings, to: EthernetAddress) -> bool {
    let own = settings
        .addresses
        .iter()
        .filter_map(|prefix| match prefix.address {
            IpAddr::V6(address) => Some(group_mac(solicited_node(address))),
            IpAddr::V4(_) => None,
        });
    to.0 == settings.mac
        || to.is_broadcast()
        || to.0 == ALL_NODES
        || own.into_iter().any(|group| group == to.0)
}

/// The group in which whoever has `address` is asked for (RFC 4291 section 2.7.1).
pub(super) fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., high, low] = address.segments();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | high & 0xff, low)
}

/// The MAC address of an IPv6 group (RFC 2464 section 7).
pub(super) fn group_mac(group: Ipv6Addr) -> Mac {
    let [.., a, b, c, d] = group.octets();
    [0x33, 0x33, a, b, c, d]
}

/// An Ethernet header, with a VLAN tag where frames are tagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkHeader {
    octets: [u8; LINK_OCTETS_MAX],
    length: usize,
}

impl LinkHeader {
    pub(super) fn new(settings: &Settings, to: Mac, kind: EthernetProtocol) -> Self {
        let mut octets = [0; LINK_OCTETS_MAX];
        octets[..6].copy_from_slice(&to);
        octets[6..12].copy_from_slice(&settings.mac);
        let mut length = 12;
        let tag = settings.vlan.map(|vlan| [TAGGED, vlan]);
        let kind = u16::from(kind);
        for half in tag.into_iter().flatten().chain([kind]) {
            octets[length..length + 2].copy_from_slice(&half.to_be_bytes());
            length += 2;
        }
        Self { octets, length }
    }

    /// That of a packet which has none yet.
    pub(super) const fn none() -> Self {
        Self {
            octets: [0; LINK_OCTETS_MAX],
            length: 0,
        }
    }

    /// The octets before an IP packet.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

/// A frame to `to` that holds `packet`.
pub(super) fn frame(
    settings: &Settings,
    to: Mac,
    kind: EthernetProtocol,
    packet: &[u8],
) -> Vec<u8> {
    let header = LinkHeader::new(settings, to, kind);
    [header.octets(), packet].concat()
}
