//! ARP (RFC 826, RFC 5227 section 2.4).

use super::super::answers;
use super::super::settings::is_host;
use super::Interface;
use smoltcp::wire::{ArpOperation, ArpPacket, ArpRepr, EthernetProtocol};
use std::net::IpAddr;

impl Interface {
    /// Learn who asks or answers, and answer.
    pub(super) fn receive_arp(&mut self, packet: &[u8], now: u64) {
        let parsed = ArpPacket::new_checked(packet);
        let Ok(ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: mac,
            source_protocol_addr: from,
            target_protocol_addr: to,
            ..
        }) = parsed.and_then(|packet| ArpRepr::parse(&packet))
        else {
            self.counts.short += 1;
            return;
        };
        self.counts.resolution += 1;
        if self.settings.is_own(IpAddr::V4(from)) {
            self.counts.conflicts += u64::from(mac.0 != self.settings.mac);
            return;
        }
        let is_for_us = self.settings.is_own(IpAddr::V4(to));
        let is_neighbour = is_host(from.into()) && self.settings.is_on_link(from.into());
        if is_neighbour && mac.is_unicast() {
            self.learn(from.into(), mac.0, now, is_for_us);
        }
        // Who asks from no address looks whether ours is free (RFC 5227 section 2.1.1).
        if is_for_us && operation == ArpOperation::Request && mac.is_unicast() {
            let own = (self.settings.mac, to);
            let reply = answers::arp(ArpOperation::Reply, own, Some(mac.0), from);
            self.push(mac.0, EthernetProtocol::Arp, &reply);
        }
    }
}
