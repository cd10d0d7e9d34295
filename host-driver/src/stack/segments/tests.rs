use super::super::settings::{AddressPrefix, Settings};
use super::super::{Arrived, Interface};
use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_tcp::SackBlocks;
use smoltcp::wire::EthernetProtocol;

const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

fn address(is_v6: bool, host: u8) -> IpAddr {
    match is_v6 {
        true => std::net::Ipv6Addr::new(0xfd00, 0xffff, 1, 0, 0, 0, 0xfffe, host.into()).into(),
        false => [10, 255, 0, host].into(),
    }
}

/// End 1 of a link, or end 2.
fn settings(vlan: Option<u16>, host: u8) -> Settings {
    let prefix = |is_v6, bits| AddressPrefix {
        address: address(is_v6, host),
        bits,
    };
    Settings {
        mac: MACS[usize::from(host) - 1],
        addresses: vec![prefix(false, 24), prefix(true, 64)],
        gateways: vec![],
        vlan,
        mtu_octets: 9_000,
    }
}

/// What the device does for a frame (RFC 1071): the sum from `start` on, inverted, at `place`.
fn insert(frame: &mut [u8], checksum: InsertChecksum) {
    let mut sum = 0;
    for pair in frame[checksum.start..].chunks(2) {
        sum += u64::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    frame[checksum.place..checksum.place + 2].copy_from_slice(&(!sum as u16).to_be_bytes());
}

fn head(random: &mut ChaCha8Rng) -> Head {
    let mut sack = SackBlocks::default();
    let is_syn = random.random_bool(0.3);
    for _ in 0..if is_syn {
        0
    } else {
        random.random_range(0..=4)
    } {
        sack.push(SeqNumber(random.random()), SeqNumber(random.random()));
    }
    let has_ack = random.random();
    Head {
        seq: SeqNumber(random.random()),
        ack: SeqNumber(if has_ack { random.random() } else { 0 }),
        flags: Flags {
            syn: is_syn,
            ack: has_ack,
            fin: random.random(),
            rst: random.random(),
            psh: random.random(),
        },
        window: random.random(),
        options: Options {
            mss: is_syn.then(|| random.random()),
            window_shift: (is_syn && random.random()).then(|| random.random_range(0..=14)),
            sack_permitted: is_syn && random.random(),
            sack,
        },
    }
}

/// Whatever a connection sends, the other end's interface, which checks every sum, reads as it was.
#[test]
fn segments_arrive_as_they_were_sent() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for round in 0..20_000 {
        let vlan = [None, Some(1), Some(4_094)][round % 3];
        let is_v6 = random.random();
        let ends = Ends {
            own: (address(is_v6, 1), random.random_range(1..=u16::MAX)).into(),
            peer: (address(is_v6, 2), random.random_range(1..=u16::MAX)).into(),
        };
        let kind = if is_v6 {
            EthernetProtocol::Ipv6
        } else {
            EthernetProtocol::Ipv4
        };
        let link = LinkHeader::new(&settings(vlan, 1), MACS[1], kind);
        let head = head(&mut random);
        let payload: Vec<u8> = (0..random.random_range(0..80))
            .map(|_| random.random())
            .collect();
        let header = SegmentHeader::new(&link, &ends, &head, payload.len()).expect("it fits");
        let mut frame = [header.octets(), &payload].concat();
        insert(&mut frame, header.checksum());
        let mut other = Interface::new(settings(vlan, 2)).expect("it can be");
        let arrived = other.receive(&frame, 0);
        let Some(Arrived::Tcp { from, to, segment }) = arrived else {
            panic!("round {round}: {arrived:?}, {:?}", other.counts());
        };
        let (found, segment) = read(from, to, &segment).expect("it is whole");
        let turned = Ends {
            own: ends.peer,
            peer: ends.own,
        };
        assert_eq!(found, turned, "round {round}");
        assert_eq!(
            (segment.head, segment.payload),
            (head, &payload[..]),
            "round {round}"
        );
    }
}

#[test]
fn what_is_no_packet_is_refused() {
    let ends = |own: bool, peer: bool| Ends {
        own: (address(own, 1), 1).into(),
        peer: (address(peer, 2), 1).into(),
    };
    let link = LinkHeader::new(&settings(None, 1), MACS[1], EthernetProtocol::Ipv4);
    let head = Head::default();
    let fits = |ends: Ends, octets| SegmentHeader::new(&link, &ends, &head, octets).is_some();
    assert!(!fits(ends(true, false), 0) && !fits(ends(false, true), 0));
    assert!(fits(ends(false, false), 65_535 - 40) && !fits(ends(false, false), 65_536 - 40));
    assert!(fits(ends(true, true), 65_535 - 20) && !fits(ends(true, true), 65_536 - 20));
}

/// Every length of a header, of options and of a segment: read, or refused with what is wrong.
#[test]
fn headers_that_lie_are_refused() {
    let mut octets = [0_u8; 60];
    octets[1] = 1;
    octets[3] = 1;
    let [from, to] = [address(false, 1), address(false, 2)];
    for length in 0..=octets.len() {
        for words in 0..16 {
            octets[12] = words << 4;
            let header_octets = usize::from(words) * 4;
            let is_whole = length >= 20 && header_octets >= 20 && header_octets <= length;
            let found = read(from, to, &octets[..length]);
            assert_eq!(found.is_ok(), is_whole, "{length}, {words}: {found:?}");
        }
    }
    octets[12] = 6 << 4;
    octets[20..24].copy_from_slice(&[2, 5, 0, 0]);
    assert!(matches!(
        read(from, to, &octets),
        Err(SegmentError::Options(_))
    ));
    octets[12] = 5 << 4;
    for port in [1, 3] {
        let mut without = octets;
        without[port] = 0;
        assert_eq!(read(from, to, &without), Err(SegmentError::Port));
    }
}
