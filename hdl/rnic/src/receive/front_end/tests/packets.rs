//! Frames for the front end's tests, built by a foreign library.
use etherparse::{
    IpHeaders, Ipv4Header, Ipv4Options, Ipv6Header, PacketBuilder, TcpHeader, VlanId,
};
use rnic_hdl_tools::testkit::Random;

/// The shape of a TCP frame; everything else is random.
#[derive(Copy, Clone, Debug)]
pub struct Shape {
    /// VLAN tags, 0 to 2.
    pub tags: usize,
    /// Octets of IPv4 options (a multiple of 4 up to 40), or IPv6.
    pub ipv4_options: Option<usize>,
    /// Octets of TCP options, a multiple of 4 up to 40.
    pub tcp_options: usize,
    /// Octets of payload.
    pub payload: usize,
}

/// `count` random octets.
pub fn octets(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.bits() as u8).collect()
}

fn array<const N: usize>(random: &mut Random) -> [u8; N] {
    std::array::from_fn(|_| random.bits() as u8)
}

/// A frame of `shape`, with correct checksums, padded with random octets to 60.
pub fn tcp_frame(random: &mut Random, shape: Shape) -> Vec<u8> {
    let ip = match shape.ipv4_options {
        Some(options) => {
            let mut header = Ipv4Header::new(0, 64, 6.into(), array(random), array(random))
                .expect("an empty payload fits");
            header.options = Ipv4Options::try_from(&octets(random, options)[..])
                .expect("a multiple of 4 up to 40");
            header.identification = random.bits() as u16;
            IpHeaders::Ipv4(header, Default::default())
        }
        None => {
            let header = Ipv6Header {
                traffic_class: random.bits() as u8,
                hop_limit: random.bits() as u8,
                source: array(random),
                destination: array(random),
                ..Default::default()
            };
            IpHeaders::Ipv6(header, Default::default())
        }
    };
    let mut tcp = TcpHeader::new(
        random.bits() as u16,
        random.bits() as u16,
        random.bits() as u32,
        random.bits() as u16,
    );
    tcp.acknowledgment_number = random.bits() as u32;
    tcp.urgent_pointer = random.bits() as u16;
    let flags = [
        &mut tcp.fin,
        &mut tcp.syn,
        &mut tcp.rst,
        &mut tcp.psh,
        &mut tcp.ack,
        &mut tcp.urg,
    ];
    for flag in flags {
        *flag = random.chance(1, 2);
    }
    let mut options = octets(random, shape.tcp_options);
    if options.len() >= 4 && random.chance(1, 2) {
        options[..4].copy_from_slice(&[1, 1, 8, 10]);
    }
    tcp.set_options_raw(&options)
        .expect("a multiple of 4 up to 40");
    let mut identifier = || VlanId::try_new(random.below(4096) as u16).expect("12 bits");
    let (outer, inner) = (identifier(), identifier());
    let link = PacketBuilder::ethernet2(array(random), array(random));
    let network = match shape.tags {
        0 => link.ip(ip),
        1 => link.single_vlan(outer).ip(ip),
        _ => link.double_vlan(outer, inner).ip(ip),
    };
    let payload = octets(random, shape.payload);
    let mut frame = Vec::new();
    network
        .tcp_header(tcp)
        .write(&mut frame, &payload)
        .expect("a vector takes everything");
    let padding = 60usize.saturating_sub(frame.len());
    frame.extend(octets(random, padding));
    frame
}

/// A random shape.
pub fn shape(random: &mut Random) -> Shape {
    Shape {
        tags: random.below(3) as usize,
        ipv4_options: random
            .chance(2, 3)
            .then(|| 4 * random.below(11) as usize * usize::from(random.chance(1, 2))),
        tcp_options: 4 * random.below(11) as usize,
        payload: random.below(101) as usize,
    }
}

/// Offset of the network layer in a frame of `tcp_frame`.
pub fn network_offset(frame: &[u8]) -> usize {
    let tag = |at: usize| matches!(frame[at..at + 2], [0x81, 0x00] | [0x88, 0xa8]);
    match (tag(12), tag(16)) {
        (false, _) => 14,
        (true, false) => 18,
        (true, true) => 22,
    }
}

/// Corrects the IPv4 header checksum of `frame`.
pub fn mend_ipv4_checksum(frame: &mut [u8]) {
    let at = network_offset(frame);
    let end = at + usize::from(frame[at] & 15) * 4;
    frame[at + 10..at + 12].fill(0);
    let mut sum: u32 = frame[at..end]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[at + 10..at + 12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
