//! EtherTypes after no, one and two VLAN tags.
use super::super::*;
use crate::receive::front_end::testing::{link, stored};
use rnic_hdl_tools::testkit::{simulate, Random};

/// The link read of a frame with these type fields, two cycles after its last beat.
fn read<const W: usize, const L: usize>(types: &[u16]) -> LinkInfo {
    let mut random = Random::from_environment();
    let mut frame: Vec<u8> = (0..80).map(|_| random.bits() as u8).collect();
    for (tag, ether_type) in types.iter().enumerate() {
        frame[12 + 4 * tag..][..2].copy_from_slice(&ether_type.to_be_bytes());
    }
    let mut uut = simulate!(EthernetParser::<W, L>::default());
    // The frame before must not shine through.
    let before = [&frame[..12], &[0x88, 0xa8, 0, 0, 0x81, 0, 0, 0, 8, 0]].concat();
    for frame in [before, frame] {
        for (control, data) in stored::<W>(&frame, &mut random) {
            uut.control_in.next = control;
            uut.data_in.next = data;
            uut.tick();
        }
    }
    uut.control_in.next = FrameControl::default();
    uut.tick();
    assert!(uut.control.val().end);
    uut.link.val()
}

fn tags_and_types<const W: usize, const L: usize>() {
    let tags: [&[u16]; 5] = [
        &[],
        &[0x8100],
        &[0x88a8],
        &[0x88a8, 0x8100],
        &[0x8100, 0x88a8],
    ];
    for types in tags {
        for (ipv6, ether_type) in [(false, 0x0800), (true, 0x86dd)] {
            let read = read::<W, L>(&[types, &[ether_type][..]].concat());
            assert_eq!(
                read,
                link(types.len() as u64, ipv6),
                "{types:x?} {ether_type:x}"
            );
        }
        for other in [0x0806, 0x0801, 0x88dd, 0x86dc] {
            let read = read::<W, L>(&[types, &[other][..]].concat());
            assert!(!read.ipv4 && !read.ipv6, "{types:x?} {other:x}");
        }
    }
    let three = read::<W, L>(&[0x88a8, 0x8100, 0x8100, 0x0800]);
    assert!(!three.ipv4 && !three.ipv6, "a third tag is no type we know");
}

#[test]
fn skips_tags_and_reads_the_type() {
    tags_and_types::<64, 2>();
    tags_and_types::<128, 4>();
    tags_and_types::<512, 16>();
}
