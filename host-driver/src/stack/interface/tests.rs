use super::super::settings::{AddressPrefix, MTU_OCTETS_MIN, MTU_OCTETS_MIN_V6};
use super::*;
use etherparse::{icmpv4, Icmpv4Type, Icmpv6Type, PacketBuilder};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod peer;

const MAC: Mac = [2, 0, 0, 0, 0, 1];
const OTHER: Mac = [2, 0, 0, 0, 0, 2];
const OWN_V4: [u8; 4] = [10, 0, 0, 1];
const OTHER_V4: [u8; 4] = [10, 0, 0, 2];

fn v6(last: u16) -> [u8; 16] {
    std::net::Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last).octets()
}

fn settings() -> Settings {
    let prefix = |address: IpAddr, bits| AddressPrefix { address, bits };
    Settings {
        mac: MAC,
        addresses: vec![prefix(OWN_V4.into(), 24), prefix(v6(1).into(), 64)],
        gateways: vec![[10, 0, 0, 254].into(), v6(254).into()],
        vlan: None,
        mtu_octets: 1_500,
    }
}

fn interface() -> Interface {
    Interface::new(settings()).expect("it can be")
}

/// All frames that it sends at `now`.
fn sent(interface: &mut Interface, now: u64) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| interface.poll(now)).collect()
}

/// An ARP packet in a frame (RFC 826).
fn arp(to: Mac, operation: u8, from: (Mac, [u8; 4]), target: (Mac, [u8; 4])) -> Vec<u8> {
    let mut frame = [&to[..], &from.0, &[8, 6, 0, 1, 8, 0, 6, 4, 0, operation]].concat();
    for (mac, address) in [from, target] {
        frame.extend(mac);
        frame.extend(address);
    }
    frame
}

fn tcp_v4(payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(OTHER, MAC).ipv4(OTHER_V4, OWN_V4, 64);
    let builder = builder.tcp(4_000, 5_000, 7, 1_000).ack(9);
    let mut frame = Vec::new();
    builder
        .write(&mut frame, payload)
        .expect("memory takes all");
    frame
}

fn tcp_v6(payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(OTHER, MAC).ipv6(v6(2), v6(1), 64);
    let builder = builder.tcp(4_000, 5_000, 7, 1_000).ack(9);
    let mut frame = Vec::new();
    builder
        .write(&mut frame, payload)
        .expect("memory takes all");
    frame
}

#[test]
fn requests_for_own_addresses_are_answered() {
    let mut interface = interface();
    let request = arp(BROADCAST, 1, (OTHER, OTHER_V4), ([0; 6], OWN_V4));
    assert_eq!(interface.receive(&request, 0), None);
    let reply = arp(OTHER, 2, (MAC, OWN_V4), (OTHER, OTHER_V4));
    assert_eq!(sent(&mut interface, 0), [reply]);
    // Who asked is known now, and needs no question.
    let packet = vec![0x45; 40];
    assert_eq!(interface.send(packet.clone(), OTHER_V4.into(), 1), Ok(()));
    let frame = [&OTHER[..], &MAC, &[8, 0], &packet].concat();
    assert_eq!(sent(&mut interface, 1), [frame]);
    let for_another = arp(BROADCAST, 1, (OTHER, OTHER_V4), ([0; 6], [10, 0, 0, 3]));
    assert_eq!(interface.receive(&for_another, 2), None);
    assert!(sent(&mut interface, 2).is_empty());
    // A probe, from no address (RFC 5227), and somebody who has ours.
    let probe = arp(BROADCAST, 1, (OTHER, [0; 4]), ([0; 6], OWN_V4));
    assert_eq!(interface.receive(&probe, 3), None);
    assert_eq!(
        sent(&mut interface, 3),
        [arp(OTHER, 2, (MAC, OWN_V4), (OTHER, [0; 4]))]
    );
    let conflict = arp(BROADCAST, 1, (OTHER, OWN_V4), ([0; 6], OWN_V4));
    assert_eq!(interface.receive(&conflict, 4), None);
    assert!(sent(&mut interface, 4).is_empty());
    assert_eq!(interface.counts().conflicts, 1);
}

#[test]
fn packets_wait_for_their_next_hop() {
    let mut interface = interface();
    for (to, hop) in [([10, 0, 0, 9], 9), ([8, 8, 8, 8], 254)] {
        let packets: Vec<Vec<u8>> = (0..3).map(|n| vec![n; 40]).collect();
        for packet in &packets {
            assert_eq!(interface.send(packet.clone(), to.into(), 0), Ok(()));
        }
        assert_eq!(interface.header(to.into(), 0), Ok(None));
        let question = arp(BROADCAST, 1, (MAC, OWN_V4), ([0; 6], [10, 0, 0, hop]));
        assert_eq!(sent(&mut interface, 0), [question]);
        let mac = [2, 0, 0, 0, 1, hop];
        let answer = arp(MAC, 2, (mac, [10, 0, 0, hop]), (MAC, OWN_V4));
        assert_eq!(interface.receive(&answer, 1), None);
        let header = [&mac[..], &MAC, &[8, 0]].concat();
        let frames: Vec<_> = packets
            .iter()
            .map(|packet| [&header[..], packet].concat())
            .collect();
        assert_eq!(sent(&mut interface, 1), frames);
        let found = interface.header(to.into(), 1).expect("it is near");
        assert_eq!(found.expect("it has answered").octets(), header);
    }
    for to in [
        "10.0.0.1",
        "10.0.0.255",
        "224.0.0.1",
        "127.0.0.1",
        "0.0.0.0",
        "::1",
        "ff02::1",
    ] {
        let to = to.parse().expect("an address");
        assert_eq!(interface.send(vec![], to, 1), Err(Unroutable::Address(to)));
    }
    interface.settings.gateways.clear();
    let far = [8, 8, 8, 8].into();
    assert_eq!(
        interface.send(vec![], far, 1),
        Err(Unroutable::NoGateway(far))
    );
}

#[test]
fn frames_that_wait_are_limited() {
    let mut interface = interface();
    interface.learn(OTHER_V4.into(), OTHER, 0, true);
    for _ in 0..FRAMES_MAX + 3 {
        assert_eq!(interface.send(vec![1; 40], OTHER_V4.into(), 0), Ok(()));
    }
    assert_eq!(interface.deadline(), Some(0));
    assert_eq!(sent(&mut interface, 0).len(), FRAMES_MAX);
    assert_eq!(interface.counts().full, 3);
    assert_eq!(interface.deadline(), None);
}

/// A segment with any bit flipped is not delivered as another one, and no flip goes uncounted.
#[test]
fn no_flipped_bit_of_a_segment_arrives() {
    for frame in [tcp_v4(b"octets"), tcp_v6(b"octets")] {
        let whole = interface().receive(&frame, 0);
        let Some(Arrived::Tcp {
            from,
            to,
            ref segment,
        }) = whole
        else {
            panic!("{whole:?}");
        };
        assert!(from.is_ipv4() == to.is_ipv4() && segment.ends_with(b"octets"));
        for bit in 0..8 * frame.len() {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let mut interface = interface();
            let arrived = interface.receive(&flipped, 0);
            // The source MAC, traffic class, flow label and hop limit of IPv6 are in no sum.
            let is_in_no_sum = arrived == whole;
            assert!(arrived.is_none() || is_in_no_sum, "bit {bit}: {arrived:?}");
            let counts = interface.counts();
            let counted = counts.short
                + counts.other_mac
                + counts.other_vlan
                + counts.other_protocol
                + counts.other_address
                + counts.bad_checksum
                + counts.fragments
                + counts.extensions;
            assert_eq!(counted, u64::from(!is_in_no_sum), "bit {bit}: {counts:?}");
        }
    }
}

/// The packet of a frame in two fragments of an IPv4 packet, or with IPv6 fragment headers.
fn fragments(frame: &[u8], is_v6: bool) -> [Vec<u8>; 2] {
    let (link, packet) = frame.split_at(14);
    let header_octets = if is_v6 { 40 } else { 20 };
    let (header, payload) = packet.split_at(header_octets);
    let cut = 16;
    [
        (0, true, &payload[..cut]),
        (cut as u16, false, &payload[cut..]),
    ]
    .map(|(at, more, part)| {
        let mut packet = header.to_vec();
        if is_v6 {
            packet[4..6].copy_from_slice(&(part.len() as u16 + 8).to_be_bytes());
            packet[6] = 44;
            let place = (at | u16::from(more)).to_be_bytes();
            packet.extend_from_slice(&[6, 0, place[0], place[1], 0, 0, 0, 9]);
        }
        packet.extend_from_slice(part);
        if !is_v6 {
            let mut view = smoltcp::wire::Ipv4Packet::new_unchecked(&mut packet);
            view.set_total_len((header_octets + part.len()) as u16);
            view.set_ident(9);
            view.set_dont_frag(false);
            view.set_more_frags(more);
            view.set_frag_offset(at);
            view.fill_checksum();
        }
        [link, &packet].concat()
    })
}

/// MPA-064: a segment in fragments arrives as it was sent.
#[test]
fn a_segment_in_fragments_is_put_together() {
    for (frame, is_v6) in [
        (tcp_v4(b"octets of it"), false),
        (tcp_v6(b"octets of it"), true),
    ] {
        let whole = interface().receive(&frame, 0);
        let mut interface = interface();
        let [first, last] = fragments(&frame, is_v6);
        assert_eq!(interface.receive(&last, 0), None);
        assert_eq!(interface.receive(&first, 1), whole);
        let counts = interface.counts();
        assert_eq!(
            (counts.fragments, counts.reassembled, counts.unfinished),
            (2, 1, 0)
        );
    }
}

#[test]
fn vlans_are_kept_apart() {
    let plain = tcp_v4(b"x");
    let tagged = |id: u16| {
        let mut frame = plain.clone();
        frame.splice(12..12, [0x81, 0, (id >> 8) as u8 | 0xe0, id as u8]);
        frame
    };
    let receives = |vlan: Option<u16>, frame: &[u8]| {
        let mut interface = Interface::new(Settings { vlan, ..settings() }).expect("it can be");
        let arrived = interface.receive(frame, 0).is_some();
        assert_eq!(interface.counts().other_vlan, u64::from(!arrived));
        arrived
    };
    assert!(receives(None, &plain) && receives(None, &tagged(0)));
    assert!(!receives(None, &tagged(5)) && !receives(Some(5), &plain));
    assert!(receives(Some(5), &tagged(5)) && receives(Some(4_094), &tagged(4_094)));
    assert!(!receives(Some(5), &tagged(4)) && !receives(Some(5), &tagged(0)));
    let mut interface = Interface::new(Settings {
        vlan: Some(5),
        ..settings()
    })
    .expect("it can be");
    interface.learn(OTHER_V4.into(), OTHER, 0, true);
    let header = [&OTHER[..], &MAC, &[0x81, 0, 0, 5, 8, 0]].concat();
    let found = interface.header(OTHER_V4.into(), 0).expect("it is near");
    assert_eq!(found.expect("it is known").octets(), header);
}

/// A report of a smaller MTU: `mtu`, about a packet from `from`.
fn too_big_v4(mtu: u16, from: [u8; 4]) -> Vec<u8> {
    let mut packet = Vec::new();
    let inner = PacketBuilder::ipv4(from, [8, 8, 8, 8], 64).tcp(5_000, 4_000, 0x0102_0304, 9);
    inner
        .write(&mut packet, b"payload")
        .expect("memory takes all");
    packet.truncate(28);
    let kind = icmpv4::DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: mtu };
    let builder = PacketBuilder::ethernet2(OTHER, MAC).ipv4([10, 0, 0, 254], OWN_V4, 64);
    let mut frame = Vec::new();
    let report = builder.icmpv4(Icmpv4Type::DestinationUnreachable(kind));
    report.write(&mut frame, &packet).expect("memory takes all");
    frame
}

fn too_big_v6(mtu: u32, from: [u8; 16]) -> Vec<u8> {
    let mut packet = Vec::new();
    let inner = PacketBuilder::ipv6(from, v6(0x99), 64).tcp(5_000, 4_000, 0x0102_0304, 9);
    inner
        .write(&mut packet, b"payload")
        .expect("memory takes all");
    let builder = PacketBuilder::ethernet2(OTHER, MAC).ipv6(v6(254), v6(1), 64);
    let mut frame = Vec::new();
    let report = builder.icmpv6(Icmpv6Type::PacketTooBig { mtu });
    report.write(&mut frame, &packet).expect("memory takes all");
    frame
}

/// RFC 1191 section 3, RFC 8201 section 4: never below the smallest MTU, never above the own one,
/// and only about what this interface sent.
#[test]
fn smaller_mtus_are_taken_within_their_range() {
    let header = [0x13, 0x88, 0x0f, 0xa0, 1, 2, 3, 4];
    let [least_v4, least_v6] = [MTU_OCTETS_MIN, MTU_OCTETS_MIN_V6];
    let check = |frame: Vec<u8>, expected: Option<Arrived<'_>>| {
        let mut interface = interface();
        assert_eq!(interface.receive(&frame, 0), expected);
        let counts = interface.counts();
        let is_taken = u64::from(expected.is_some());
        assert_eq!(
            (counts.too_big, counts.bad_reports),
            (is_taken, 1 - is_taken)
        );
    };
    for mtu_octets in [least_v4, 1_499] {
        let expected = Arrived::TooBig {
            from: OWN_V4.into(),
            to: [8, 8, 8, 8].into(),
            mtu_octets,
            header,
        };
        check(too_big_v4(mtu_octets, OWN_V4), Some(expected));
    }
    for mtu in [0, 68, least_v4 - 1, 1_500, u16::MAX] {
        check(too_big_v4(mtu, OWN_V4), None);
    }
    // It did not send that.
    check(too_big_v4(1_400, OTHER_V4), None);
    for mtu_octets in [least_v6, 1_499] {
        let expected = Arrived::TooBig {
            from: v6(1).into(),
            to: v6(0x99).into(),
            mtu_octets,
            header,
        };
        check(too_big_v6(mtu_octets.into(), v6(1)), Some(expected));
    }
    for mtu in [0, 1_279, 1_500, 65_536 + 1_400, u32::MAX] {
        check(too_big_v6(mtu, v6(1)), None);
    }
    check(too_big_v6(1_400, v6(3)), None);
}

/// Whatever a peer sends, cut or changed, is counted or answered within the bounds.
#[test]
fn nothing_that_is_malformed_does_harm() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let frames = [
        tcp_v4(b"octets"),
        tcp_v6(b"octets"),
        too_big_v4(1_400, OWN_V4),
        too_big_v6(1_400, v6(1)),
        arp(BROADCAST, 1, (OTHER, OTHER_V4), ([0; 6], OWN_V4)),
    ];
    let mut interface = interface();
    for frame in &frames {
        for octets in 0..frame.len() {
            let before = interface.counts();
            interface.receive(&frame[..octets], 0);
            assert!(interface.counts().frames == before.frames + 1);
        }
    }
    for round in 0..200_000_u64 {
        let mut frame = frames[random.random_range(0..frames.len())].clone();
        for _ in 0..random.random_range(1..8) {
            let at = random.random_range(12..frame.len());
            frame[at] = random.random();
        }
        frame.truncate(random.random_range(14..=frame.len()));
        interface.receive(&frame, round * 1_000);
        assert!(interface.frames.len() <= FRAMES_MAX);
        if round % 100 == 0 {
            sent(&mut interface, round * 1_000);
        }
    }
}
