//! Untagged queues: queue numbers, message numbers, message offsets, and messages without end.

use crate::scene::{pattern, Scene, BUFFERS, BUFFER_OCTETS, REGION_TO, SINK_STAG, STAG};
use rnic_abi::counters::Counter::Fpdus;
use rnic_abi::errors::StreamError::*;
use rnic_testbench::docs::security::Answer::{Ends, Stops};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::errors::DDP_BOUNDS;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::ReadRequestRepr;
use rnic_wire::ddp::terminate::TerminateRepr;
use rnic_wire::ddp::untagged::UntaggedRepr;

/// A whole Send of `octets` octets under these numbers.
fn send(scene: &mut Scene, qn: u32, msn: u32, mo: u32, octets: usize) {
    message(scene, Opcode::Send, (qn, msn, mo), octets);
}

/// A whole message of `octets` octets under QN, MSN and MO.
fn message(scene: &mut Scene, opcode: Opcode, (qn, msn, mo): (u32, u32, u32), octets: usize) {
    let header = UntaggedRepr {
        control: ControlRepr::new(1, opcode, true),
        invalidate_stag: 0,
        qn,
        msn,
        mo,
    };
    scene.sender().untagged_segment(&header, &pattern(octets));
}

/// A good Send before the attack.
fn good(scene: &mut Scene) {
    let msn = scene.sender().send(&pattern(50));
    scene.places(scene.buffer(0, msn), 0, &pattern(50));
}

const END: u32 = BUFFER_OCTETS as u32;

attacks! {
    /// DDP-036: a queue number beyond the three there are.
    #[test]
    fn unknown_queue(scene) => Stops(DdpQn), {
        good(scene);
        send(scene, 3, 2, 0, 100);
    }

    /// DDP-036: a queue number whose low octets are those of a queue.
    #[test]
    fn queue_number_of_32_bits(scene) => Stops(DdpQn), {
        good(scene);
        send(scene, 0x0001_0000, 2, 0, 100);
    }

    /// DDP-041: a message number that was delivered before.
    #[test]
    fn message_number_again(scene) => Stops(DdpMsn), {
        good(scene);
        send(scene, 0, 1, 0, 100);
    }

    /// DDP-041, DDP-014: message number 0.
    #[test]
    fn message_number_zero(scene) => Stops(DdpMsn), {
        send(scene, 0, 0, 0, 100);
    }

    /// DDP-041: a message number leaves one out.
    #[test]
    fn message_number_with_a_gap(scene) => Stops(DdpMsn), {
        good(scene);
        send(scene, 0, 3, 0, 100);
    }

    /// DDP-037, DDP-041: a message number for which no buffer is posted.
    #[test]
    fn message_number_without_a_buffer(scene) => Stops(DdpNoBuffer), {
        good(scene);
        send(scene, 0, BUFFERS + 1, 0, 100);
    }

    /// DDP-041: a message number half of the number space ahead.
    #[test]
    fn message_number_far_ahead(scene) => Stops(DdpNoBuffer), {
        good(scene);
        send(scene, 0, 0x8000_0001, 0, 100);
    }

    /// DDP-041: a message number whose lower 16 bits are the right one's.
    #[test]
    fn message_number_65536_ahead(scene) => Stops(DdpNoBuffer), {
        send(scene, 0, 0x0001_0001, 0, 100);
    }

    /// DDP-039: a message offset right after the buffer.
    #[test]
    fn message_offset_at_the_end(scene) => Stops(DdpMo), {
        good(scene);
        send(scene, 0, 2, END, 1);
    }

    /// DDP-039: a message offset beyond the buffer, without an octet to place.
    #[test]
    fn message_offset_beyond_the_end(scene) => Stops(DdpMo), {
        good(scene);
        send(scene, 0, 2, END + 1, 0);
    }

    /// DDP-039: message offset and length go past 2^32.
    #[test]
    fn message_offset_that_wraps(scene) => Stops(DdpMo), {
        good(scene);
        send(scene, 0, 2, u32::MAX - 49, 100);
    }

    /// DDP-040: a message one octet longer than its buffer.
    #[test]
    fn message_one_octet_too_long(scene) => Stops(DdpTooLong), {
        good(scene);
        send(scene, 0, 2, END - 99, 100);
    }

    /// DDP-037: one Send more than there are buffers.
    #[test]
    fn sends_without_end(scene) => Stops(DdpNoBuffer), {
        for _ in 0..BUFFERS {
            good(scene);
        }
        scene.sender().send(&pattern(50));
    }

    /// RDMAP-012, RDMAP-007, DDP-037: one Read Request more than agreed on (IRD), of an owner that
    /// has posted as many buffers for them.
    #[test]
    fn read_requests_without_end(scene) => Stops(DdpNoBuffer), {
        let request = ReadRequestRepr {
            sink_stag: SINK_STAG,
            sink_to: REGION_TO,
            size: u32::MAX,
            source_stag: SINK_STAG,
            source_to: REGION_TO,
        };
        for _ in 0..BUFFERS {
            let msn = scene.sender().read_request(&request);
            scene.places(scene.buffer(1, msn), 0, &request.octets());
        }
        scene.sender().read_request(&request);
    }

    /// RDMAP-005, RDMAP-007: a Read Request on the queue of Sends.
    #[test]
    fn read_request_on_the_queue_of_sends(scene) => Stops(RdmapOpcode), {
        message(scene, Opcode::ReadRequest, (0, 1, 0), 28);
    }

    /// RDMAP-003, DDP-040: a Read Request longer than the buffer of one.
    #[test]
    fn read_request_too_long(scene) => Stops(DdpTooLong), {
        message(scene, Opcode::ReadRequest, (1, 1, END - 27), 28);
    }

    /// RDMAP-020: good Writes and Sends after a Terminate, which is delivered.
    #[test]
    fn data_after_a_terminate(scene) => Ends(Fpdus, 2), {
        good(scene);
        let terminate = TerminateRepr {
            cause: DDP_BOUNDS,
            segment_length: None,
            ddp_header: &[],
            rdmap_header: &[],
        };
        let msn = scene.sender().terminate(&terminate);
        scene.places(scene.buffer(2, msn), 0, &[0x11, 0x01, 0, 0]);
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(100));
        scene.sender().send(&pattern(100));
        scene.sender().terminate(&terminate);
    }
}
