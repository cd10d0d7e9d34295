//! Read Responses: octet by octet what was asked for, in that order, and nothing else.

use crate::scene::{pattern, Name, Scene, REGION_OCTETS, REGION_TO, SINK_STAG, STAG};
use rnic_abi::errors::StreamError::*;
use rnic_testbench::docs::security::Answer::Stops;
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;

/// Octets of most reads.
const OCTETS: usize = 1000;

/// One segment of a Read Response to the sink, so many octets after its first.
fn respond(scene: &mut Scene, offset: i64, last: bool, octets: usize) {
    let header = TaggedRepr {
        control: ControlRepr::new(1, Opcode::ReadResponse, last),
        stag: SINK_STAG,
        to: REGION_TO.wrapping_add_signed(offset),
    };
    scene.sender().tagged_segment(&header, &pattern(octets));
}

/// A segment that belongs where it says.
fn good(scene: &mut Scene, offset: usize, last: bool, octets: usize) {
    respond(scene, offset as i64, last, octets);
    scene.places(Name::Region(SINK_STAG), offset, &pattern(octets));
}

attacks! {
    /// RDMAP-011: a Read Response to an open sink, without an outstanding read.
    #[test]
    fn read_response_without_a_read(scene) => Stops(RdmapReadResponse), {
        respond(scene, 0, true, 100);
    }

    /// RDMAP-011: a second response to the same read.
    #[test]
    fn read_response_twice(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        good(scene, 0, true, OCTETS);
        respond(scene, 0, true, OCTETS);
    }

    /// RDMAP-011: the answer to a read of another connection of its domain.
    #[test]
    fn read_response_to_the_read_of_another_connection(scene) => Stops(RdmapReadResponse), {
        scene.asks_elsewhere(SINK_STAG, REGION_TO, 100);
        respond(scene, 0, true, 100);
    }

    /// RDMAP-011: to an open sink that the read does not name.
    #[test]
    fn read_response_to_another_stag(scene) => Stops(RdmapReadResponse), {
        scene.asks(STAG, REGION_TO, 100);
        respond(scene, 0, true, 100);
    }

    /// RDMAP-011: to the STag of the read, but for its key, which the owner has changed since.
    #[test]
    fn read_response_to_an_earlier_key(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG ^ 1, REGION_TO, 100);
        respond(scene, 0, true, 100);
    }

    /// RDMAP-011: one octet more than was asked for, in one segment.
    #[test]
    fn read_response_one_octet_too_long(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        respond(scene, 0, true, OCTETS + 1);
    }

    /// RDMAP-011: the same in the third segment.
    #[test]
    fn read_response_one_octet_too_long_in_its_last_segment(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        good(scene, 0, false, 400);
        good(scene, 400, false, 400);
        respond(scene, 800, true, OCTETS - 800 + 1);
    }

    /// RDMAP-011: L one octet before the end.
    #[test]
    fn read_response_one_octet_too_short(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        good(scene, 0, false, 400);
        respond(scene, 400, true, OCTETS - 400 - 1);
    }

    /// RDMAP-011: all octets, and no L at their end.
    #[test]
    fn read_response_without_its_end(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        respond(scene, 0, false, OCTETS);
    }

    /// RDMAP-008, RDMAP-011: an octet before what was asked for.
    #[test]
    fn read_response_one_octet_before(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO + 1, OCTETS);
        respond(scene, 0, true, OCTETS);
    }

    /// RDMAP-008, RDMAP-011: an octet is left out between two segments.
    #[test]
    fn read_response_with_a_gap(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        good(scene, 0, false, 400);
        respond(scene, 401, true, OCTETS - 401);
    }

    /// RDMAP-008, RDMAP-011: the last segment alone: what is before it would count as read.
    #[test]
    fn read_response_from_its_end(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        respond(scene, OCTETS as i64 - 1, true, 1);
    }

    /// RDMAP-011: the whole sink, of which a part was asked for; a segment of it at a time.
    #[test]
    fn read_response_over_the_whole_sink(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, OCTETS);
        let first = scene.sender().fpdus().len();
        scene.sender().read_response(SINK_STAG, REGION_TO, &pattern(REGION_OCTETS));
        scene.refused_is(first);
    }

    /// RDMAP-008: the answer to the second read comes first.
    #[test]
    fn read_responses_in_another_order(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, 100);
        scene.asks(SINK_STAG, REGION_TO + 100, 100);
        respond(scene, 100, true, 100);
    }

    /// RDMAP-011: the sink is registered anew while its read is outstanding, with 2^35 octets: 35
    /// bits of a Tagged Offset would not name one octet of it.
    #[test]
    fn read_response_to_a_sink_of_32_gib(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, 100);
        scene.grows(SINK_STAG, 1 << 35);
        respond(scene, 0, true, 100);
    }

    /// RDMAP-008, RDMAP-011: a zero-length read is answered with an octet.
    #[test]
    fn zero_length_read_with_an_octet(scene) => Stops(RdmapReadResponse), {
        scene.asks(SINK_STAG, REGION_TO, 0);
        respond(scene, 0, true, 1);
    }

    /// DDP-019, RDMAP-011: Read Responses without an octet, whose STags mean nothing: as many as
    /// reads of no octets, and many more.
    #[test]
    fn empty_read_responses_without_end(scene) => Stops(RdmapReadResponse), {
        (0..4).for_each(|_| scene.asks(SINK_STAG, REGION_TO, 0));
        let first = scene.sender().fpdus().len();
        for _ in 0..600 {
            scene.sender().read_response(0, u64::MAX, &[]);
        }
        scene.refused_is(first + 4);
        let fpdus = scene.sender().fpdus().to_vec();
        for fpdu in fpdus {
            let frame = scene.segment(fpdu.octets);
            scene.push(&frame);
        }
        scene.falls_silent();
    }

    /// RDMAP-011, MPA-045: a Read Response beyond a gap, with markers, which is asked for when the
    /// gap closes; and a second one after it, which is not.
    #[test]
    fn read_response_beyond_a_gap(scene) => Stops(RdmapReadResponse), {
        scene.with_markers();
        scene.asks(SINK_STAG, REGION_TO, 700);
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(1400));
        scene.places(Name::Region(STAG), 0, &pattern(1400));
        let first = scene.sender().stream().len();
        good(scene, 0, true, 700);
        respond(scene, 700, true, 600);
        let end = scene.sender().stream().len();
        for octets in [first..end, 0..first] {
            let frame = scene.segment(octets);
            scene.push(&frame);
        }
        scene.skip_to(end);
    }
}
