//! Every figure of the RFC: read, and written again to the same octets.
use super::vectors::{all, CREDITS, XID};
use super::written;
use crate::wire::{xid, Caps, ErrorBody, Header, Kind, Padding, ReadSegment, Segment, VERSION};

const FIRST: Segment = Segment {
    handle: 0xaabb_cc01,
    length: 0x1000,
    offset: 0x10,
};
const LAST: Segment = Segment {
    handle: 0xaabb_cc02,
    length: 0x800,
    offset: 0xffff_ffff_ffff_f800,
};

fn shorter(segment: Segment, length: u32) -> Segment {
    Segment { length, ..segment }
}

fn vector(name: &str) -> Vec<u8> {
    let all = all();
    let vector = all.iter().find(|(vector, _)| *vector == name);
    vector.expect("it is there").1.clone()
}

/// What a test has to say of a header: kind, read, write and reply lists, and octets of header and
/// body.
type Meaning = (
    Kind,
    Vec<ReadSegment>,
    Vec<Vec<Segment>>,
    Option<Vec<Segment>>,
    usize,
    usize,
);

fn meaning(octets: &[u8]) -> Meaning {
    let header = Header::parse(octets, &Caps::default()).expect("a header");
    assert_eq!(
        (header.xid(), header.credits(), header.version()),
        (XID, CREDITS, VERSION)
    );
    (
        header.kind(),
        header.reads().collect(),
        header
            .writes()
            .map(|chunk| chunk.segments().collect())
            .collect(),
        header.reply().map(|chunk| chunk.segments().collect()),
        header.octets(),
        header.body().len(),
    )
}

/// RPC-024, RPC-025, RPC-030: every message is written again as it was.
#[test]
fn every_figure_is_written_as_it_was_read() {
    for (name, octets) in all() {
        let header = Header::parse(&octets, &Caps::default());
        let header = header.unwrap_or_else(|refused| panic!("{name}: {refused}"));
        assert_eq!(written(&header), octets, "{name}");
        assert_eq!(xid(&octets), Some(XID), "{name}");
        assert_eq!(
            octets.len(),
            header.octets() + header.body().len(),
            "{name}"
        );
    }
    assert_eq!(xid(&[1, 2, 3]), None);
}

/// RPC-003, RPC-027: a short call is one Send of 28 octets of header and the message; no record
/// mark is before either.
#[test]
fn figure_3_1_short_messages() {
    let octets = vector("3.1 short call");
    let none = (Kind::Msg, vec![], vec![], None);
    assert_eq!(meaning(&octets), (none.0, none.1, none.2, none.3, 28, 76));
    let octets = vector("3.1 short reply");
    assert_eq!(meaning(&octets), (Kind::Msg, vec![], vec![], None, 28, 112));
}

/// RPC-012, RPC-013, RPC-016: an array for each result, which comes back with the lengths that were
/// written.
#[test]
fn figure_3_8_write_chunks() {
    let octets = vector("3.8 call with write chunks");
    let lists = vec![vec![FIRST, LAST]];
    assert_eq!(meaning(&octets), (Kind::Msg, vec![], lists, None, 68, 88));
    let octets = vector("3.8 reply after RDMA Write");
    let lists = vec![vec![FIRST, shorter(LAST, 9)]];
    assert_eq!(meaning(&octets), (Kind::Msg, vec![], lists, None, 68, 44));
}

/// RPC-008: the segments of an item have its position, and handle, length and offset.
#[test]
fn figure_3_8_read_chunks() {
    let octets = vector("3.8 call with read chunks");
    let read = |position, segment| ReadSegment { position, segment };
    let rest = Segment {
        handle: 0xaabb_cc02,
        length: 5,
        offset: 0x2010,
    };
    let reads = vec![read(96, FIRST), read(96, rest)];
    assert_eq!(meaning(&octets), (Kind::Msg, reads, vec![], None, 76, 96));
    let octets = vector("3.8 reply with read chunks");
    let reads = vec![read(44, FIRST), read(44, shorter(LAST, 9))];
    assert_eq!(meaning(&octets), (Kind::Msg, reads, vec![], None, 76, 44));
}

/// RPC-015, RPC-026: DONE has neither lists nor a message.
#[test]
fn figure_3_8_done() {
    let octets = vector("3.8 done");
    assert_eq!(octets.len(), 16);
    assert_eq!(meaning(&octets), (Kind::Done, vec![], vec![], None, 16, 0));
}

/// RPC-023, RPC-027: alignment and threshold are before the lists.
#[test]
fn figure_3_9_padding() {
    let octets = vector("3.9 padded call");
    let kind = Kind::Msgp(Padding {
        align: 256,
        threshold: 128,
    });
    assert_eq!(meaning(&octets), (kind, vec![], vec![], None, 36, 352));
    let octets = vector("3.9 unpadded call");
    assert_eq!(meaning(&octets), (Kind::Msg, vec![], vec![], None, 28, 228));
}

/// RPC-027, RPC-030: read list, write list and reply chunk, in this order.
#[test]
fn figure_4_1_layout() {
    let octets = vector("4.1 call with chunk lists");
    let reads = vec![ReadSegment {
        position: 96,
        segment: FIRST,
    }];
    let reply = Segment {
        handle: 9,
        length: 8,
        offset: 0x7_0000_0006,
    };
    let expected = (
        Kind::Msg,
        reads,
        vec![vec![LAST]],
        Some(vec![reply]),
        96,
        96,
    );
    assert_eq!(meaning(&octets), expected);
}

/// RPC-032: a long message is a read chunk of position 0, and other items are chunks beside it.
#[test]
fn figure_5_1_long_messages() {
    let read = |position, segment| ReadSegment { position, segment };
    let octets = vector("5.1 long call");
    assert_eq!(
        meaning(&octets),
        (Kind::Nomsg, vec![read(0, FIRST)], vec![], None, 52, 0)
    );
    let octets = vector("5.1 long call with an item");
    let reads = vec![read(0, FIRST), read(0x1000, LAST)];
    assert_eq!(meaning(&octets), (Kind::Nomsg, reads, vec![], None, 76, 0));
    let octets = vector("5.1 long reply by RDMA Read");
    assert_eq!(
        meaning(&octets),
        (Kind::Nomsg, vec![read(0, LAST)], vec![], None, 52, 0)
    );
    let octets = vector("5.1 long call and long reply");
    let expected = (
        Kind::Nomsg,
        vec![read(0, FIRST)],
        vec![],
        Some(vec![LAST]),
        72,
        0,
    );
    assert_eq!(meaning(&octets), expected);
}

/// RPC-033: a long reply is in the reply chunk, whose lengths come back as written.
#[test]
fn figure_5_2_reply_chunk() {
    let octets = vector("5.2 call with a reply chunk");
    let expected = (Kind::Msg, vec![], vec![], Some(vec![FIRST, LAST]), 64, 96);
    assert_eq!(meaning(&octets), expected);
    let octets = vector("5.2 long reply by RDMA Write");
    let reply = Some(vec![FIRST, shorter(LAST, 9)]);
    assert_eq!(
        meaning(&octets),
        (Kind::Nomsg, vec![], vec![], reply, 64, 0)
    );
    let octets = vector("5.2 empty write chunk");
    assert_eq!(
        meaning(&octets),
        (Kind::Msg, vec![], vec![vec![]], None, 36, 40)
    );
}

/// RPC-029, RPC-031: the error codes have 8, 0 and 32 octets after them.
#[test]
fn errors_have_the_words_of_their_code() {
    let error = |name: &str| match meaning(&vector(name)) {
        (Kind::Error(error), _, _, None, octets, 0) => (error, octets),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        error("4.2 versions"),
        (ErrorBody::Versions { low: 1, high: 1 }, 28)
    );
    let others = ErrorBody::Versions { low: 2, high: 5 };
    assert_eq!(error("4.2 versions that are others"), (others, 28));
    assert_eq!(error("4.2 chunk error"), (ErrorBody::Chunk, 20));
    let other = ErrorBody::Other {
        code: 9,
        words: [1, 2, 3, 4, 5, 6, 7, 8],
    };
    assert_eq!(error("4.2 other error"), (other, 52));
}

/// Octets after a DONE or an error, which another end may pad its Sends with, are no body.
#[test]
fn octets_after_messages_without_body_are_left_alone() {
    for name in ["3.8 done", "4.2 chunk error"] {
        let octets = vector(name);
        let longer = [octets.as_slice(), &[0xff; 7]].concat();
        assert_eq!(meaning(&longer), meaning(&octets), "{name}");
    }
}
