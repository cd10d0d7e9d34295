//! What one message after the other costs in allocations: none, once the buffers are as long as
//! the longest message.
use allocation_counter::measure;
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::nfs3;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::stream::{CallLimits, Item, Message, Opaque, Plan, Reader, ReplyLimits};
use rpcrdma::wire::{shortened, Caps, Header, HeaderWriter, ReadSegment, Segment};

const PLACE: Place = Place {
    memory: MemoryId(1),
    offset: 4096,
    length: 65_536,
};
const SEGMENT: Segment = Segment {
    handle: 7,
    length: 65_536,
    offset: 4096,
};

/// A call of WRITE with its data as read chunk, from the message to the item at the server.
fn write(message: &mut Message, send: &mut Vec<u8>) {
    message.clear();
    let credential = Credential::None;
    let call = CallHeader {
        xid: 9,
        program: 100_003,
        version: 3,
        procedure: 7,
        credential,
    };
    call.write(message).expect("short");
    message.opaque(&[5; 32]).expect("short");
    message.u64(0);
    message.u32(PLACE.length);
    message.u32(2);
    message.item(PLACE).expect("one item");
    let limits = CallLimits {
        inline_octets: 4096,
        chunk_octets_min: 1024,
        reads: true,
        padding: None,
    };
    let plan = Plan::call(message, &limits, [], None).expect("a way");
    let mut writer = HeaderWriter::new(send, 9, 32, plan.form());
    for item in plan.reads(message) {
        writer.read(ReadSegment {
            position: item.position,
            segment: SEGMENT,
        });
    }
    writer.end();
    send.extend_from_slice(message.inline());

    let header = Header::parse(send, &Caps::default()).expect("a header");
    header.check_call().expect("a call");
    let position = header.reads().next().map_or(0, |read| read.position);
    let chunks = [Item {
        position,
        place: PLACE,
    }];
    let mut reader = Reader::of_send(&header, None).with_chunks(&chunks);
    let call = CallHeader::read(&mut reader).expect("a call");
    nfs3::PROGRAM
        .check_chunks(&header, &call, header.body())
        .expect("its only item");
    reader.inline_opaque(64).expect("a handle");
    reader.fixed(16).expect("offset, count, stable");
    assert_eq!(reader.opaque(1 << 20), Ok(Opaque::Chunk(PLACE)));
    reader.finish().expect("nothing after it");
}

/// A reply of READ with its data in the write chunk of `call`.
fn read(call: &[u8], message: &mut Message, send: &mut Vec<u8>) {
    let header = Header::parse(call, &Caps::default()).expect("a header");
    message.clear();
    ReplyHeader {
        xid: 9,
        status: ReplyStatus::Success,
    }
    .write(message);
    message.fixed(&[0; 16]);
    message.item(PLACE).expect("one item");
    let limits = ReplyLimits {
        inline_octets: 4096,
        read_list: false,
    };
    let plan = Plan::reply(message, &limits, &header).expect("a way");
    let mut writer = HeaderWriter::new(send, 9, 32, plan.form()).writes();
    for chunk in header.writes() {
        writer.chunk(shortened(chunk.segments(), PLACE.length.into()));
    }
    writer.end();
    send.extend_from_slice(message.inline());
    let header = Header::parse(send, &Caps::default()).expect("a header");
    let results = [PLACE];
    let mut reader = Reader::of_send(&header, None).with_results(&results);
    ReplyHeader::read(&mut reader).expect("a reply");
    reader.fixed(16).expect("fields");
    assert_eq!(reader.opaque(1 << 20), Ok(Opaque::Chunk(PLACE)));
}

#[test]
fn messages_allocate_nothing_once_warm() {
    let (mut message, mut send, mut call) = (Message::new(), Vec::new(), Vec::new());
    let mut writer = HeaderWriter::new(&mut call, 9, 32, rpcrdma::wire::Form::Msg).writes();
    writer.chunk([SEGMENT]);
    writer.end();
    call.extend_from_slice(&9_u32.to_be_bytes());
    let mut turn = || {
        write(&mut message, &mut send);
        read(&call, &mut message, &mut send);
    };
    assert!(measure(&mut turn).count_total > 0, "they are counted");
    let warm = measure(|| (0..100).for_each(|_| turn()));
    assert_eq!((warm.count_total, warm.count_current), (0, 0));
}
