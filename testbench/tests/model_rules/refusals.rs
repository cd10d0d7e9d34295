//! Why DDP and RDMAP stop a stream: one test for each row, in the order in which they are tested.

use crate::rig::{
    pattern, region, Rig, BUFFERS, BUFFER_OCTETS, CONNECTION, REGION_OCTETS, REGION_TO, STAG,
    WINDOW,
};
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError::{self, *};
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_driver::{Completion, ConnectionId, RegionConfig};
use rnic_testbench::traffic::{Sender, StreamConfig};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;
use rnic_wire::ddp::untagged::UntaggedRepr;

/// A write of the region's first octets.
fn write() -> TaggedRepr {
    let control = ControlRepr::new(1, Opcode::RdmaWrite, true);
    TaggedRepr {
        control,
        stag: STAG,
        to: REGION_TO,
    }
}

/// The first Send.
fn send() -> UntaggedRepr {
    let control = ControlRepr::new(1, Opcode::Send, true);
    UntaggedRepr {
        control,
        invalidate_stag: 0,
        qn: 0,
        msn: 1,
        mo: 0,
    }
}

fn with_opcode(control: ControlRepr, opcode: u8) -> ControlRepr {
    ControlRepr {
        opcode: Opcode::from(opcode),
        ..control
    }
}

/// Sends what `craft` makes to a receiver that `prepare` has changed, then a good write. The stream
/// must have stopped with `expected`, once, with nothing placed (DDP-045, MPA-058).
fn refused_by(expected: StreamError, prepare: impl Fn(&mut Rig), craft: impl Fn(&mut Sender)) {
    for markers in [false, true] {
        let mut rig = Rig::new(StreamConfig {
            markers,
            ..StreamConfig::default()
        });
        prepare(&mut rig);
        craft(&mut rig.sender);
        let refused = rig.sender.fpdus().last().expect("an FPDU").clone();
        rig.sender.rdma_write(STAG, REGION_TO, &pattern(100));
        rig.sender.send(&pattern(100));
        rig.deliver();
        assert_eq!(rig.stopped(), Some(expected));
        assert!(rig.untouched(), "{expected:?}: something was placed");
        assert_eq!(rig.counter(Counter::Fpdus), 1, "the FPDU itself is good");
        assert_eq!(rig.counter(Counter::Completions), 1);
        let completions = rig.completions();
        let [Completion::Error {
            connection,
            ulpdu_length,
            sequence,
            ..
        }] = completions[..]
        else {
            panic!("{completions:?}");
        };
        assert_eq!(connection, CONNECTION);
        assert_eq!(ulpdu_length as usize, refused.ulpdu_length);
        assert_eq!(sequence, rig.sender.sequence(refused.octets.start));
    }
}

fn refused(expected: StreamError, craft: impl Fn(&mut Sender)) {
    refused_by(expected, |_| (), craft);
}

fn refused_write(expected: StreamError, header: TaggedRepr, octets: usize) {
    refused(expected, |sender| {
        sender.tagged_segment(&header, &pattern(octets))
    });
}

fn refused_send(expected: StreamError, header: UntaggedRepr, octets: usize) {
    refused(expected, |sender| {
        sender.untagged_segment(&header, &pattern(octets))
    });
}

/// MPA-005: 13 octets are no tagged header, 17 no untagged one. DDP-045: one report, nothing of
/// the segment or after it is placed.
#[test]
fn a_ulpdu_shorter_than_its_header() {
    for octets in 1..14 {
        refused(DdpShortHeader, |sender| {
            sender.ulpdu(&write().octets()[..octets])
        });
    }
    for octets in 1..18 {
        refused(DdpShortHeader, |sender| {
            sender.ulpdu(&send().octets()[..octets])
        });
    }
}

/// DDP-008.
#[test]
fn another_ddp_version_in_a_tagged_segment() {
    for ddp_version in [0, 2, 3] {
        let control = ControlRepr {
            ddp_version,
            ..write().control
        };
        refused_write(DdpTaggedVersion, TaggedRepr { control, ..write() }, 8);
    }
}

/// DDP-008.
#[test]
fn another_ddp_version_in_an_untagged_segment() {
    for ddp_version in [0, 2, 3] {
        let control = ControlRepr {
            ddp_version,
            ..send().control
        };
        refused_send(DdpUntaggedVersion, UntaggedRepr { control, ..send() }, 8);
    }
}

/// RDMAP-004.
#[test]
fn another_rdmap_version() {
    for rdmap_version in [0, 2, 3] {
        let control = ControlRepr {
            rdmap_version,
            ..write().control
        };
        refused_write(RdmapVersion, TaggedRepr { control, ..write() }, 8);
        let control = ControlRepr {
            rdmap_version,
            ..send().control
        };
        refused_send(RdmapVersion, UntaggedRepr { control, ..send() }, 8);
    }
}

/// DDP-009: a stream of revision 0 has version 0, and refuses version 1.
#[test]
fn version_1_in_a_stream_of_revision_0() {
    let stream = StreamConfig {
        version: 0,
        ..StreamConfig::default()
    };
    let mut rig = Rig::new(stream);
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(5));
    rig.sender.tagged_segment(&write(), &pattern(6));
    rig.deliver();
    assert_eq!(rig.stopped(), Some(DdpTaggedVersion));
    assert_eq!(rig.region()[..6], [1, 2, 3, 4, 5, 0]);
}

/// DDP-036: queues 0 to 2 are all there are.
#[test]
fn an_unknown_queue() {
    for qn in [3, 4, 0x100, u32::MAX] {
        refused_send(DdpQn, UntaggedRepr { qn, ..send() }, 8);
    }
}

/// DDP-036: a queue that was not opened is not the stream's.
#[test]
fn a_queue_that_is_not_open() {
    let mut rig = Rig::new(StreamConfig::default());
    rig.model.close_connection(CONNECTION);
    let config = rig.builder.connection(rig.sender.config(), WINDOW, 0);
    rig.model.open_connection(CONNECTION, &config);
    rig.sender.send(&[1]);
    rig.deliver();
    assert_eq!(rig.stopped(), Some(DdpQn));
}

/// RDMAP-003, RDMAP-005: tagged segments are RDMA Writes and Read Responses.
#[test]
fn an_opcode_that_is_not_for_tagged_buffers() {
    for opcode in (0..16).filter(|opcode| ![0, 2].contains(opcode)) {
        let control = with_opcode(write().control, opcode);
        refused_write(RdmapOpcode, TaggedRepr { control, ..write() }, 8);
    }
}

/// RDMAP-003, RDMAP-005: each queue has its opcodes.
#[test]
fn an_opcode_that_is_not_for_its_queue() {
    let queues: [(u32, &[u8]); 3] = [(0, &[3, 4, 5, 6]), (1, &[1]), (2, &[7])];
    for (qn, opcodes) in queues {
        for opcode in (0..16).filter(|opcode| !opcodes.contains(opcode)) {
            let control = with_opcode(send().control, opcode);
            refused_send(
                RdmapOpcode,
                UntaggedRepr {
                    control,
                    qn,
                    ..send()
                },
                8,
            );
        }
    }
}

/// DDP-042: unknown, or known with another key.
#[test]
fn an_unknown_stag_or_another_key() {
    for stag in [0, STAG ^ 1, STAG ^ 0x80, STAG ^ 0x100, STAG ^ 0x8000_0000] {
        refused_write(DdpStag, TaggedRepr { stag, ..write() }, 1);
    }
}

/// DDP-050, DDP-053: taken away, or invalidated.
#[test]
fn an_stag_that_is_no_longer_valid() {
    refused_by(
        DdpStag,
        |rig| rig.model.regions.deregister(STAG),
        |sender| sender.tagged_segment(&write(), &[1]),
    );
    let mut rig = Rig::new(StreamConfig::default());
    rig.sender.send_invalidate(STAG, &[]);
    rig.sender.tagged_segment(&write(), &[1]);
    rig.deliver();
    assert_eq!((rig.stopped(), rig.untouched()), (Some(DdpStag), true));
}

fn refused_with_region(expected: StreamError, config: RegionConfig, opcode: Opcode) {
    let control = ControlRepr::new(1, opcode, true);
    refused_by(
        expected,
        |rig| rig.model.regions.register(&config),
        |sender| sender.tagged_segment(&TaggedRepr { control, ..write() }, &[1]),
    );
}

/// DDP-047, DDP-049.
#[test]
fn a_region_of_another_protection_domain() {
    let config = RegionConfig {
        protection_domain: 8,
        ..region()
    };
    refused_with_region(DdpAssociation, config, Opcode::RdmaWrite);
}

/// DDP-048, DDP-049: the same Protection Domain does not help.
#[test]
fn a_region_bound_to_another_connection() {
    let config = RegionConfig {
        connection: Some(ConnectionId(6)),
        ..region()
    };
    refused_with_region(DdpAssociation, config, Opcode::RdmaWrite);
}

/// RDMAP-010, DDP-052: each opcode asks for its own right.
#[test]
fn a_region_without_the_right() {
    let all = RIGHT_REMOTE_WRITE | RIGHT_READ_SINK | RIGHT_REMOTE_INVALIDATE;
    let write = RegionConfig {
        rights: all & !RIGHT_REMOTE_WRITE,
        ..region()
    };
    refused_with_region(RdmapAccess, write, Opcode::RdmaWrite);
    let sink = RegionConfig {
        rights: all & !RIGHT_READ_SINK,
        ..region()
    };
    refused_with_region(RdmapAccess, sink, Opcode::ReadResponse);
}

/// DDP-044: the sum of TO and length reaches 2^64.
#[test]
fn a_tagged_offset_that_wraps() {
    for (to, octets) in [(u64::MAX, 1), (u64::MAX - 15, 16), (u64::MAX - 15, 32)] {
        refused_write(DdpWrap, TaggedRepr { to, ..write() }, octets);
    }
}

/// DDP-043: octet-exact at both ends.
#[test]
fn octets_outside_of_the_region() {
    let end = REGION_TO + REGION_OCTETS as u64;
    for (to, octets) in [
        (REGION_TO - 1, 1),
        (REGION_TO - 1, 2),
        (end, 1),
        (end - 9, 10),
        (0, 1),
        (u64::MAX - 1, 1),
        (REGION_TO - (1 << 32), 8),
    ] {
        refused_write(DdpBounds, TaggedRepr { to, ..write() }, octets);
    }
}

/// DDP-041: already consumed, or so far ahead that it counts as before it.
#[test]
fn a_message_number_before_the_expected_one() {
    for msn in [0, u32::MAX, 0x8000_0001] {
        refused_send(DdpMsn, UntaggedRepr { msn, ..send() }, 8);
    }
}

/// DDP-037, DDP-041: the first one without a buffer, and the farthest.
#[test]
fn a_message_number_without_a_buffer() {
    for msn in [BUFFERS as u32 + 1, 1000, 0x8000_0000] {
        refused_send(DdpNoBuffer, UntaggedRepr { msn, ..send() }, 8);
        refused_send(DdpNoBuffer, UntaggedRepr { msn, ..send() }, 0);
    }
}

/// DDP-041: in an ordered stream a gap in message numbers is an error.
#[test]
fn a_message_number_ahead_of_the_expected_one() {
    for msn in 2..=BUFFERS as u32 {
        refused_send(DdpMsn, UntaggedRepr { msn, ..send() }, 8);
    }
}

/// DDP-039: at the buffer's end there is no place for an octet, and beyond it not even for none.
#[test]
fn a_message_offset_beyond_the_buffer() {
    let end = BUFFER_OCTETS as u32;
    for (mo, octets) in [
        (end, 1),
        (end + 1, 1),
        (u32::MAX, 1),
        (end + 1, 0),
        (u32::MAX, 0),
    ] {
        refused_send(DdpMo, UntaggedRepr { mo, ..send() }, octets);
    }
}

/// DDP-040: one octet too long.
#[test]
fn a_message_longer_than_its_buffer() {
    for (mo, octets) in [
        (BUFFER_OCTETS as u32 - 1, 2),
        (BUFFER_OCTETS as u32 - 1000, 1001),
    ] {
        refused_send(DdpTooLong, UntaggedRepr { mo, ..send() }, octets);
    }
}

fn refused_invalidate(prepare: impl Fn(&mut Rig), invalidate_stag: u32) {
    for opcode in [Opcode::SendInvalidate, Opcode::SendSolicitedInvalidate] {
        let control = ControlRepr::new(1, opcode, true);
        let header = UntaggedRepr {
            control,
            invalidate_stag,
            ..send()
        };
        refused_by(RdmapInvalidate, &prepare, |sender| {
            sender.untagged_segment(&header, &pattern(8));
        });
    }
}

/// RDMAP-014: unknown, another key, another Protection Domain, another connection, not allowed.
#[test]
fn an_stag_that_cannot_be_invalidated() {
    refused_invalidate(|_| (), STAG ^ 0x100);
    refused_invalidate(|_| (), STAG ^ 1);
    let regions = [
        RegionConfig {
            protection_domain: 8,
            ..region()
        },
        RegionConfig {
            connection: Some(ConnectionId(6)),
            ..region()
        },
        RegionConfig {
            rights: RIGHT_REMOTE_WRITE | RIGHT_READ_SINK,
            ..region()
        },
    ];
    for config in regions {
        // The write that follows is discarded in any case.
        refused_invalidate(|rig| rig.model.regions.register(&config), STAG);
    }
}

/// RDMAP-014: once only.
#[test]
fn an_stag_that_was_invalidated_before() {
    let mut rig = Rig::new(StreamConfig::default());
    rig.sender.send_invalidate(STAG, &[]);
    rig.sender.send_invalidate(STAG, &pattern(8));
    rig.deliver();
    assert_eq!(
        (rig.stopped(), rig.untouched()),
        (Some(RdmapInvalidate), true)
    );
}

/// Everything is wrong; what is tested first is repaired first. No error hides an earlier one.
#[test]
fn tagged_errors_come_in_the_order_of_the_table() {
    let bad = TaggedRepr {
        control: ControlRepr {
            last: true,
            ddp_version: 0,
            rdmap_version: 0,
            opcode: Opcode::Send,
        },
        stag: STAG ^ 1,
        to: u64::MAX,
    };
    let ddp = TaggedRepr {
        control: ControlRepr {
            ddp_version: 1,
            ..bad.control
        },
        ..bad
    };
    let rdmap = TaggedRepr {
        control: ControlRepr {
            rdmap_version: 1,
            ..ddp.control
        },
        ..ddp
    };
    let opcode = TaggedRepr {
        control: write().control,
        ..rdmap
    };
    let stag = TaggedRepr {
        stag: STAG,
        ..opcode
    };
    let below = TaggedRepr {
        to: REGION_TO - 1,
        ..stag
    };
    let alien = RegionConfig {
        protection_domain: 8,
        rights: 0,
        ..region()
    };
    let rightless = RegionConfig {
        rights: 0,
        ..region()
    };
    for (expected, config, header) in [
        (DdpTaggedVersion, alien, bad),
        (RdmapVersion, alien, ddp),
        (RdmapOpcode, alien, rdmap),
        (DdpStag, alien, opcode),
        (DdpAssociation, alien, stag),
        (RdmapAccess, rightless, stag),
        (DdpWrap, region(), stag),
        (DdpBounds, region(), below),
    ] {
        refused_by(
            expected,
            |rig| rig.model.regions.register(&config),
            |sender| sender.tagged_segment(&header, &pattern(8)),
        );
    }
}

/// The same for an untagged segment.
#[test]
fn untagged_errors_come_in_the_order_of_the_table() {
    let bad = UntaggedRepr {
        control: ControlRepr {
            last: true,
            ddp_version: 0,
            rdmap_version: 0,
            opcode: Opcode::RdmaWrite,
        },
        invalidate_stag: STAG ^ 1,
        qn: 3,
        msn: 0,
        mo: BUFFER_OCTETS as u32,
    };
    let ddp = UntaggedRepr {
        control: ControlRepr {
            ddp_version: 1,
            ..bad.control
        },
        ..bad
    };
    let rdmap = UntaggedRepr {
        control: ControlRepr {
            rdmap_version: 1,
            ..ddp.control
        },
        ..ddp
    };
    let qn = UntaggedRepr { qn: 0, ..rdmap };
    let control = ControlRepr::new(1, Opcode::SendInvalidate, true);
    let opcode = UntaggedRepr { control, ..qn };
    let no_buffer = UntaggedRepr {
        msn: BUFFERS as u32 + 1,
        ..opcode
    };
    let gap = UntaggedRepr { msn: 2, ..opcode };
    let msn = UntaggedRepr { msn: 1, ..opcode };
    let mo = UntaggedRepr {
        mo: BUFFER_OCTETS as u32 - 1,
        ..msn
    };
    let length = UntaggedRepr { mo: 0, ..msn };
    for (expected, header) in [
        (DdpUntaggedVersion, bad),
        (RdmapVersion, ddp),
        (DdpQn, rdmap),
        (RdmapOpcode, qn),
        (DdpMsn, opcode),
        (DdpNoBuffer, no_buffer),
        (DdpMsn, gap),
        (DdpMo, msn),
        (DdpTooLong, mo),
        (RdmapInvalidate, length),
    ] {
        refused_send(expected, header, 8);
    }
}
