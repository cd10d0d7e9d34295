//! IPv4 and IPv6 headers: which packets are for the interface.

use super::super::fragments::{Fragment, Key, Outcome};
use super::super::settings::is_host;
use super::{Arrived, Interface};
use smoltcp::wire::{IpProtocol, Ipv4Packet, Ipv6Packet, TcpPacket};
use std::borrow::Cow;
use std::net::IpAddr;

impl Interface {
    pub(super) fn receive_v4<'a>(&mut self, octets: &'a [u8], now: u64) -> Option<Arrived<'a>> {
        let Some(packet) = Ipv4Packet::new_checked(octets)
            .ok()
            .filter(|ip| ip.version() == 4)
        else {
            self.counts.short += 1;
            return None;
        };
        if !packet.verify_checksum() {
            self.counts.bad_checksum += 1;
            return None;
        }
        let (from, to) = (packet.src_addr(), packet.dst_addr());
        self.are_hosts(from.into(), to.into())?;
        if packet.more_frags() || packet.frag_offset() != 0 {
            let key = Key {
                from: from.into(),
                to: to.into(),
                identification: packet.ident().into(),
            };
            let fragment = Fragment {
                offset: packet.frag_offset().into(),
                more: packet.more_frags(),
                payload: packet.payload(),
            };
            return self.receive_fragment(key, packet.next_header(), &fragment, now);
        }
        match packet.next_header() {
            IpProtocol::Tcp => {
                let payload = packet.payload();
                self.receive_tcp(from.into(), to.into(), Cow::Borrowed(payload))
            }
            IpProtocol::Icmp => self.receive_icmp_v4(from, to, packet.payload(), now),
            _ => {
                self.counts.other_protocol += 1;
                None
            }
        }
    }

    pub(super) fn receive_v6<'a>(&mut self, octets: &'a [u8], now: u64) -> Option<Arrived<'a>> {
        let Some(packet) = Ipv6Packet::new_checked(octets)
            .ok()
            .filter(|ip| ip.version() == 6)
        else {
            self.counts.short += 1;
            return None;
        };
        let (from, to) = (packet.src_addr(), packet.dst_addr());
        let payload = packet.payload();
        match packet.next_header() {
            IpProtocol::Tcp => {
                self.are_hosts(from.into(), to.into())?;
                self.receive_tcp(from.into(), to.into(), Cow::Borrowed(payload))
            }
            IpProtocol::Icmpv6 => self.receive_icmp_v6(from, to, packet.hop_limit(), payload, now),
            IpProtocol::Ipv6Frag => {
                self.are_hosts(from.into(), to.into())?;
                let Some((header, payload)) = payload.split_first_chunk::<8>() else {
                    self.counts.short += 1;
                    return None;
                };
                // Next header, reserved, offset with M, identification (RFC 8200 section 4.5).
                let [next, _, high, low, identification @ ..] = *header;
                let place = u16::from_be_bytes([high, low]);
                let key = Key {
                    from: from.into(),
                    to: to.into(),
                    identification: u32::from_be_bytes(identification),
                };
                let fragment = Fragment {
                    offset: usize::from(place & !7),
                    more: place & 1 == 1,
                    payload,
                };
                self.receive_fragment(key, next.into(), &fragment, now)
            }
            IpProtocol::HopByHop | IpProtocol::Ipv6Route | IpProtocol::Ipv6Opts => {
                self.counts.extensions += 1;
                None
            }
            _ => {
                self.counts.other_protocol += 1;
                None
            }
        }
    }

    /// A fragment of a packet between hosts that were checked.
    fn receive_fragment<'a>(
        &mut self,
        key: Key,
        protocol: IpProtocol,
        fragment: &Fragment<'_>,
        now: u64,
    ) -> Option<Arrived<'a>> {
        self.counts.fragments += 1;
        if protocol != IpProtocol::Tcp {
            self.counts.other_protocol += 1;
            return None;
        }
        let lost = &mut self.counts.unfinished;
        match self.fragments.push(key, fragment, now, lost) {
            Outcome::Whole(segment) => {
                self.counts.reassembled += 1;
                self.receive_tcp(key.from, key.to, Cow::Owned(segment))
            }
            Outcome::Kept | Outcome::Refused => None,
        }
    }

    /// A packet of another host to this one; counts it if it is none.
    pub(super) fn are_hosts(&mut self, from: IpAddr, to: IpAddr) -> Option<()> {
        let settings = &self.settings;
        let is_other = is_host(from) && !settings.is_own(from) && !settings.is_broadcast(from);
        let are_hosts = is_other && settings.is_own(to);
        self.counts.other_address += u64::from(!are_hosts);
        are_hosts.then_some(())
    }

    fn receive_tcp<'a>(
        &mut self,
        from: IpAddr,
        to: IpAddr,
        segment: Cow<'a, [u8]>,
    ) -> Option<Arrived<'a>> {
        let Ok(packet) = TcpPacket::new_checked(&*segment) else {
            self.counts.short += 1;
            return None;
        };
        if !packet.verify_checksum(&from.into(), &to.into()) {
            self.counts.bad_checksum += 1;
            return None;
        }
        self.counts.segments += 1;
        Some(Arrived::Tcp { from, to, segment })
    }
}
