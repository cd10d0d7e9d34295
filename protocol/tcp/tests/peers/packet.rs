//! Segments in IPv4 packets, by smoltcp's formats.
use rnic_tcp::options::OPTION_OCTETS_MAX;
use rnic_tcp::{Flags, Head, Options, SeqNumber};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IpAddress, IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpPacket, TcpSeqNumber,
};

const IP_OCTETS: usize = 20;
const TCP_OCTETS: usize = 20;

/// Addresses and ports of a connection, as its own end sees them.
#[derive(Copy, Clone, Debug)]
pub struct Ends {
    pub own: (Ipv4Address, u16),
    pub peer: (Ipv4Address, u16),
}

/// A packet with a segment.
pub fn emit(ends: &Ends, head: &Head, payload: &[u8]) -> Vec<u8> {
    let mut options = [0; OPTION_OCTETS_MAX];
    let option_octets = head.options.emit(&mut options);
    let options = &options[..option_octets];
    let header_octets = TCP_OCTETS + options.len();
    let repr = Ipv4Repr {
        src_addr: ends.own.0,
        dst_addr: ends.peer.0,
        next_header: IpProtocol::Tcp,
        payload_len: header_octets + payload.len(),
        hop_limit: 64,
    };
    let mut octets = vec![0; IP_OCTETS + repr.payload_len];
    let mut packet = Ipv4Packet::new_unchecked(&mut octets[..]);
    repr.emit(&mut packet, &ChecksumCapabilities::default());
    let mut segment = TcpPacket::new_unchecked(&mut octets[IP_OCTETS..]);
    segment.set_src_port(ends.own.1);
    segment.set_dst_port(ends.peer.1);
    segment.set_seq_number(TcpSeqNumber(head.seq.0 as i32));
    segment.set_ack_number(TcpSeqNumber(head.ack.0 as i32));
    segment.clear_flags();
    segment.set_header_len(header_octets as u8);
    segment.set_syn(head.flags.syn);
    segment.set_ack(head.flags.ack);
    segment.set_fin(head.flags.fin);
    segment.set_rst(head.flags.rst);
    segment.set_psh(head.flags.psh);
    segment.set_window_len(head.window);
    segment.options_mut().copy_from_slice(options);
    segment.payload_mut().copy_from_slice(payload);
    let (own, peer) = (IpAddress::Ipv4(ends.own.0), IpAddress::Ipv4(ends.peer.0));
    segment.fill_checksum(&own, &peer);
    octets
}

/// The segment of a packet, with the peer's port, if it is one for `own` with good checksums.
pub fn parse(own: (Ipv4Address, u16), octets: &[u8]) -> Option<(u16, Head, Vec<u8>)> {
    let packet = Ipv4Packet::new_checked(octets).ok()?;
    if packet.next_header() != IpProtocol::Tcp || packet.dst_addr() != own.0 {
        return None;
    }
    let segment = TcpPacket::new_checked(packet.payload()).ok()?;
    let (from, to) = (packet.src_addr(), packet.dst_addr());
    let is_good = segment.verify_checksum(&IpAddress::Ipv4(from), &IpAddress::Ipv4(to));
    if !is_good || segment.dst_port() != own.1 {
        return None;
    }
    let flags = Flags {
        syn: segment.syn(),
        ack: segment.ack(),
        fin: segment.fin(),
        rst: segment.rst(),
        psh: segment.psh(),
    };
    let head = Head {
        seq: SeqNumber(segment.seq_number().0 as u32),
        ack: SeqNumber(segment.ack_number().0 as u32),
        flags,
        window: segment.window_len(),
        options: Options::parse(segment.options()).ok()?,
    };
    Some((segment.src_port(), head, segment.payload().to_vec()))
}
