//! What becomes of a frame of the host ring, and where a packet goes.
//!
//! ```text
//!  receive: frame --> own MAC, VLAN --> ARP, NDP, echo --> answered
//!                                   --> TCP            --> Arrived::Tcp
//!                                   --> packet too big --> Arrived::TooBig
//!                                   --> anything else  --> a counter
//!  send: packet --> on link, or gateway --> known --> poll: frame
//!                                       `-> asked for, and the packet waits
//! ```
//!
//! Sources: RFC 826, 1122, 1191, 4443, 4861, 8200, 8201. Router advertisements and redirects are
//! not followed: addresses and gateways are set by the user. Fragments of TCP are put together,
//! within bounds. Packets with other IPv6 extension headers are counted and dropped; so are packets
//! for other addresses, as nothing is routed.

mod arp;
mod icmp;
mod ip;

use super::answers;
use super::fragments::Fragments;
use super::link::{self, group_mac, LinkHeader, Mac, NotOurs};
use super::neighbours::{Hop, Neighbours, Question};
use super::settings::{is_host, Settings, SettingsError};
use smoltcp::wire::{ArpOperation, EthernetProtocol};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::net::IpAddr;
use thiserror::Error;

/// Frames that wait for [`Interface::poll`]; further ones are dropped.
pub const FRAMES_MAX: usize = 256;
const BROADCAST: Mac = [0xff; 6];

/// What has arrived for connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived<'a> {
    /// A TCP segment, whose checksum is right.
    Tcp {
        /// Who sent it.
        from: IpAddr,
        /// Which of the interface's addresses it is for.
        to: IpAddr,
        /// Header and payload: of the frame, or put together from fragments.
        segment: Cow<'a, [u8]>,
    },
    /// A packet of TCP was too big for a link on its way (RFC 1191, RFC 8201). Whoever has such a
    /// connection has to judge whether it sent that: the first octets of its header are here.
    TooBig {
        /// Which of the interface's addresses sent it.
        from: IpAddr,
        /// Whom it was for.
        to: IpAddr,
        /// Octets that an IP packet may have, within the range of MTUs, below the interface's own.
        mtu_octets: u16,
        /// Ports and sequence number: the first eight octets of the TCP header.
        header: [u8; 8],
    },
}

/// Why a packet can go nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unroutable {
    /// It is no address of a single host elsewhere.
    #[error("{0} is no address of another host")]
    Address(IpAddr),
    /// It is on no link of the interface, and there is no gateway.
    #[error("{0} is on no link of this interface; set a gateway")]
    NoGateway(IpAddr),
    /// Too many next hops are being asked for.
    #[error("{0} cannot be asked for: too many next hops do not answer")]
    Full(IpAddr),
}

/// What has become of frames and packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// Frames that were given to [`Interface::receive`].
    pub frames: u64,
    /// Segments of TCP.
    pub segments: u64,
    /// Packets that were too big elsewhere.
    pub too_big: u64,
    /// ARP and NDP, questions and answers.
    pub resolution: u64,
    /// Echo requests that were answered.
    pub echoes: u64,
    /// Frames that are shorter than they say.
    pub short: u64,
    /// Frames for other stations.
    pub other_mac: u64,
    /// Frames of other VLANs.
    pub other_vlan: u64,
    /// Frames of other types, packets of other protocols, ICMP of other kinds.
    pub other_protocol: u64,
    /// Packets for other addresses, or from what is no host.
    pub other_address: u64,
    /// Wrong checksums.
    pub bad_checksum: u64,
    /// Fragments.
    pub fragments: u64,
    /// Packets that were put together from them.
    pub reassembled: u64,
    /// Packets that were not: a fragment did not come in time, contradicted another one, or others
    /// took their place.
    pub unfinished: u64,
    /// Packets with IPv6 extension headers.
    pub extensions: u64,
    /// Reports of a size that cannot be, or of what this interface did not send.
    pub bad_reports: u64,
    /// Somebody else uses an address of the interface.
    pub conflicts: u64,
    /// Packets whose next hop did not answer, or that waited longest behind too many.
    pub unresolved: u64,
    /// Frames that found [`FRAMES_MAX`] waiting.
    pub full: u64,
    /// Next hops that were forgotten for another one, as 512 are known or asked for at most: the
    /// one that was not used for longest.
    pub hops_forgotten: u64,
    /// Times that a next hop found no place, as packets wait for every one of them:
    /// [`Unroutable::Full`], or a station that spoke to this one was not entered.
    pub hops_full: u64,
}

/// An interface.
#[derive(Debug)]
pub struct Interface {
    settings: Settings,
    neighbours: Neighbours,
    fragments: Fragments,
    frames: VecDeque<Vec<u8>>,
    counts: InterfaceCounts,
}

impl Interface {
    /// # Errors
    /// What is wrong with `settings`.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            neighbours: Neighbours::default(),
            fragments: Fragments::default(),
            frames: VecDeque::new(),
            counts: InterfaceCounts::default(),
        })
    }

    /// What it is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What has become of frames and packets.
    pub fn counts(&self) -> InterfaceCounts {
        let hops = self.neighbours.counts();
        InterfaceCounts {
            hops_forgotten: hops.forgotten,
            hops_full: hops.full,
            ..self.counts
        }
    }

    /// A frame without FCS; what is in it for connections.
    pub fn receive<'a>(&mut self, frame: &'a [u8], now: u64) -> Option<Arrived<'a>> {
        self.counts.frames += 1;
        let (kind, packet) = match link::read(&self.settings, frame) {
            Ok(read) => read,
            Err(not_ours) => {
                *match not_ours {
                    NotOurs::Short => &mut self.counts.short,
                    NotOurs::Mac => &mut self.counts.other_mac,
                    NotOurs::Vlan => &mut self.counts.other_vlan,
                } += 1;
                return None;
            }
        };
        match kind {
            EthernetProtocol::Arp => self.receive_arp(packet, now),
            EthernetProtocol::Ipv4 => return self.receive_v4(packet, now),
            EthernetProtocol::Ipv6 => return self.receive_v6(packet, now),
            EthernetProtocol::Unknown(_) => self.counts.other_protocol += 1,
        }
        None
    }

    /// The next frame to be sent.
    pub fn poll(&mut self, now: u64) -> Option<Vec<u8>> {
        while let Some(question) = self.neighbours.ask(now, &mut self.counts.unresolved) {
            self.ask(question);
        }
        self.frames.pop_front()
    }

    /// When [`Interface::poll`] has something to do, if nothing else happens.
    pub fn deadline(&self) -> Option<u64> {
        match self.frames.is_empty() {
            true => self.neighbours.deadline(),
            false => Some(0),
        }
    }

    /// Send an IP packet to `to`, at once or once its next hop is known.
    ///
    /// # Errors
    /// It can go nowhere.
    pub fn send(&mut self, packet: Vec<u8>, to: IpAddr, now: u64) -> Result<(), Unroutable> {
        let hop = self.next_hop(to)?;
        match self.neighbours.resolve(hop, now) {
            Hop::Known(mac) => self.push(mac, protocol_of(to), &packet),
            Hop::Asked => {
                let dropped = self.neighbours.wait(hop, packet);
                self.counts.unresolved += u64::from(dropped.is_some());
            }
            Hop::Full => return Err(Unroutable::Full(to)),
        }
        Ok(())
    }

    /// The Ethernet header of packets to `to`, if its next hop is known; else it is asked for, and
    /// the caller keeps its packets.
    ///
    /// # Errors
    /// They can go nowhere.
    pub fn header(&mut self, to: IpAddr, now: u64) -> Result<Option<LinkHeader>, Unroutable> {
        let hop = self.next_hop(to)?;
        match self.neighbours.resolve(hop, now) {
            Hop::Known(mac) => {
                let header = LinkHeader::new(&self.settings, mac, protocol_of(to));
                Ok(Some(header))
            }
            Hop::Asked => Ok(None),
            Hop::Full => Err(Unroutable::Full(to)),
        }
    }

    fn next_hop(&self, to: IpAddr) -> Result<IpAddr, Unroutable> {
        let settings = &self.settings;
        if !is_host(to) || settings.is_own(to) || settings.is_broadcast(to) {
            return Err(Unroutable::Address(to));
        }
        if settings.is_on_link(to) {
            return Ok(to);
        }
        let is_family = |gateway: &&IpAddr| gateway.is_ipv4() == to.is_ipv4();
        let gateway = settings.gateways.iter().find(is_family);
        gateway.copied().ok_or(Unroutable::NoGateway(to))
    }

    /// A frame to `mac`, for [`Interface::poll`].
    fn push(&mut self, mac: Mac, kind: EthernetProtocol, packet: &[u8]) {
        if self.frames.len() < FRAMES_MAX {
            let frame = link::frame(&self.settings, mac, kind, packet);
            self.frames.push_back(frame);
        } else {
            self.counts.full += 1;
        }
    }

    fn ask(&mut self, question: Question) {
        let Some(source) = self.settings.source_for(question.address) else {
            return;
        };
        let own = self.settings.mac;
        match (source, question.address) {
            (IpAddr::V4(source), IpAddr::V4(target)) => {
                let request = ArpOperation::Request;
                let packet = answers::arp(request, (own, source), None, target);
                let to = question.to.unwrap_or(BROADCAST);
                self.push(to, EthernetProtocol::Arp, &packet);
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => {
                let is_known = question.to.is_some();
                let (group, packet) = answers::solicit((own, source), target, is_known);
                let to = question.to.unwrap_or_else(|| group_mac(group));
                self.push(to, EthernetProtocol::Ipv6, &packet);
            }
            _ => {}
        }
    }

    /// `address` has said that it is at `mac`: what waited for it leaves.
    fn learn(&mut self, address: IpAddr, mac: Mac, now: u64, speaks_to_us: bool) {
        for packet in self.neighbours.learn(address, mac, now, speaks_to_us) {
            self.push(mac, protocol_of(address), &packet);
        }
    }
}

/// The type of frames that hold packets to `address`.
fn protocol_of(address: IpAddr) -> EthernetProtocol {
    match address {
        IpAddr::V4(_) => EthernetProtocol::Ipv4,
        IpAddr::V6(_) => EthernetProtocol::Ipv6,
    }
}

#[cfg(test)]
mod tests;
