//! A connection set up table by table, as the device in software does it.

use rnic_abi::counters::{Counter, ALL, FIRST_REFUSAL};
use rnic_abi::errors::StreamError;
use rnic_driver::{ConnectionId, QueueId};
use rnic_model::ddp::Buffer;
use rnic_model::{Model, MpaContext, TcpContext};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};

const OVERFLOW: Counter = ALL[FIRST_REFUSAL + StreamError::CqOverflow as usize - 1];

/// A model with connection 5, written context by context, two buffers of 64 octets, and the
/// frames of two Sends.
fn written(queue: QueueId) -> (Model, Vec<Vec<u8>>) {
    let builder = FrameBuilder::new(Endpoint::host(1, 7), Endpoint::host(2, 8));
    let stream = StreamConfig::default();
    let config = builder.connection(&stream, 1000, 3);
    let mut model = Model::new(0);
    model.memory.handed_on = Some(Vec::new());
    model.set_lookup(config.key, Some(5));
    let tcp = TcpContext {
        rcv_nxt: config.sequence_start,
        window: config.window,
        seg_ack: 0,
        seg_wnd: 0,
        fin_seen: false,
    };
    assert!(!model.write_tcp(5, &tcp));
    let mpa = MpaContext {
        sequence_start: config.sequence_start,
        markers: config.markers,
        crc: config.crc,
    };
    model.write_mpa(5, &mpa);
    model.write_ddp(5, config.protection_domain, config.version, queue);
    model.write_queue(5, 0, Some(1));
    for pool_entry in [8, 9] {
        let address = 0x1000 * u64::from(pool_entry);
        let octets = 64;
        model.write_buffer(
            5,
            0,
            Buffer {
                address,
                octets,
                pool_entry,
            },
        );
    }
    let mut sender = Sender::new(stream);
    sender.send(b"first");
    sender.send(b"second");
    let fpdus = sender.fpdus().iter();
    let frames = fpdus.map(|fpdu| {
        let octets = &sender.stream()[fpdu.octets.clone()];
        builder.segment(sender.sequence(fpdu.octets.start), 1, FLAG_ACK, octets)
    });
    let frames = frames.collect();
    (model, frames)
}

#[test]
fn contexts_written_one_by_one_make_a_connection() {
    let (mut model, frames) = written(QueueId(0));
    for frame in &frames {
        model.receive(frame, false);
    }
    let placed = model.memory.handed_on.take().expect("it was there");
    assert_eq!(
        (&placed[0].data[..], placed[0].address),
        (&b"first"[..], 0x8000)
    );
    assert_eq!(
        (&placed[1].data[..], placed[1].address),
        (&b"second"[..], 0x9000)
    );
    assert_eq!(model.completions.len(), 2);
    assert_eq!(
        (model.take_touched(), model.take_touched()),
        (Some(5), None)
    );
    let event = model.take_event(5).expect("there is something to report");
    assert_eq!(event.connection, ConnectionId(5));
    assert_eq!(model.take_event(5), None);
}

/// What completes a message without room stops its connection, and nothing of it is done.
#[test]
fn a_full_completion_queue_refuses_what_needs_an_entry() {
    let (mut model, frames) = written(QueueId(2));
    model.completion_room[2] = 1;
    for frame in &frames {
        model.receive(frame, false);
    }
    let placed = model.memory.handed_on.take().expect("it was there");
    assert_eq!(placed.len(), 1);
    assert_eq!((model.completions.len(), model.posted(5, 0)), (1, 1));
    assert_eq!(
        (model.lost_completions, model.counter(OVERFLOW)),
        (1 << 2, 1)
    );
}
