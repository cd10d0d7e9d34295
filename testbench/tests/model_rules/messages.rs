//! What is placed and completed when nothing is wrong.

use crate::rig::{
    pattern, region, Rig, BUFFER_OCTETS, CONNECTION, DOMAIN, REGION_OCTETS, REGION_TO, STAG, WINDOW,
};
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_driver::{Completion, ConnectionId, RegionConfig};
use rnic_model::ddp::Buffer;
use rnic_model::Model;
use rnic_testbench::traffic::{Sender, StreamConfig};
use rnic_wire::ddp::control::{ControlRepr, RESERVED_DDP, RESERVED_RDMAP};
use rnic_wire::ddp::errors::DDP_BOUNDS;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::ReadRequestRepr;
use rnic_wire::ddp::tagged::TaggedRepr;
use rnic_wire::ddp::terminate::TerminateRepr;
use rnic_wire::ddp::untagged::UntaggedRepr;

fn rig() -> Rig {
    Rig::new(StreamConfig::default())
}

/// Queue, opcode, MSN and length of each Receive.
fn receives(rig: &Rig) -> Vec<(u32, u32, u32, u32)> {
    let receive = |completion| match completion {
        Completion::Receive {
            connection: CONNECTION,
            qn,
            opcode,
            msn,
            length,
            ..
        } => (qn, opcode, msn, length),
        other => panic!("{other:?}"),
    };
    rig.completions().into_iter().map(receive).collect()
}

/// DDP-043: an exact fit, and its first and last octet alone; RDMAP-015: no completion.
#[test]
fn writes_reach_both_ends_of_the_region() {
    let mut rig = rig();
    rig.sender
        .rdma_write(STAG, REGION_TO, &pattern(REGION_OCTETS));
    rig.sender.rdma_write(STAG, REGION_TO, &[0xee]);
    rig.sender
        .rdma_write(STAG, REGION_TO + REGION_OCTETS as u64 - 1, &[0xdd]);
    rig.deliver();
    assert_eq!((rig.stopped(), rig.completions()), (None, vec![]));
    let mut expected = pattern(REGION_OCTETS);
    (expected[0], expected[REGION_OCTETS - 1]) = (0xee, 0xdd);
    assert_eq!(rig.region(), expected);
}

/// DDP-044: a region that ends at the last octet a TO can have but one.
#[test]
fn a_write_may_end_at_the_top_of_the_address_space() {
    let mut rig = rig();
    let top = u64::MAX - REGION_OCTETS as u64;
    rig.model.regions.register(&RegionConfig {
        tagged_offset: top,
        ..region()
    });
    rig.sender.rdma_write(STAG, u64::MAX - 10, &pattern(10));
    rig.deliver();
    assert_eq!(rig.stopped(), None);
    assert_eq!(rig.region()[REGION_OCTETS - 10..], pattern(10));
}

/// DDP-048: the connection a region is bound to may use it, if the Protection Domain is its own
/// too.
#[test]
fn a_bound_region_is_open_to_its_connection() {
    for (protection_domain, found) in [
        (DOMAIN, (None, 9)),
        (DOMAIN + 1, (Some(StreamError::DdpAssociation), 0)),
    ] {
        let mut rig = rig();
        let bound = RegionConfig {
            connection: Some(CONNECTION),
            protection_domain,
            ..region()
        };
        rig.model.regions.register(&bound);
        rig.sender.rdma_write(STAG, REGION_TO, &[9]);
        rig.deliver();
        assert_eq!((rig.stopped(), rig.region()[0]), found);
    }
}

/// DDP-048: the next connection of that id finds nothing under the STag.
#[test]
fn a_bound_region_goes_with_its_connection() {
    let mut rig = rig();
    let bound = RegionConfig {
        connection: Some(CONNECTION),
        ..region()
    };
    rig.model.regions.register(&bound);
    rig.model.close_connection(CONNECTION);
    let config = rig
        .builder
        .connection(&StreamConfig::default(), WINDOW, DOMAIN);
    rig.model.open_connection(CONNECTION, &config);
    rig.sender.rdma_write(STAG, REGION_TO, &[9]);
    rig.deliver();
    assert_eq!(rig.stopped(), Some(StreamError::DdpStag));
    assert_eq!(rig.region()[0], 0);
}

/// DDP-019: nothing of an empty tagged segment is tested but its opcode.
#[test]
fn an_empty_write_names_no_memory() {
    let mut rig = rig();
    rig.sender.rdma_write(0xdead_beef, u64::MAX, &[]);
    rig.deliver();
    assert_eq!(
        (rig.stopped(), rig.untouched(), rig.completions()),
        (None, true, vec![])
    );
    assert_eq!(rig.counter(Counter::Fpdus), 1);
}

/// RDMAP-010: a Read Response is placed, and completes with its last segment.
#[test]
fn a_read_response_completes_with_its_last_segment() {
    let mut rig = rig();
    let first = rig.read_and_respond(STAG, REGION_TO + 1, &pattern(4000));
    // DDP-019: STag and TO of a response without octets mean nothing.
    let second = rig.read(STAG, REGION_TO, 0);
    rig.sender.read_response(0x77, 5, &[]);
    rig.deliver();
    assert_eq!(rig.region()[1..4001], pattern(4000));
    let ends: Vec<u32> = rig
        .sender
        .fpdus()
        .iter()
        .map(|fpdu| rig.sender.sequence(fpdu.octets.end))
        .collect();
    let response = |stag, tagged_offset_end, sequence_end, pool_entry| Completion::ReadResponse {
        connection: CONNECTION,
        stag,
        tagged_offset_end,
        sequence_end,
        pool_entry,
    };
    let expected = [
        response(STAG, REGION_TO + 4001, ends[2], first),
        response(0x77, 5, ends[3], second),
    ];
    assert_eq!(rig.completions(), expected);
}

/// DDP-015, DDP-025: segments are placed at their offset; the last one gives the length.
#[test]
fn a_send_in_segments_is_one_message() {
    let mut rig = rig();
    rig.sender.send(&pattern(BUFFER_OCTETS));
    rig.deliver();
    assert_eq!(rig.buffer(0, 1), pattern(BUFFER_OCTETS));
    assert_eq!(receives(&rig), [(0, 3, 1, BUFFER_OCTETS as u32)]);
    assert_eq!(rig.counter(Counter::Completions), 1);
}

/// DDP-024: without L a message is not delivered, though all of it is placed.
#[test]
fn a_message_waits_for_its_last_segment() {
    let mut rig = rig();
    let control = ControlRepr::new(1, Opcode::Send, false);
    let header = UntaggedRepr {
        control,
        invalidate_stag: 0,
        qn: 0,
        msn: 1,
        mo: 0,
    };
    rig.sender.untagged_segment(&header, &pattern(50));
    rig.deliver();
    assert_eq!(
        (rig.completions(), &rig.buffer(0, 1)[..50]),
        (vec![], &pattern(50)[..])
    );
    let control = ControlRepr::new(1, Opcode::Send, true);
    rig.sender.untagged_segment(
        &UntaggedRepr {
            control,
            mo: 50,
            ..header
        },
        &[],
    );
    rig.deliver();
    assert_eq!(receives(&rig), [(0, 3, 1, 50)]);
}

/// DDP-018: a message without octets takes a buffer and completes; DDP-039: also at a buffer's end.
#[test]
fn an_empty_send_completes() {
    let mut rig = rig();
    rig.sender.send(&[]);
    let control = ControlRepr::new(1, Opcode::Send, true);
    let mo = BUFFER_OCTETS as u32;
    let header = UntaggedRepr {
        control,
        invalidate_stag: 0,
        qn: 0,
        msn: 2,
        mo,
    };
    rig.sender.untagged_segment(&header, &[]);
    rig.deliver();
    assert_eq!(rig.stopped(), None);
    assert_eq!(receives(&rig), [(0, 3, 1, 0), (0, 3, 2, mo)]);
    assert!(rig.untouched());
}

/// DDP-014: queues count their messages separately; RDMAP-003: each has its opcodes.
#[test]
fn queues_have_their_own_numbers_and_buffers() {
    let mut rig = rig();
    let request = ReadRequestRepr {
        sink_stag: 1,
        sink_to: 2,
        size: 3,
        source_stag: 4,
        source_to: 5,
    };
    let terminate = TerminateRepr {
        cause: DDP_BOUNDS,
        segment_length: None,
        ddp_header: &[],
        rdmap_header: &[],
    };
    rig.sender.send(&[1]);
    rig.sender.read_request(&request);
    rig.sender.send_solicited(&[2]);
    rig.sender.read_request(&request);
    rig.sender.terminate(&terminate);
    rig.deliver();
    let expected = [
        (0, 3, 1, 1),
        (1, 1, 1, 28),
        (0, 5, 2, 1),
        (1, 1, 2, 28),
        (2, 7, 1, 4),
    ];
    assert_eq!(receives(&rig), expected);
    assert_eq!(rig.buffer(1, 2)[..28], request.octets());
    assert_eq!(rig.buffer(2, 1)[..4], [0x11, 0x01, 0, 0]);
}

/// RDMAP-020: a Terminate is delivered, and nothing that comes after it.
#[test]
fn a_terminate_is_the_last_message() {
    let terminate = TerminateRepr {
        cause: DDP_BOUNDS,
        segment_length: None,
        ddp_header: &[],
        rdmap_header: &[],
    };
    let mut rig = rig();
    rig.sender.terminate(&terminate);
    rig.sender.send(&[1]);
    rig.sender.terminate(&terminate);
    rig.deliver();
    assert_eq!(receives(&rig), [(2, 7, 1, 4)]);
    assert_eq!(rig.stopped(), None, "no error of this side");
}

/// DDP-014, DDP-041: message numbers go on through zero, and so do those that have a buffer.
#[test]
fn message_numbers_wrap() {
    let mut receiver = rnic_model::ddp::DdpReceiver::new(7, 1);
    receiver.open_queue_at(0, u32::MAX - 1);
    let mut sender = Sender::new(StreamConfig::default());
    sender.set_next_msn(0, u32::MAX - 1);
    for octets in 0..4 {
        sender.send(&pattern(octets));
    }
    let buffer = Buffer {
        address: 0x1000,
        octets: 8,
        pool_entry: 0,
    };
    (0..4).for_each(|_| receiver.post(0, buffer));
    let config = *sender.config();
    let mut mpa =
        rnic_model::mpa::MpaReceiver::new(config.sequence_start, config.markers, config.crc);
    let mut regions = rnic_model::stag::Regions::default();
    let delivered: Vec<u32> = mpa
        .push(sender.stream())
        .iter()
        .map(|fpdu| {
            receiver
                .receive(5, fpdu, &mut regions)
                .completion
                .expect("a Receive")[1]
        })
        .collect();
    assert_eq!(delivered, [u32::MAX - 1, u32::MAX, 0, 1]);
}

/// RDMAP-006, RDMAP-013: delivered and invalid at once; other Sends leave the field alone.
#[test]
fn a_send_with_invalidate_invalidates_when_it_completes() {
    for solicited in [false, true] {
        let mut rig = rig();
        let control = ControlRepr::new(1, Opcode::Send, true);
        let header = UntaggedRepr {
            control,
            invalidate_stag: STAG,
            qn: 0,
            msn: 1,
            mo: 0,
        };
        rig.sender.untagged_segment(&header, &[1]);
        rig.sender.set_next_msn(0, 2);
        rig.sender.rdma_write(STAG, REGION_TO, &[1]);
        match solicited {
            true => rig.sender.send_solicited_invalidate(STAG, &pattern(2000)),
            false => rig.sender.send_invalidate(STAG, &pattern(2000)),
        };
        rig.deliver();
        assert_eq!((rig.stopped(), rig.region()[0]), (None, 1));
        let stags: Vec<u32> = rig
            .completions()
            .iter()
            .map(|completion| match completion {
                Completion::Receive {
                    invalidated_stag, ..
                } => *invalidated_stag,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(stags, [0, STAG]);
        rig.sender.rdma_write(STAG, REGION_TO, &[2]);
        rig.deliver();
        assert!(rig.stopped().is_some());
        assert_eq!(rig.region()[0], 1);
    }
}

/// RDMAP-006: only the last segment of a message invalidates.
#[test]
fn an_stag_stays_valid_until_the_last_segment() {
    let mut rig = rig();
    let control = ControlRepr::new(1, Opcode::SendInvalidate, false);
    let header = UntaggedRepr {
        control,
        invalidate_stag: STAG,
        qn: 0,
        msn: 1,
        mo: 0,
    };
    rig.sender.untagged_segment(&header, &[1]);
    rig.sender.rdma_write(STAG, REGION_TO, &[3]);
    rig.deliver();
    assert_eq!((rig.stopped(), rig.region()[0]), (None, 3));
}

/// DDP-007, RDMAP-001: reserved bits are ignored.
#[test]
fn reserved_bits_change_nothing() {
    let mut rig = rig();
    let control = ControlRepr::new(1, Opcode::RdmaWrite, true);
    let mut ulpdu = TaggedRepr {
        control,
        stag: STAG,
        to: REGION_TO,
    }
    .octets()
    .to_vec();
    ulpdu[0] |= RESERVED_DDP;
    ulpdu[1] |= RESERVED_RDMAP;
    ulpdu.extend([4]);
    rig.sender.ulpdu(&ulpdu);
    rig.deliver();
    assert_eq!((rig.stopped(), rig.region()[0]), (None, 4));
}

/// DDP-047: two connections of one device do not meet: an error of one leaves the other alone.
#[test]
fn an_error_stops_its_own_connection_only() {
    let mut rig = rig();
    let other = ConnectionId(6);
    let mut builder = rig.builder.clone();
    builder.source.address.set_port(40_001);
    let stream = StreamConfig::default();
    let config = builder.connection(&stream, WINDOW, DOMAIN);
    rig.model.open_connection(other, &config);
    rig.sender.rdma_write(STAG ^ 1, REGION_TO, &[1]);
    rig.deliver();
    assert!(rig.stopped().is_some());
    let mut sender = Sender::new(stream);
    sender.rdma_write(STAG, REGION_TO, &[5]);
    rig.model
        .receive(&builder.segment(1, 1, 0x10, sender.stream()), false);
    assert_eq!(rig.region()[0], 5);
}

/// A segment of a connection that was closed is the host's again.
#[test]
fn a_closed_connection_is_unknown() {
    let mut rig = rig();
    rig.model.close_connection(CONNECTION);
    rig.sender.send(&[1]);
    rig.deliver();
    assert_eq!(rig.counted(), [(Counter::HostFrames, 1)]);
}

/// A write outside mapped memory is kept as a violation: the rig would not pass over one.
#[test]
fn a_region_without_memory_shows() {
    let mut model = Model::new(2000);
    model.memory.map(0x1000, 16);
    model.memory.write(0x1008, &[0; 9]);
    assert_eq!(model.memory.violations, [(0x1008, 9)]);
}
