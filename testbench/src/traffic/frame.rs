//! TCP segments into Ethernet frames: VLAN tags, IPv4 or IPv6, TCP options, right checksums.

use super::StreamConfig;
use etherparse::{
    EtherType, Ethernet2Header, IpNumber, Ipv4Header, Ipv6Header, SingleVlanHeader, TcpHeader,
    TcpOptionElement, VlanId,
};
use rnic_driver::{ConnectionConfig, ConnectionKey, QueueId};
use std::net::{IpAddr, SocketAddr};

/// FIN.
pub const FLAG_FIN: u8 = 0x01;
/// SYN.
pub const FLAG_SYN: u8 = 0x02;
/// RST.
pub const FLAG_RST: u8 = 0x04;
/// PSH.
pub const FLAG_PSH: u8 = 0x08;
/// ACK.
pub const FLAG_ACK: u8 = 0x10;
/// URG.
pub const FLAG_URG: u8 = 0x20;

const HOP_LIMIT: u8 = 64;

/// One end of a connection on its link.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IP address and port.
    pub address: SocketAddr,
}

impl Endpoint {
    /// Host number `host` of 10.0.0.0/24.
    pub fn host(host: u8, port: u16) -> Self {
        Self {
            mac: [2, 0, 0, 0, 0, host],
            address: ([10, 0, 0, host], port).into(),
        }
    }
}

/// TCP options of every segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TcpOptions {
    /// None: a header of 20 octets.
    None,
    /// Timestamps (RFC 7323) after two NOPs, as Linux sends them: TSval and TSecr; 32 octets.
    Timestamps(u32, u32),
    /// One SACK block (RFC 2018) after two NOPs: its left and its right edge; 32 octets.
    Sack(u32, u32),
}

impl TcpOptions {
    /// Octets the options take.
    pub const fn octets(self) -> usize {
        match self {
            Self::None => 0,
            Self::Timestamps(..) | Self::Sack(..) => 12,
        }
    }

    fn set(self, header: &mut TcpHeader) {
        let option = match self {
            Self::None => return,
            Self::Timestamps(value, echo) => TcpOptionElement::Timestamp(value, echo),
            Self::Sack(left, right) => {
                TcpOptionElement::SelectiveAcknowledgement((left, right), [None; 3])
            }
        };
        let noop = TcpOptionElement::Noop;
        header
            .set_options(&[noop.clone(), noop, option])
            .expect("12 octets of options fit a TCP header");
    }
}

/// Builds the frames of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameBuilder {
    /// Sender.
    pub source: Endpoint,
    /// Receiver; its address is of the sender's family.
    pub destination: Endpoint,
    /// VLAN ids, outermost first; the last tag has type 0x8100, those before it 0x88a8.
    pub vlan: Vec<u16>,
    /// TCP options.
    pub options: TcpOptions,
    /// Advertised window, unscaled.
    pub window: u16,
    /// Options of the IPv4 header: whole words, at most 40 octets; IPv6 has none.
    pub ip_options: Vec<u8>,
}

impl FrameBuilder {
    /// A builder of untagged frames without TCP options.
    pub fn new(source: Endpoint, destination: Endpoint) -> Self {
        Self {
            source,
            destination,
            vlan: Vec::new(),
            options: TcpOptions::None,
            window: u16::MAX,
            ip_options: Vec::new(),
        }
    }

    /// The destination driver's configuration of a connection that carries `stream`; `window` is
    /// its receive window in octets.
    pub fn connection(
        &self,
        stream: &StreamConfig,
        window: u32,
        protection_domain: u16,
    ) -> ConnectionConfig {
        ConnectionConfig {
            key: ConnectionKey {
                remote: self.source.address,
                local: self.destination.address,
            },
            sequence_start: stream.sequence_start,
            window,
            seg_ack: 0,
            seg_wnd: 0,
            markers: stream.markers,
            crc: stream.crc,
            version: stream.version,
            protection_domain,
            completion_queue: QueueId::default(),
        }
    }

    /// Largest payload whose IP datagram has no more than `mtu` octets.
    pub fn mss(&self, mtu: usize) -> usize {
        let ip = match self.source.address {
            SocketAddr::V4(_) => Ipv4Header::MIN_LEN,
            SocketAddr::V6(_) => Ipv6Header::LEN,
        };
        mtu - ip - TcpHeader::MIN_LEN - self.options.octets()
    }

    /// A frame with one TCP segment.
    ///
    /// # Panics
    /// If the two ends are of different IP families, the datagram exceeds 65535 octets, or the IPv4
    /// options are no whole words or more than ten.
    pub fn segment(
        &self,
        sequence: u32,
        acknowledgement: u32,
        flags: u8,
        payload: &[u8],
    ) -> Vec<u8> {
        let mut tcp = TcpHeader::new(
            self.source.address.port(),
            self.destination.address.port(),
            sequence,
            self.window,
        );
        tcp.acknowledgment_number = acknowledgement;
        tcp.fin = flags & FLAG_FIN != 0;
        tcp.syn = flags & FLAG_SYN != 0;
        tcp.rst = flags & FLAG_RST != 0;
        tcp.psh = flags & FLAG_PSH != 0;
        tcp.ack = flags & FLAG_ACK != 0;
        tcp.urg = flags & FLAG_URG != 0;
        self.options.set(&mut tcp);
        let mut frame = Vec::with_capacity(128 + payload.len());
        self.put_ip(&mut frame, &mut tcp, payload);
        frame.extend_from_slice(&tcp.to_bytes());
        frame.extend_from_slice(payload);
        frame
    }

    /// Ethernet and IP headers; the TCP checksum, which needs the addresses, is set on the way.
    fn put_ip(&self, frame: &mut Vec<u8>, tcp: &mut TcpHeader, payload: &[u8]) {
        let octets = tcp.header_len() + payload.len();
        let too_long = "a datagram has at most 65535 octets";
        match (self.source.address.ip(), self.destination.address.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let (source, destination) = (source.octets(), destination.octets());
                let length = u16::try_from(octets).expect(too_long);
                let mut ip = Ipv4Header::new(length, HOP_LIMIT, IpNumber::TCP, source, destination)
                    .expect(too_long);
                ip.options = (self.ip_options.as_slice().try_into())
                    .expect("options are whole words, at most ten");
                ip.set_payload_len(octets).expect(too_long);
                ip.dont_fragment = true;
                ip.header_checksum = ip.calc_header_checksum();
                tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).expect(too_long);
                self.put_ethernet(frame, EtherType::IPV4);
                frame.extend_from_slice(&ip.to_bytes());
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let ip = Ipv6Header {
                    payload_length: u16::try_from(octets).expect(too_long),
                    next_header: IpNumber::TCP,
                    hop_limit: HOP_LIMIT,
                    source: source.octets(),
                    destination: destination.octets(),
                    ..Ipv6Header::default()
                };
                tcp.checksum = tcp.calc_checksum_ipv6(&ip, payload).expect(too_long);
                self.put_ethernet(frame, EtherType::IPV6);
                frame.extend_from_slice(&ip.to_bytes());
            }
            (source, destination) => {
                panic!("{source} and {destination} are of different IP families")
            }
        }
    }

    fn put_ethernet(&self, frame: &mut Vec<u8>, payload: EtherType) {
        let tag_type = |tag: usize| match self.vlan.len() - tag {
            0 => payload,
            1 => EtherType::VLAN_TAGGED_FRAME,
            _ => EtherType::PROVIDER_BRIDGING,
        };
        let ethernet = Ethernet2Header {
            source: self.source.mac,
            destination: self.destination.mac,
            ether_type: tag_type(0),
        };
        frame.extend_from_slice(&ethernet.to_bytes());
        for (tag, &id) in self.vlan.iter().enumerate() {
            let tag = SingleVlanHeader {
                vlan_id: VlanId::try_new(id).expect("VLAN ids have 12 bits"),
                ether_type: tag_type(tag + 1),
                ..SingleVlanHeader::default()
            };
            frame.extend_from_slice(&tag.to_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};

    fn endpoint(octet: u8, address: &str) -> Endpoint {
        Endpoint {
            mac: [2, 0, 0, 0, 0, octet],
            address: address.parse().expect("an address"),
        }
    }

    fn builders() -> Vec<FrameBuilder> {
        let pairs = [
            ("10.0.0.1:1000", "10.0.0.2:4420"),
            ("[fd00::1]:1000", "[fd00::2]:4420"),
        ];
        let mut builders = Vec::new();
        for (source, destination) in pairs {
            for tags in 0..=2 {
                for options in [TcpOptions::None, TcpOptions::Timestamps(7, 9)] {
                    let (source, destination) = (endpoint(1, source), endpoint(2, destination));
                    let mut builder = FrameBuilder::new(source, destination);
                    builder.vlan = (0..tags).map(|tag| 100 + tag).collect();
                    builder.options = options;
                    builders.push(builder);
                }
            }
        }
        builders
    }

    #[test]
    fn frames_hold_what_was_asked_for_with_right_checksums() {
        for builder in builders() {
            let payload: Vec<u8> = (0..=250).collect();
            let frame = builder.segment(0xffff_fff0, 77, FLAG_ACK | FLAG_PSH, &payload);
            let packet = SlicedPacket::from_ethernet(&frame).expect("a whole packet");
            assert_eq!(packet.vlan_ids().len(), builder.vlan.len());
            let Some(TransportSlice::Tcp(tcp)) = packet.transport else {
                panic!("{builder:?}: no TCP segment");
            };
            let good = match packet.net.expect("an IP datagram") {
                NetSlice::Ipv4(ip) => {
                    let header = ip.header().to_header();
                    assert_eq!(header.header_checksum, header.calc_header_checksum());
                    tcp.calc_checksum_ipv4(header.source, header.destination)
                }
                NetSlice::Ipv6(ip) => {
                    let header = ip.header().to_header();
                    tcp.calc_checksum_ipv6(header.source, header.destination)
                }
                NetSlice::Arp(_) => panic!("{builder:?}: ARP"),
            };
            assert_eq!(good.expect("short enough"), tcp.checksum(), "{builder:?}");
            assert_eq!(
                (tcp.sequence_number(), tcp.acknowledgment_number()),
                (0xffff_fff0, 77)
            );
            assert_eq!(
                (tcp.ack(), tcp.psh(), tcp.syn(), tcp.fin()),
                (true, true, false, false)
            );
            assert_eq!(tcp.payload(), payload);
        }
    }

    #[test]
    fn tag_types_are_a_service_tag_then_a_customer_tag() {
        let two = &builders()[4];
        let frame = two.segment(1, 2, FLAG_ACK, &[]);
        assert_eq!(frame[12..22], [0x88, 0xa8, 0, 100, 0x81, 0, 0, 101, 8, 0]);
    }

    #[test]
    fn a_full_segment_fills_the_mtu() {
        for builder in builders() {
            let frame = builder.segment(0, 0, FLAG_ACK, &vec![0; builder.mss(1500)]);
            assert_eq!(
                frame.len(),
                14 + 4 * builder.vlan.len() + 1500,
                "{builder:?}"
            );
        }
    }
}
