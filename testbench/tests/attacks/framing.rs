//! FPDUs that are none: CRC, markers, lengths, versions and opcodes.
//!
//! ```text
//!  octet 0       2         3       4      8     16              117     120
//!  ULPDU_Length, control, opcode, STag, TO,    payload,         PAD,    CRC      a Write
//!                                 STag, QN 8, MSN 12, MO 16, payload 20          a Send
//! ```

use crate::scene::{pattern, Name, Scene, REGION_TO, STAG};
use rnic_abi::errors::StreamError::*;
use rnic_abi::limits::SINGLE_PASS_ULPDU_OCTETS;
use rnic_testbench::docs::security::Answer::Stops;
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;
use rnic_wire::ddp::untagged::UntaggedRepr;

/// Payload octets that leave three octets of PAD in a Write and one in a Send.
const OCTETS: usize = 101;
/// Where the good Write before some attacks goes.
const GOOD_OFFSET: usize = 4000;

/// A Write, to be damaged.
fn write(scene: &mut Scene) {
    scene.sender().rdma_write(STAG, REGION_TO, &pattern(OCTETS));
}

/// A Send, to be damaged.
fn send(scene: &mut Scene) {
    scene.sender().send(&pattern(OCTETS));
}

/// A Write with markers at octets 0, 512 and 1024, to be damaged.
fn marked(scene: &mut Scene) {
    scene.with_markers();
    scene.sender().rdma_write(STAG, REGION_TO, &pattern(1400));
}

/// A good Write before the attack.
fn good(scene: &mut Scene) {
    let to = REGION_TO + GOOD_OFFSET as u64;
    scene.sender().rdma_write(STAG, to, &pattern(9));
    scene.places(Name::Region(STAG), GOOD_OFFSET, &pattern(9));
}

/// Of the only segment of a message.
fn whole(opcode: Opcode) -> ControlRepr {
    ControlRepr::new(1, opcode, true)
}

fn tagged(control: ControlRepr) -> TaggedRepr {
    TaggedRepr {
        control,
        stag: STAG,
        to: REGION_TO,
    }
}

fn untagged(control: ControlRepr, qn: u32) -> UntaggedRepr {
    UntaggedRepr {
        control,
        invalidate_stag: 0,
        qn,
        msn: 1,
        mo: 0,
    }
}

/// An FPDU of zeros beyond a gap, and before it one whose length has `bits` of its high octet
/// wrong. What was placed shows nowhere: the region is zero as well.
fn reach_into_what_was_placed(scene: &mut Scene, bits: u8) {
    marked(scene);
    scene.places(Name::Region(STAG), 0, &pattern(1400));
    scene
        .sender()
        .rdma_write(STAG, REGION_TO + 2000, &pattern(400));
    scene.flip(0, bits);
    let liar_ends = scene.sender().stream().len();
    scene
        .sender()
        .rdma_write(STAG, REGION_TO + 2500, &[0; 1400]);
    let end = scene.sender().stream().len();
    for octets in [liar_ends..end, 0..liar_ends] {
        let frame = scene.segment(octets);
        scene.push(&frame);
        scene.settle();
    }
    scene.refused_unread(1);
    scene.skip_to(end);
}

attacks! {
    /// MPA-054, MPA-058: the first FPDU of a stream has a wrong CRC.
    #[test]
    fn first_fpdu_with_a_wrong_crc(scene) => Stops(MpaCrc), {
        write(scene);
        scene.flip(121, 0x10);
    }

    /// MPA-054: a bit of ULPDU_Length is changed; the octets it asks for come.
    #[test]
    fn crc_bit_in_the_length(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(1, 0x80);
    }

    /// MPA-054: a bit of the DDP control octet is changed, L.
    #[test]
    fn crc_bit_in_the_ddp_control(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(2, 0x40);
    }

    /// MPA-054: a bit of the RDMAP control octet is changed: a Read Response.
    #[test]
    fn crc_bit_in_the_opcode(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(3, 0x02);
    }

    /// MPA-054: a bit of the STag is changed.
    #[test]
    fn crc_bit_in_the_stag(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(6, 0x01);
    }

    /// MPA-054: a bit of the Tagged Offset is changed; the octets would lie inside of the region.
    #[test]
    fn crc_bit_in_the_tagged_offset(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(15, 0x20);
    }

    /// MPA-054: a bit of the payload is changed.
    #[test]
    fn crc_bit_in_the_payload(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(60, 0x01);
    }

    /// MPA-054, MPA-004: a bit of PAD is changed.
    #[test]
    fn crc_bit_in_the_pad(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(118, 0x80);
    }

    /// MPA-054: a bit of the CRC field is changed.
    #[test]
    fn crc_bit_in_the_crc(scene) => Stops(MpaCrc), {
        good(scene);
        write(scene);
        scene.flip(123, 0x01);
    }

    /// MPA-054, RDMAP-006: a bit of the Invalidate STag is changed.
    #[test]
    fn crc_bit_in_the_invalidate_stag(scene) => Stops(MpaCrc), {
        good(scene);
        scene.sender().send_invalidate(STAG ^ 0x100, &pattern(OCTETS));
        scene.flip(6, 0x01);
    }

    /// MPA-054: a bit of the queue number is changed: a Read Request's queue.
    #[test]
    fn crc_bit_in_the_queue_number(scene) => Stops(MpaCrc), {
        good(scene);
        send(scene);
        scene.flip(11, 0x01);
    }

    /// MPA-054: a bit of the message number is changed.
    #[test]
    fn crc_bit_in_the_message_number(scene) => Stops(MpaCrc), {
        good(scene);
        send(scene);
        scene.flip(15, 0x02);
    }

    /// MPA-054: a bit of the message offset is changed.
    #[test]
    fn crc_bit_in_the_message_offset(scene) => Stops(MpaCrc), {
        good(scene);
        send(scene);
        scene.flip(18, 0x01);
    }

    /// MPA-054, MPA-022: a reserved bit of the marker before an FPDU is changed.
    #[test]
    fn crc_bit_in_a_leading_marker(scene) => Stops(MpaCrc), {
        marked(scene);
        scene.flip(0, 0x80);
    }

    /// MPA-054, MPA-021: a bit of a marker inside of an FPDU is changed; the CRC is reported, not
    /// the marker.
    #[test]
    fn crc_bit_in_an_inner_marker(scene) => Stops(MpaCrc), {
        marked(scene);
        scene.flip(515, 0x08);
    }

    /// MPA-055, MPA-010: the marker between two FPDUs is not zero, under a right CRC.
    #[test]
    fn leading_marker_that_is_not_zero(scene) => Stops(MpaMarker), {
        marked(scene);
        scene.flip(3, 0x04);
        scene.reseal();
    }

    /// MPA-055, MPA-009: a marker says that the FPDU begins inside of its own payload, where octets
    /// of the peer's choice stand.
    #[test]
    fn marker_that_points_into_the_payload(scene) => Stops(MpaMarker), {
        marked(scene);
        scene.flip(514, 0x01);
        scene.flip(515, 0xbc);
        scene.reseal();
    }

    /// MPA-055, MPA-015: the last of three markers points one word too far.
    #[test]
    fn last_marker_one_word_off(scene) => Stops(MpaMarker), {
        marked(scene);
        scene.flip(1027, 0x04);
        scene.reseal();
    }

    /// MPA-055, MPA-015: the last marker of an FPDU that opens with none points 512 octets off,
    /// where a marker is due.
    #[test]
    fn last_marker_a_marker_off(scene) => Stops(MpaMarker), {
        scene.with_markers();
        // 36 octets of the stream.
        good(scene);
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(1400));
        scene.flip(1024 - 36 + 2, 0x02);
        scene.reseal();
    }

    /// MPA2-006: a second FPDU without an octet.
    #[test]
    fn zero_length_twice(scene) => Stops(MpaLocalCatastrophic), {
        scene.sender().zero_length_fpdu();
        scene.sender().zero_length_fpdu();
    }

    /// MPA2-006, MPA-005: an FPDU without an octet in the middle of a stream.
    #[test]
    fn zero_length_in_the_middle(scene) => Stops(MpaLocalCatastrophic), {
        good(scene);
        scene.sender().zero_length_fpdu();
    }

    /// MPA-005: a ULPDU of one octet.
    #[test]
    fn one_octet(scene) => Stops(DdpShortHeader), {
        good(scene);
        scene.sender().ulpdu(&[0xc1]);
    }

    /// MPA-005: a tagged header that lacks its last octet.
    #[test]
    fn tagged_header_one_octet_short(scene) => Stops(DdpShortHeader), {
        good(scene);
        let header = tagged(whole(Opcode::RdmaWrite)).octets();
        scene.sender().ulpdu(&header[..13]);
    }

    /// MPA-005: an untagged header that lacks its last octet.
    #[test]
    fn untagged_header_one_octet_short(scene) => Stops(DdpShortHeader), {
        good(scene);
        let header = untagged(whole(Opcode::Send), 0).octets();
        scene.sender().ulpdu(&header[..17]);
    }

    /// MPA-005, DDP-043: the longest ULPDU that is checked and placed in one pass, 9216 octets.
    #[test]
    fn longest_length_of_one_pass(scene) => Stops(DdpBounds), {
        good(scene);
        let header = tagged(whole(Opcode::RdmaWrite));
        scene.sender().tagged_segment(&header, &pattern(SINGLE_PASS_ULPDU_OCTETS - 14));
    }

    /// MPA-005, DDP-043: a ULPDU one octet longer, which its first reading refuses.
    #[test]
    fn one_octet_more_than_one_pass(scene) => Stops(DdpBounds), {
        good(scene);
        let header = tagged(whole(Opcode::RdmaWrite));
        scene.sender().tagged_segment(&header, &pattern(SINGLE_PASS_ULPDU_OCTETS - 13));
    }

    /// MPA-005, MPA-054: the longest ULPDU that the length field can say, with a wrong CRC.
    #[test]
    fn longest_length_with_a_wrong_crc(scene) => Stops(MpaCrc), {
        good(scene);
        let header = tagged(whole(Opcode::RdmaWrite));
        scene.sender().tagged_segment(&header, &pattern(65535 - 14));
        scene.flip(65535, 0x01);
        // While it is read, 8,200 cycles, frames after it fill packet memory: what comes when it
        // is over is of interest here (docs/security.md, "Not built").
        scene.deliver();
        scene.settle();
    }

    /// MPA-055, MPA-045: beyond a gap lies an FPDU that its marker shows; then one comes whose
    /// length reaches into it, and much further.
    #[test]
    fn length_into_an_fpdu_beyond_a_gap(scene) => Stops(MpaMarker), {
        reach_into_what_was_placed(scene, 0x20);
    }

    /// MPA-055, MPA-045: the same with a length that ends in it.
    #[test]
    fn length_that_ends_in_an_fpdu_beyond_a_gap(scene) => Stops(MpaMarker), {
        reach_into_what_was_placed(scene, 0x04);
    }

    /// MPA-054, MPA-045: an FPDU with a wrong CRC beyond a gap, which then closes.
    #[test]
    fn wrong_crc_beyond_a_gap(scene) => Stops(MpaCrc), {
        marked(scene);
        scene.places(Name::Region(STAG), 0, &pattern(1400));
        let first = scene.sender().stream().len();
        scene.sender().rdma_write(STAG, REGION_TO + 2000, &pattern(1400));
        scene.flip(700, 0x01);
        let end = scene.sender().stream().len();
        for octets in [first..end, 0..first] {
            let frame = scene.segment(octets);
            scene.push(&frame);
        }
        scene.skip_to(end);
    }

    /// DDP-008: DDP version 2 in a tagged segment.
    #[test]
    fn ddp_version_of_a_write(scene) => Stops(DdpTaggedVersion), {
        good(scene);
        let control = ControlRepr { ddp_version: 2, ..whole(Opcode::RdmaWrite) };
        scene.sender().tagged_segment(&tagged(control), &pattern(OCTETS));
    }

    /// DDP-008: DDP version 0 in an untagged segment.
    #[test]
    fn ddp_version_of_a_send(scene) => Stops(DdpUntaggedVersion), {
        good(scene);
        let control = ControlRepr { ddp_version: 0, ..whole(Opcode::Send) };
        scene.sender().untagged_segment(&untagged(control, 0), &pattern(OCTETS));
    }

    /// RDMAP-004: RDMAP version 3.
    #[test]
    fn rdmap_version(scene) => Stops(RdmapVersion), {
        good(scene);
        let control = ControlRepr { rdmap_version: 3, ..whole(Opcode::Send) };
        scene.sender().untagged_segment(&untagged(control, 0), &pattern(OCTETS));
    }

    /// RDMAP-005: a reserved opcode, 9.
    #[test]
    fn reserved_opcode(scene) => Stops(RdmapOpcode), {
        good(scene);
        let control = whole(Opcode::from(9));
        scene.sender().untagged_segment(&untagged(control, 0), &pattern(OCTETS));
    }

    /// RDMAP-003: a Send with a tagged header.
    #[test]
    fn tagged_send(scene) => Stops(RdmapOpcode), {
        good(scene);
        let control = whole(Opcode::Send);
        scene.sender().tagged_segment(&tagged(control), &pattern(OCTETS));
    }

    /// RDMAP-003: an RDMA Write with an untagged header.
    #[test]
    fn untagged_write(scene) => Stops(RdmapOpcode), {
        good(scene);
        let control = whole(Opcode::RdmaWrite);
        scene.sender().untagged_segment(&untagged(control, 0), &pattern(OCTETS));
    }

    /// RDMAP-003: a Send on the queue of Read Requests.
    #[test]
    fn send_on_the_queue_of_read_requests(scene) => Stops(RdmapOpcode), {
        good(scene);
        let control = whole(Opcode::Send);
        scene.sender().untagged_segment(&untagged(control, 1), &pattern(OCTETS));
    }
}
