//! The figures of the RFC, read down to their items.
use super::{place, Memory};
use crate::binding::rpc::{CallHeader, ReplyHeader};
use crate::place::Place;
use crate::stream::{CallLimits, Item, Message, Opaque, Plan, Reader};
use crate::wire::tests::vectors::{all, CREDITS, XID};
use crate::wire::{shortened, Caps, Header, HeaderWriter, Padding, ReadSegment, Segment};

/// Runs `of` with the header of a figure.
fn figure<R>(name: &str, of: impl FnOnce(Header<'_>) -> R) -> R {
    let all = all();
    let (_, octets) = all
        .iter()
        .find(|(figure, _)| *figure == name)
        .expect("it is there");
    of(Header::parse(octets, &Caps::default()).expect("a header"))
}

/// The arguments of a WRITE of NFSv3, whose data `item` looks at.
fn write<R>(mut reader: Reader<'_>, item: impl FnOnce(Opaque<'_>) -> R) -> R {
    assert_eq!(
        CallHeader::read(&mut reader).map(|call| call.procedure),
        Ok(7)
    );
    assert_eq!(reader.inline_opaque(64).map(<[u8]>::len), Ok(32));
    assert_eq!(reader.u64(), Ok(0));
    assert_eq!((reader.u32(), reader.u32()), (Ok(0x1005), Ok(2)));
    let data = item(reader.opaque(1 << 20).expect("an item"));
    assert_eq!(reader.finish(), Ok(()));
    data
}

/// RPC-009, RPC-014: two segments of one position are one item, as long as its count.
#[test]
fn figure_3_8_read_chunks_are_one_item() {
    figure("3.8 call with read chunks", |header| {
        let sink = place(64, header.read_octets().0 as u32);
        let position = header
            .reads()
            .next()
            .map(|read| read.position)
            .expect("a chunk");
        let chunks = [Item {
            position,
            place: sink,
        }];
        let reader = Reader::of_send(&header, None).with_chunks(&chunks);
        assert_eq!(write(reader, |item| item.place()), Some(place(64, 0x1005)));
    });
}

/// RPC-016, RPC-017: the result is as long as what was written into both of its segments.
#[test]
fn figure_3_8_write_chunks_are_one_result() {
    figure("3.8 reply after RDMA Write", |header| {
        let returned = header.writes().next().expect("a chunk").octets() as u32;
        let results = [place(0, 0x1800).first(returned)];
        let mut reader = Reader::of_send(&header, None).with_results(&results);
        assert!(ReplyHeader::read(&mut reader).is_ok());
        assert_eq!((reader.u32(), reader.u32()), (Ok(0), Ok(0)));
        assert_eq!((reader.u32(), reader.u32()), (Ok(0x1009), Ok(1)));
        assert_eq!(reader.opaque(1 << 20), Ok(Opaque::Chunk(place(0, 0x1009))));
        assert_eq!(reader.finish(), Ok(()));
    });
    // The offer, filled with 0x1009 octets, is what came back.
    let offered = figure("3.8 call with write chunks", |header| {
        header
            .writes()
            .flat_map(|chunk| chunk.segments())
            .collect::<Vec<Segment>>()
    });
    figure("3.8 reply after RDMA Write", |header| {
        let returned = header.writes().flat_map(|chunk| chunk.segments());
        assert!(shortened(offered, 0x1009).eq(returned));
    });
}

/// RPC-023: without pad the data begins where the count ends; with it, in the second buffer.
#[test]
fn figure_3_9_pad_aligns_the_data() {
    let origin = place(0, 1024);
    let data = |name: &str| {
        figure(name, |header| {
            write(Reader::of_send(&header, Some(origin)), |item| {
                let Opaque::Inline { octets, place } = item else {
                    panic!("{item:?}");
                };
                assert_eq!(octets, [0x44; 131]);
                place.map(|place| place.offset)
            })
        })
    };
    assert_eq!(data("3.9 unpadded call"), Some(28 + 92 + 4));
    assert_eq!(data("3.9 padded call"), Some(256));
}

/// RPC-023: the padded call of the figure, written by this crate.
#[test]
fn figure_3_9_is_written_as_it_is_read() {
    let memory = Memory(vec![0x44; 132]);
    let inline = figure("3.9 unpadded call", |header| header.body()[..92].to_vec());
    let mut message = Message::new();
    // Field by field: none of them may be taken for an opaque of 128 octets.
    message.fixed(&inline);
    message
        .item(Place {
            memory: crate::place::MemoryId(5),
            offset: 0,
            length: 131,
        })
        .expect("one");
    let limits = CallLimits {
        inline_octets: 1024,
        chunk_octets_min: 1024,
        reads: true,
        padding: Some(Padding {
            align: 256,
            threshold: 128,
        }),
    };
    let plan = Plan::call(&message, &limits, [], None).expect("a way");
    let mut send = Vec::new();
    HeaderWriter::new(&mut send, XID, CREDITS, plan.form()).end();
    send.extend_from_slice(&memory.gather(&plan, &message));
    let all = all();
    let (_, expected) = all
        .iter()
        .find(|(name, _)| *name == "3.9 padded call")
        .expect("it is there");
    // The figure's roundup is not zero: nobody looks at it.
    assert_eq!(
        (send.len(), &send[..387]),
        (expected.len(), &expected[..387])
    );
}

/// RPC-019, RPC-020, RPC-049: no octet after an item is exposed or sent, whatever the memory
/// holds there.
#[test]
fn roundup_is_no_octet_of_the_memory() {
    let memory = Memory(vec![0xee; 64]);
    let limits = |chunk_octets_min| CallLimits {
        inline_octets: 200,
        chunk_octets_min,
        reads: true,
        padding: None,
    };
    for length in 0..9 {
        let mut message = Message::new();
        message.item(place(8, length)).expect("one item");
        message.u32(7);
        let inline = Plan::call(&message, &limits(100), [], None).expect("a way");
        let sent = memory.gather(&inline, &message);
        assert_eq!(
            sent.iter().filter(|octet| **octet == 0xee).count(),
            length as usize
        );
        assert_eq!(sent.len() as u64, message.octets());
        let chunk = Plan::call(&message, &limits(0), [], None).expect("a way");
        let exposed: Vec<u32> = chunk
            .reads(&message)
            .map(|item| item.place.length)
            .collect();
        assert_eq!(exposed, if length > 0 { vec![length] } else { vec![] });
        assert_eq!(memory.gather(&chunk, &message).len(), 8);
    }
}

/// RPC-032: a long call of several chunks, decoded as if it were inline.
#[test]
fn figure_5_1_long_calls_are_read_like_others() {
    let stream = [0, 0, 0, 9, 0, 0, 0, 5];
    let mut send = Vec::new();
    let segment = |length| Segment {
        handle: 1,
        length,
        offset: 0,
    };
    let mut writer = HeaderWriter::new(&mut send, 9, 1, crate::wire::Form::Nomsg);
    writer.read(ReadSegment {
        position: 0,
        segment: segment(8),
    });
    writer.read(ReadSegment {
        position: 8,
        segment: segment(5),
    });
    writer.end();
    let header = Header::parse(&send, &Caps::default()).expect("a header");
    assert_eq!(header.check_call(), Ok(()));
    let chunks = [Item {
        position: 8,
        place: place(0, 5),
    }];
    let mut reader = Reader::new(&stream).with_chunks(&chunks);
    assert_eq!(reader.u32(), Ok(9));
    assert_eq!(reader.opaque(9), Ok(Opaque::Chunk(place(0, 5))));
    assert_eq!(reader.finish(), Ok(()));
}
