//! One connection takes what it can get: pages, ranges, and the time of every room.

use crate::scene::{pattern, Scene, MSS, OOO_SHARE, REGION_TO, STAG};
use rnic_abi::counters::Counter::*;
use rnic_abi::limits::RANGES_PER_CONNECTION;
use rnic_testbench::docs::security::Answer::Counts;
use rnic_testbench::traffic::frame::{FLAG_ACK, FLAG_RST};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;

/// Pages of a full segment's frame.
const FULL_PAGES: u32 = 6;
/// Full segments that the share of a connection holds, and those that are sent.
const SHARED: u32 = OOO_SHARE / FULL_PAGES;
const OOO_SEGMENTS: u32 = 100;
/// Segments that must go along all ranges, sent without a pause: tcp takes longer over one than the
/// wire takes to bring it, and 16 frames may wait.
const RANGES_AT_ONCE: i64 = 16;

/// The longest FPDU, whole but for its last octet; nothing follows.
fn begin_the_longest_fpdu(scene: &mut Scene) -> usize {
    let header = TaggedRepr {
        control: ControlRepr::new(1, Opcode::RdmaWrite, true),
        stag: STAG,
        to: REGION_TO,
    };
    scene.sender().tagged_segment(&header, &pattern(65535 - 14));
    scene.falls_silent();
    scene.sender().stream().len() - 1
}

attacks! {
    /// MPA-052: more ranges beyond a gap than a connection may have, of one octet each, in bursts
    /// of 16 frames.
    #[test]
    fn ranges_without_end(scene) => Counts(DropTcpNoRange, 100), {
        for range in 0..RANGES_PER_CONNECTION as i64 + 100 {
            let frame = scene.forged(10 + 2 * range, FLAG_ACK, &[1]);
            scene.push(&frame);
            if range % RANGES_AT_ONCE == 0 {
                scene.settle();
            }
        }
        scene.falls_silent();
    }

    /// MPA-052, MPA-062: more octets beyond a gap than a connection's share of packet memory.
    #[test]
    fn pages_beyond_a_gap_without_end(scene) => Counts(DropTcpNoRoom, OOO_SEGMENTS - SHARED), {
        for segment in 0..i64::from(OOO_SEGMENTS) {
            let frame = scene.forged(10 + segment * MSS as i64, FLAG_ACK, &pattern(MSS));
            scene.push(&frame);
        }
        scene.falls_silent();
    }

    /// MPA-062, MPA-042: the longest FPDU there is, without its last octet.
    #[test]
    fn longest_fpdu_without_its_end(scene) => Counts(TcpInOrder, 46), {
        let end = begin_the_longest_fpdu(scene);
        scene.deliver_to(end);
    }

    /// MPA-046, MPA-062: an FPDU in 300 segments of one octet, a page each, that does not end.
    #[test]
    fn segments_of_one_octet(scene) => Counts(TcpInOrder, 300), {
        begin_the_longest_fpdu(scene);
        for octet in 0..300 {
            let frame = scene.segment(octet..octet + 1);
            scene.push(&frame);
        }
    }

    /// RFC 9293 section 3.10.7.4: acknowledgements at the wire's rate.
    #[test]
    fn acknowledgements_without_end(scene) => Counts(TcpPureAck, 1000), {
        let frame = scene.forged(0, FLAG_ACK, &[]);
        (0..1000).for_each(|_| scene.push(&frame));
    }

    /// MPA-038: the same octets again at the wire's rate.
    #[test]
    fn duplicates_without_end(scene) => Counts(DropTcpDuplicate, 500), {
        let frame = scene.forged(-10, FLAG_ACK, &pattern(10));
        (0..500).for_each(|_| scene.push(&frame));
    }

    /// RFC 9293 section 3.10.7.4: segments for the host at the wire's rate.
    #[test]
    fn resets_without_end(scene) => Counts(TcpControl, 200), {
        let frame = scene.forged(0, FLAG_RST, &[]);
        (0..200).for_each(|_| scene.push(&frame));
    }
}
