//! Link types, and blocks of pcapng.

use super::conversation::{assert_whole, frames, kinds, opened, pcap, refused, FRAMES};
use super::conversation::{frame, segments};

const ETHERNET_OCTETS: usize = 14;

/// Packets of a link whose header is `header`, in place of Ethernet's.
fn packets(header: &[u8], is_ipv6: bool) -> Vec<Vec<u8>> {
    let frames = segments()
        .iter()
        .map(|segment| frame(segment, is_ipv6))
        .collect::<Vec<_>>();
    frames
        .iter()
        .map(|frame| [header, &frame[ETHERNET_OCTETS..]].concat())
        .collect()
}

/// Linux cooked v1: type, address type, length and address, protocol.
fn cooked(kind: [u8; 2]) -> Vec<u8> {
    [&[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 8, 0, 0][..], &kind].concat()
}

/// Version 2: protocol, reserved, interface, address type, type, length, address.
fn cooked_v2(kind: [u8; 2]) -> Vec<u8> {
    [
        &kind[..],
        &[0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 0, 0, 0, 0, 8, 0, 0],
    ]
    .concat()
}

#[test]
fn links_without_ethernet_are_played() {
    let (ipv4, ipv6) = ([0x08, 0x00], [0x86, 0xdd]);
    for (link, header, is_ipv6) in [
        (113, cooked(ipv4), false),
        (113, cooked(ipv6), true),
        (276, cooked_v2(ipv4), false),
        (276, cooked_v2(ipv6), true),
        (101, vec![], false),
        (101, vec![], true),
        (12, vec![], false),
        (14, vec![], true),
        (228, vec![], false),
        (229, vec![], true),
        // Address families of BSD and of macOS, in the byte order of the writer.
        (0, vec![2, 0, 0, 0], false),
        (0, vec![0, 0, 0, 2], false),
        (0, vec![30, 0, 0, 0], true),
        (0, vec![24, 0, 0, 0], true),
        (108, vec![0, 0, 0, 2], false),
        (108, vec![0, 0, 0, 28], true),
    ] {
        let opened = opened(pcap(link, &packets(&header, is_ipv6)));
        assert_whole(&opened);
        assert_eq!(kinds(&opened.notes), ["link_header"], "link type {link}");
        assert_eq!(opened.notes[0].count, FRAMES);
    }
}

/// A VLAN tag may follow the protocol of a cooked header.
#[test]
fn tags_after_a_cooked_header_are_kept() {
    let mut header = cooked([0x81, 0x00]);
    header.extend([0, 7, 0x08, 0x00]);
    assert_whole(&opened(pcap(113, &packets(&header, false))));
}

/// A packet that is shorter than the header of its link is left out, and counted.
#[test]
fn packets_without_a_link_header_are_left_out() {
    let mut all = packets(&cooked([0x08, 0x00]), false);
    all.push(vec![0; 15]);
    all.push(Vec::new());
    let opened = opened(pcap(113, &all));
    assert_whole(&opened);
    assert_eq!(kinds(&opened.notes), ["left_out", "link_header"]);
    assert_eq!(opened.notes[0].frames, [8, 9]);
}

/// A packet without octets is no frame.
#[test]
fn empty_packets_are_left_out() {
    let mut all = frames();
    all.insert(3, Vec::new());
    let opened = opened(pcap(1, &all));
    assert_whole(&opened);
    assert_eq!(
        (kinds(&opened.notes), opened.capture.frames),
        (vec!["left_out"], frames())
    );
}

#[test]
fn a_link_that_cannot_be_played_is_named() {
    for (link, name) in [(127, "radiotap"), (105, "802.11"), (999, "no name known")] {
        let words = refused(pcap(link, &frames()));
        assert!(
            words.contains(&format!("{link} (")) && words.contains(name),
            "{words}"
        );
    }
}

/// The link type field of pcap may say how long the FCS is, in units of 16 bits.
#[test]
fn an_fcs_is_left_out_where_the_file_says_that_it_is_there() {
    let with_fcs: Vec<Vec<u8>> = frames()
        .into_iter()
        .map(|frame| [frame, vec![0xde, 0xad, 0xbe, 0xef]].concat())
        .collect();
    let link = 1 | 1 << 26 | 2 << 28;
    let opened = opened(pcap(link, &with_fcs));
    assert_whole(&opened);
    assert_eq!(opened.capture.frames, frames());
    // Without the bit the length means nothing, and the octets are a trailer.
    let opened = super::conversation::opened(pcap(1 | 2 << 28, &with_fcs));
    assert_whole(&opened);
    assert_eq!(opened.capture.frames, with_fcs);
}

/// A writer of pcapng blocks.
struct Blocks {
    octets: Vec<u8>,
    is_big_endian: bool,
}

impl Blocks {
    fn new(is_big_endian: bool) -> Self {
        let mut blocks = Self {
            octets: Vec::new(),
            is_big_endian,
        };
        blocks.section();
        blocks
    }

    fn section(&mut self) {
        let order = self.word(0x1a2b_3c4d);
        let version = [self.half(1), self.half(0)].concat();
        self.block(0x0a0d_0d0a, &[&order[..], &version, &[0xff; 8]].concat());
    }

    fn word(&self, value: u32) -> [u8; 4] {
        match self.is_big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn half(&self, value: u16) -> [u8; 2] {
        match self.is_big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let padding = body.len().next_multiple_of(4) - body.len();
        let octets = self.word((body.len() + padding + 12) as u32);
        let kind = self.word(kind);
        self.octets
            .extend([&kind[..], &octets, body, &vec![0; padding], &octets].concat());
    }

    fn interface(&mut self, link: u16, snap: u32, options: &[u8]) {
        let body = [&self.half(link)[..], &[0; 2], &self.word(snap), options].concat();
        self.block(1, &body);
    }

    fn enhanced(&mut self, interface: u32, packet: &[u8]) {
        let length = self.word(packet.len() as u32);
        let body = [&self.word(interface)[..], &[0; 8], &length, &length, packet].concat();
        self.block(6, &body);
    }

    fn obsolete(&mut self, interface: u16, packet: &[u8]) {
        let length = self.word(packet.len() as u32);
        let head = [self.half(interface), self.half(0)].concat();
        self.block(2, &[&head[..], &[0; 8], &length, &length, packet].concat());
    }

    fn simple(&mut self, original: u32, packet: &[u8]) {
        self.block(3, &[&self.word(original)[..], packet].concat());
    }
}

/// Every block that holds a packet, in both byte orders.
#[test]
fn all_kinds_of_packet_blocks_are_read() {
    for is_big_endian in [false, true] {
        let mut blocks = Blocks::new(is_big_endian);
        blocks.interface(1, 0, &[]);
        for (number, frame) in frames().iter().enumerate() {
            match number % 3 {
                0 => blocks.enhanced(0, frame),
                1 => blocks.obsolete(0, frame),
                _ => blocks.simple(frame.len() as u32, frame),
            }
        }
        let opened = opened(blocks.octets);
        assert_whole(&opened);
        assert_eq!((opened.capture.frames, opened.notes), (frames(), vec![]));
    }
}

/// Blocks that hold no packet are passed over: of every kind that is known and one that is not, of
/// more octets than any packet may have, with contents that mean nothing.
#[test]
fn blocks_without_a_packet_are_passed_over() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, 0, &[]);
    let kinds = [
        4,
        5,
        7,
        8,
        9,
        10,
        0xbad,
        0x4000_0bad,
        0x8000_0001,
        0x5555_5555,
    ];
    for (frame, kind) in frames().iter().zip(kinds.iter().cycle().skip(3)) {
        blocks.block(*kind, &[0xff; 7]);
        blocks.enhanced(0, frame);
    }
    for kind in kinds {
        blocks.block(kind, &[0x5a; 100]);
    }
    blocks.block(10, &vec![7; (16 << 20) + 5]);
    let opened = opened(blocks.octets);
    assert_whole(&opened);
    assert_eq!(opened.notes, []);
}

/// Sections of either byte order may follow each other; interfaces are those of their own section.
#[test]
fn sections_have_interfaces_of_their_own() {
    let (first, second) = (frames()[..3].to_vec(), frames()[3..].to_vec());
    let mut blocks = Blocks::new(false);
    blocks.interface(1, 0, &[]);
    first.iter().for_each(|frame| blocks.enhanced(0, frame));
    blocks.is_big_endian = true;
    blocks.section();
    blocks.interface(101, 0, &[]);
    blocks.interface(1, 0, &[]);
    second.iter().for_each(|frame| blocks.enhanced(1, frame));
    assert_whole(&opened(blocks.octets.clone()));
    blocks.enhanced(2, &frames()[0]);
    let words = refused(blocks.octets);
    assert!(words.contains("frame 8 is of interface 2"), "{words}");
}

/// Of several interfaces those that can be played are; the others are counted by name.
#[test]
fn frames_of_other_interfaces_are_left_out() {
    let mut blocks = Blocks::new(false);
    // Option 2, if_name: "mon\x1b0", of five octets.
    blocks.interface(
        127,
        0,
        &[
            2, 0, 5, 0, b'm', b'o', b'n', 0x1b, b'0', 0, 0, 0, 0, 0, 0, 0,
        ],
    );
    blocks.interface(1, 0, &[]);
    blocks.enhanced(0, &[0; 60]);
    frames().iter().for_each(|frame| blocks.enhanced(1, frame));
    blocks.enhanced(0, &[0; 60]);
    let opened = opened(blocks.octets);
    assert_whole(&opened);
    assert_eq!(kinds(&opened.notes), ["left_out"]);
    let note = &opened.notes[0];
    assert_eq!((note.count, &note.frames[..]), (2, &[1, 9][..]));
    assert!(
        note.text.contains("interface 0 (mon\\u{1b}0)"),
        "{}",
        note.text
    );
    // The frames that are played have the numbers of the file.
    assert_eq!((opened.capture.number(0), opened.capture.number(6)), (2, 8));
    assert_eq!(opened.capture.file_frames(), FRAMES);
}

/// Option 13 of an interface: octets of FCS.
#[test]
fn an_interface_may_say_how_long_its_fcs_is() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, 0, &[13, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
    for frame in frames() {
        blocks.enhanced(0, &[&frame[..], &[1, 2, 3, 4]].concat());
    }
    assert_eq!(opened(blocks.octets).capture.frames, frames());
}

/// A simple packet has the octets that the interface's snap length leaves of it.
#[test]
fn a_simple_packet_ends_at_the_snap_length() {
    let all = frames();
    let longest = all.iter().map(Vec::len).max().expect("there are some") as u32;
    for (snap, is_whole) in [(longest, true), (longest - 1, false)] {
        let mut blocks = Blocks::new(false);
        blocks.interface(1, snap, &[]);
        for frame in &all {
            let captured = frame.len().min(snap as usize);
            blocks.simple(frame.len() as u32, &frame[..captured]);
        }
        match is_whole {
            true => assert_whole(&opened(blocks.octets)),
            false => {
                let words = refused(blocks.octets);
                assert!(
                    words.contains("frame 6") && words.contains("10.7.0.1:40001"),
                    "{words}"
                );
            }
        }
    }
}

/// A packet's block whose packet is longer than it, or whose lengths disagree, is damage: what
/// comes after it cannot be found.
#[test]
fn blocks_that_contradict_themselves_are_damage() {
    let mut good = Blocks::new(false);
    good.interface(1, 0, &[]);
    good.enhanced(0, &frames()[0]);
    let start = good.octets.len();
    good.enhanced(0, &frames()[1]);
    for (at, value) in [(4, 16_u8), (4, 3), (20, 0xff), (22, 0xff)] {
        let mut octets = good.octets.clone();
        octets[start + at] = value;
        let words = refused(octets);
        assert!(
            words.contains("damaged after frame 1"),
            "{at} = {value}: {words}"
        );
    }
}
