//! Steering tags: what a peer names must be its own, open to what it does, and inside.

use crate::scene::{
    pattern, Name, Scene, BOUND_STAG, EMPTY_STAG, GOOD_STAG, REGION_OCTETS, REGION_TO, SHARED_STAG,
    SINK_STAG, STAG, TOP_STAG, TOP_TO,
};
use rnic_abi::errors::StreamError::*;
use rnic_testbench::docs::security::Answer::Stops;

/// Tagged Offset after the last octet of a region.
const REGION_END: u64 = REGION_TO + REGION_OCTETS as u64;

/// A Write of `octets` octets.
fn write(scene: &mut Scene, stag: u32, to: u64, octets: usize) {
    scene.sender().rdma_write(stag, to, &pattern(octets));
}

attacks! {
    /// DDP-042: a Write to an STag whose index is not registered.
    #[test]
    fn unknown_stag_index(scene) => Stops(DdpStag), {
        write(scene, STAG ^ 0x8000_0000, REGION_TO, 100);
    }

    /// DDP-042: a Write to STag 0.
    #[test]
    fn stag_zero(scene) => Stops(DdpStag), {
        write(scene, 0, REGION_TO, 100);
    }

    /// DDP-042: a guessed key: the index is known.
    #[test]
    fn wrong_stag_key(scene) => Stops(DdpStag), {
        write(scene, STAG ^ 0x80, REGION_TO, 100);
    }

    /// DDP-047: a Write to a region of another Protection Domain.
    #[test]
    fn stag_of_another_domain(scene) => Stops(DdpAssociation), {
        write(scene, GOOD_STAG, REGION_TO, 100);
    }

    /// DDP-048: a Write to a region of its own domain that is bound to another connection.
    #[test]
    fn stag_bound_to_another_connection(scene) => Stops(DdpAssociation), {
        write(scene, BOUND_STAG, REGION_TO, 100);
    }

    /// RDMAP-010, DDP-052: a Write to a region that is not open to Writes.
    #[test]
    fn write_without_the_right(scene) => Stops(RdmapAccess), {
        write(scene, SINK_STAG, REGION_TO, 100);
    }

    /// RDMAP-010: a Read Response that was asked for, to a region that is no sink.
    #[test]
    fn read_response_to_no_sink(scene) => Stops(RdmapAccess), {
        scene.asks(STAG, REGION_TO, 100);
        scene.sender().read_response(STAG, REGION_TO, &pattern(100));
    }

    /// DDP-043: a Read Response that was asked for, beyond the end of the sink.
    #[test]
    fn read_response_beyond_the_sink(scene) => Stops(DdpBounds), {
        scene.asks(SINK_STAG, REGION_END - 99, 100);
        scene.sender().read_response(SINK_STAG, REGION_END - 99, &pattern(100));
    }

    /// DDP-043: a Write that begins one octet before the region.
    #[test]
    fn one_octet_before(scene) => Stops(DdpBounds), {
        write(scene, STAG, REGION_TO - 1, 100);
    }

    /// DDP-043: a Write that ends one octet after the region's last.
    #[test]
    fn last_octet_plus_one(scene) => Stops(DdpBounds), {
        write(scene, STAG, REGION_END - 99, 100);
    }

    /// DDP-043: a Write of one octet right after the region.
    #[test]
    fn one_octet_after(scene) => Stops(DdpBounds), {
        write(scene, STAG, REGION_END, 1);
    }

    /// DDP-043: the right offset but for its upper half.
    #[test]
    fn offset_of_another_four_gigabytes(scene) => Stops(DdpBounds), {
        write(scene, STAG, REGION_TO ^ 1 << 32, 100);
    }

    /// DDP-043: four gigabytes after the right offset: the distance fits in 32 bits.
    #[test]
    fn four_gigabytes_after(scene) => Stops(DdpBounds), {
        write(scene, STAG, REGION_TO + (1 << 32), 100);
    }

    /// DDP-043: a Write of one octet to a region without any.
    #[test]
    fn region_of_zero_octets(scene) => Stops(DdpBounds), {
        write(scene, EMPTY_STAG, REGION_TO, 1);
    }

    /// DDP-044: offset and length go past 2^64, from inside of a region near its end.
    #[test]
    fn offset_and_length_wrap(scene) => Stops(DdpWrap), {
        write(scene, TOP_STAG, TOP_TO + REGION_OCTETS as u64 - 50, 100);
    }

    /// DDP-044: offset and length reach 2^64 with one octet too many.
    #[test]
    fn offset_and_length_reach_the_end_of_space(scene) => Stops(DdpWrap), {
        write(scene, TOP_STAG, u64::MAX - 99, 100);
    }

    /// DDP-043: an offset before the region whose end wraps into it in 32 bits.
    #[test]
    fn offset_that_wraps_in_32_bits(scene) => Stops(DdpBounds), {
        write(scene, SHARED_STAG, REGION_TO - (1 << 32) + 8, 100);
    }

    /// DDP-047, MPA-045: a Write to another domain beyond a gap, with markers; then the gap closes.
    #[test]
    fn stag_of_another_domain_beyond_a_gap(scene) => Stops(DdpAssociation), {
        scene.with_markers();
        write(scene, STAG, REGION_TO, 1400);
        scene.places(Name::Region(STAG), 0, &pattern(1400));
        let first = scene.sender().stream().len();
        write(scene, GOOD_STAG, REGION_TO, 1400);
        let end = scene.sender().stream().len();
        for octets in [first..end, 0..first] {
            let frame = scene.segment(octets);
            scene.push(&frame);
        }
        scene.skip_to(end);
    }
}
