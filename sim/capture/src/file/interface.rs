//! Interfaces of a capture, and their packets as Ethernet frames.
//!
//! In: a packet as its interface's link type has it. Out: an Ethernet frame without FCS. Where the
//! link has another header, or none, one of Ethernet is put in front, with addresses that are
//! nobody's: the device looks at none.

use pcap_parser::pcapng::InterfaceDescriptionBlock;
use pcap_parser::PcapHeader;
use std::fmt;

/// Destination and source where the capture has none: locally administered.
const DESTINATION: [u8; 6] = [0x02, 0, 0, 0, 0, 0x02];
const SOURCE: [u8; 6] = [0x02, 0, 0, 0, 0, 0x01];
const TYPE_IPV4: [u8; 2] = [0x08, 0x00];
const TYPE_IPV6: [u8; 2] = [0x86, 0xdd];
/// Option of an interface: octets of the FCS in each packet.
const OPTION_FCS_OCTETS: u16 = 13;
/// In the link type field of pcap: the FCS length is given, in units of 16 bits in the four bits at
/// the top.
const FCS_GIVEN: u32 = 1 << 26;
const FCS_SHIFT: u32 = 28;

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    /// Its number in its section.
    pub(crate) number: usize,
    /// Its name, if the file has it.
    pub(crate) name: Option<String>,
    pub(crate) link: LinkType,
    /// Octets of FCS at the end of each packet.
    pub(crate) fcs_octets: usize,
    /// Octets that it captures of a packet; 0 for all.
    pub(crate) snap_octets: u32,
}

impl Interface {
    pub(crate) fn of_header(header: &PcapHeader) -> Self {
        let field = header.network.0 as u32;
        let fcs_words = if field & FCS_GIVEN == 0 {
            0
        } else {
            field >> FCS_SHIFT
        };
        Self {
            number: 0,
            name: None,
            link: LinkType(field as u16),
            fcs_octets: 2 * fcs_words as usize,
            snap_octets: header.snaplen,
        }
    }

    pub(crate) fn of_block(number: usize, block: &InterfaceDescriptionBlock) -> Self {
        let fcs = block
            .options
            .iter()
            .find(|option| option.code.0 == OPTION_FCS_OCTETS);
        let fcs = fcs.and_then(|option| option.as_bytes().ok()?.first().copied());
        Self {
            number,
            name: block.if_name().and_then(Result::ok).map(ToOwned::to_owned),
            link: LinkType(block.linktype.0 as u16),
            fcs_octets: usize::from(fcs.unwrap_or(0)),
            snap_octets: block.snaplen,
        }
    }

    /// The Ethernet frame of a packet; `None` if its link cannot be played, or the packet lacks its
    /// header.
    pub(crate) fn frame(&self, mut packet: Vec<u8>, is_whole: bool) -> Option<Vec<u8>> {
        let fcs_octets = if is_whole { self.fcs_octets } else { 0 };
        packet.truncate(packet.len().saturating_sub(fcs_octets));
        if packet.is_empty() {
            return None;
        }
        if self.link == LinkType::ETHERNET {
            return Some(packet);
        }
        let octets = packet.as_slice();
        match self.link {
            LinkType::RAW | LinkType::RAW_BSD | LinkType::RAW_OPENBSD => {
                Some(with_header(ip_type(octets), octets))
            }
            LinkType::IPV4 => Some(with_header(TYPE_IPV4, octets)),
            LinkType::IPV6 => Some(with_header(TYPE_IPV6, octets)),
            // Four octets of an address family, whose numbers and order are the writer's: the
            // datagram itself says better what it is.
            LinkType::NULL | LinkType::LOOP => {
                let datagram = octets.get(4..)?;
                Some(with_header(ip_type(datagram), datagram))
            }
            LinkType::COOKED => cooked(octets, 14..16, 16),
            LinkType::COOKED_V2 => cooked(octets, 0..2, 20),
            _ => None,
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interface {}", self.number)?;
        if let Some(name) = &self.name {
            write!(f, " ({})", name.escape_debug())?;
        }
        write!(f, ", link type {}", self.link)
    }
}

/// The EtherType of a datagram, by the version in its first octet.
fn ip_type(datagram: &[u8]) -> [u8; 2] {
    match datagram.first().map(|first| first >> 4) {
        Some(6) => TYPE_IPV6,
        _ => TYPE_IPV4,
    }
}

/// The packet of Linux's cooked capture, whose protocol is in `kind`, its payload after `header`.
fn cooked(octets: &[u8], kind: std::ops::Range<usize>, header: usize) -> Option<Vec<u8>> {
    let kind = octets.get(kind)?;
    Some(with_header([kind[0], kind[1]], octets.get(header..)?))
}

fn with_header(kind: [u8; 2], datagram: &[u8]) -> Vec<u8> {
    [&DESTINATION[..], &SOURCE, &kind, datagram].concat()
}

/// A link type, as the registry of capture files numbers them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkType(pub(crate) u16);

impl LinkType {
    const NULL: Self = Self(0);
    const ETHERNET: Self = Self(1);
    const RAW_BSD: Self = Self(12);
    const RAW_OPENBSD: Self = Self(14);
    const RAW: Self = Self(101);
    const LOOP: Self = Self(108);
    const COOKED: Self = Self(113);
    const IPV4: Self = Self(228);
    const IPV6: Self = Self(229);
    const COOKED_V2: Self = Self(276);

    /// Whether its packets are played with an Ethernet header put in front.
    pub(crate) fn lacks_ethernet(self) -> bool {
        [
            Self::NULL,
            Self::RAW_BSD,
            Self::RAW_OPENBSD,
            Self::RAW,
            Self::LOOP,
            Self::COOKED,
            Self::IPV4,
            Self::IPV6,
            Self::COOKED_V2,
        ]
        .contains(&self)
    }

    /// Whether its packets can be played.
    pub(crate) fn is_playable(self) -> bool {
        self == Self::ETHERNET || self.lacks_ethernet()
    }

    fn name(self) -> &'static str {
        match self.0 {
            0 => "BSD loopback",
            1 => "Ethernet",
            6 => "token ring",
            8 => "SLIP",
            9 | 50 => "PPP",
            10 => "FDDI",
            12 | 14 | 101 => "raw IP",
            51 => "PPPoE",
            104 => "Cisco HDLC",
            105 => "802.11",
            108 => "OpenBSD loopback",
            113 => "Linux cooked",
            107 => "Frame Relay",
            109 => "OpenBSD enc",
            117 => "OpenBSD pflog",
            119 => "802.11 with a Prism header",
            127 => "802.11 with a radiotap header",
            138 => "Apple IP over IEEE 1394",
            147..=162 => "private use",
            163 => "802.11 with an AVS header",
            166 => "PPP as pppd writes it",
            187 | 201 | 251 => "Bluetooth",
            189 | 220 | 249 => "USB",
            192 => "PPI",
            195 | 215 | 230 => "802.15.4",
            197 => "ERF",
            226 => "Solaris ipnet",
            227 => "CAN",
            228 => "IPv4",
            229 => "IPv6",
            239 => "NFLOG, Linux netfilter's log",
            240 => "netANALYZER",
            242 => "IP over InfiniBand",
            247 => "InfiniBand",
            252 => "Wireshark upper PDU",
            253 => "Linux netlink",
            258 => "Apple PKTAP",
            276 => "Linux cooked v2",
            _ => "no name known",
        }
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0, self.name())
    }
}
