//! Fields and items as a receiver meets them.
use super::place;
use crate::stream::{DecodeError, Item, Opaque, Reader};
use crate::wire::{Caps, Form, Header, HeaderWriter, Padding, Refused};

const ITEM_LENGTH: DecodeError = DecodeError::Chunk(Refused::ItemLength);
const NOT_ELIGIBLE: DecodeError = DecodeError::Chunk(Refused::NotEligible);

/// A count of five, and a field after the item.
const INLINE: [u8; 12] = [0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0, 7];

fn chunk(position: u32, length: u32) -> Item {
    Item {
        position,
        place: place(1000, length),
    }
}

#[test]
fn fields_are_read_in_order() {
    let octets = [
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][..],
        b"abcde\0\0\0",
        &[0, 0, 0, 2],
        b"fg\0\0",
    ];
    let octets = octets.concat();
    let mut reader = Reader::new(&octets);
    assert_eq!(reader.remaining(), 28);
    assert_eq!(reader.u32(), Ok(0x0102_0304));
    assert_eq!(reader.u64(), Ok(0x0506_0708_090a_0b0c));
    assert_eq!(reader.fixed(5), Ok(&b"abcde"[..]));
    assert_eq!((reader.position(), reader.remaining()), (20, 8));
    assert_eq!(reader.clone().inline_opaque(1), Err(DecodeError::TooLong));
    assert_eq!(reader.clone().opaque(1), Err(DecodeError::TooLong));
    assert_eq!(reader.clone().finish(), Err(DecodeError::Trailing));
    assert_eq!(reader.inline_opaque(2), Ok(&b"fg"[..]));
    assert_eq!((reader.position(), reader.remaining()), (28, 0));
    assert_eq!(reader.clone().finish(), Ok(()));
    assert_eq!(reader.u32(), Err(DecodeError::Truncated));
}

/// Every field that ends too early is refused.
#[test]
fn fields_that_are_cut_off_are_refused() {
    for end in 0..4 {
        assert_eq!(
            Reader::new(&INLINE[..end]).u32(),
            Err(DecodeError::Truncated)
        );
        assert_eq!(
            Reader::new(&INLINE[..end]).opaque(9),
            Err(DecodeError::Truncated)
        );
    }
    assert_eq!(Reader::new(&INLINE[..4]).u64(), Err(DecodeError::Truncated));
    assert_eq!(
        Reader::new(&INLINE[4..]).opaque(9),
        Err(DecodeError::Truncated)
    );
    assert_eq!(
        Reader::new(b"\0\0\0\x05abcde\0\0").opaque(9),
        Err(DecodeError::Truncated)
    );
    assert_eq!(Reader::new(&INLINE).fixed(13), Err(DecodeError::Truncated));
    assert_eq!(
        Reader::new(&[0xff; 8]).inline_opaque(u32::MAX),
        Err(DecodeError::Truncated)
    );
}

/// RPC-014, RPC-018: where the position of a chunk is met, the item is there and not inline; its
/// roundup is in no octets.
#[test]
fn read_chunks_are_at_their_positions() {
    let chunks = [chunk(8, 5)];
    let mut reader = Reader::new(&INLINE).with_chunks(&chunks);
    assert_eq!(reader.u32(), Ok(9));
    assert_eq!(reader.opaque(5), Ok(Opaque::Chunk(place(1000, 5))));
    assert_eq!(reader.position(), 16);
    assert_eq!(reader.u32(), Ok(7));
    assert_eq!(reader.finish(), Ok(()));

    // RPC-018: a second chunk after 5 octets of the first one, nothing inline between them but its
    // count.
    let chunks = [chunk(4, 5), chunk(16, 3)];
    let inline = [0, 0, 0, 5, 0, 0, 0, 3];
    let mut reader = Reader::new(&inline).with_chunks(&chunks);
    assert_eq!(reader.opaque(9), Ok(Opaque::Chunk(place(1000, 5))));
    assert_eq!(
        reader.opaque(9).map(|item| (item.length(), item.place())),
        Ok((3, Some(place(1000, 3))))
    );
    assert_eq!(reader.finish(), Ok(()));
}

/// RPC-018: where nothing inline is left, the roundup of an inline field is not there either.
#[test]
fn roundup_at_the_end_of_the_inline_octets_may_be_missing() {
    let mut reader = Reader::new(b"\0\0\0\x05abcde");
    assert_eq!(reader.inline_opaque(5), Ok(&b"abcde"[..]));
    assert_eq!(reader.position(), 12);
    assert_eq!(reader.finish(), Ok(()));
    assert_eq!(
        Reader::new(b"\0\0\0\x05abcde\0").inline_opaque(5),
        Err(DecodeError::Truncated)
    );
}

/// RPC-009, RPC-020: the count is the chunk's length, exact or rounded up; nothing else.
#[test]
fn counts_match_their_chunks() {
    for (length, matches) in [
        (4, false),
        (5, true),
        (6, false),
        (7, false),
        (8, true),
        (9, false),
    ] {
        let chunks = [chunk(8, length)];
        let mut reader = Reader::new(&INLINE).with_chunks(&chunks);
        assert_eq!(reader.u32(), Ok(9));
        let item = reader.opaque(9);
        match matches {
            true => assert_eq!(item, Ok(Opaque::Chunk(place(1000, 5))), "{length}"),
            false => assert_eq!(item, Err(ITEM_LENGTH), "{length}"),
        }
        let results = [place(1000, length)];
        let mut reader = Reader::new(&INLINE[4..]).with_results(&results);
        match matches {
            true => assert_eq!(
                reader.opaque(9),
                Ok(Opaque::Chunk(place(1000, 5))),
                "{length}"
            ),
            false => assert_eq!(reader.opaque(9), Err(ITEM_LENGTH), "{length}"),
        }
    }
    let empty = [chunk(4, 0)];
    let mut reader = Reader::new(&[0; 4]).with_chunks(&empty);
    assert_eq!(reader.opaque(9), Ok(Opaque::Chunk(place(1000, 0))));
    assert_eq!(reader.finish(), Ok(()));
}

/// RPC-007: chunks are only where the program lets them be.
#[test]
fn chunks_at_other_fields_are_refused() {
    let at = |position| [chunk(position, 5)];
    let (inside, count, item, after) = (at(0), at(4), at(8), at(16));
    let reader = |chunks| Reader::new(&INLINE).with_chunks(chunks);
    assert_eq!(reader(&inside).u32(), Err(NOT_ELIGIBLE));
    let mut field = reader(&count);
    assert_eq!(field.u32(), Ok(9));
    assert_eq!(field.opaque(9), Err(NOT_ELIGIBLE));
    let mut field = reader(&item);
    assert_eq!(field.u32(), Ok(9));
    assert_eq!(field.inline_opaque(9), Err(NOT_ELIGIBLE));
    assert_eq!(reader(&item).fixed(9), Err(NOT_ELIGIBLE));
    assert_eq!(reader(&item).fixed(8), Ok(&INLINE[..8]));
    let mut field = reader(&after);
    assert_eq!(field.fixed(12).map(<[u8]>::len), Ok(12));
    assert_eq!(field.finish(), Err(NOT_ELIGIBLE));
    let inline = *b"\0\0\0\x03abc\0";
    let roundup = at(4);
    assert_eq!(
        Reader::new(&inline).with_chunks(&roundup).fixed(3),
        Ok(&inline[..3])
    );
    let roundup = [Item {
        position: 7,
        place: place(0, 1),
    }];
    let mut field = Reader::new(&inline).with_chunks(&roundup);
    assert_eq!(field.inline_opaque(9), Err(NOT_ELIGIBLE));
}

/// RPC-013, RPC-017: every result takes one chunk of the returned list, used or not; a result whose
/// chunk came back empty is inline.
#[test]
fn results_take_a_chunk_each() {
    let inline = b"\0\0\0\x02ab\0\0\0\0\0\x05\0\0\0\x00\0\0\0\x04";
    let results = [
        place(100, 0),
        place(200, 5),
        place(300, 0),
        place(400, 4),
        place(500, 0),
    ];
    let mut reader = Reader::new(inline).with_results(&results);
    assert_eq!(
        reader.opaque(9),
        Ok(Opaque::Inline {
            octets: b"ab",
            place: None
        })
    );
    assert_eq!(reader.opaque(9), Ok(Opaque::Chunk(place(200, 5))));
    assert_eq!(
        reader.opaque(9),
        Ok(Opaque::Inline {
            octets: b"",
            place: None
        })
    );
    assert_eq!(reader.opaque(9), Ok(Opaque::Chunk(place(400, 4))));
    assert_eq!(reader.position(), 32);
    assert_eq!(reader.finish(), Ok(()));
}

/// RPC-016: octets that were written for no result are an error.
#[test]
fn octets_for_no_result_are_refused() {
    let results = [place(100, 0), place(200, 1)];
    assert_eq!(
        Reader::new(&[]).with_results(&results).finish(),
        Err(ITEM_LENGTH)
    );
    assert_eq!(
        Reader::new(&[]).with_results(&results[..1]).finish(),
        Ok(())
    );
    let mut reader = Reader::new(&[0; 4]).with_results(&results[1..]);
    assert_eq!(reader.opaque(9), Err(ITEM_LENGTH));
    // A result that is a read chunk and was written as well.
    let (chunks, written) = ([chunk(4, 5)], [place(200, 5)]);
    let mut reader = Reader::new(&INLINE[4..8])
        .with_chunks(&chunks)
        .with_results(&written);
    assert_eq!(reader.opaque(9), Err(ITEM_LENGTH));
    let unused = [place(200, 0)];
    let mut reader = Reader::new(&INLINE[4..8])
        .with_chunks(&chunks)
        .with_results(&unused);
    assert_eq!(reader.opaque(9), Ok(Opaque::Chunk(place(1000, 5))));
    assert_eq!(reader.finish(), Ok(()));
}

/// A padded message with a body that `of` reads; it was received at offset 4096.
fn padded<R>(threshold: u32, body: &[u8], of: impl FnOnce(Reader<'_>) -> R) -> R {
    let mut send = Vec::new();
    let padding = Padding {
        align: 16,
        threshold,
    };
    HeaderWriter::new(&mut send, 9, 1, Form::Msgp(padding)).end();
    send.extend_from_slice(&9_u32.to_be_bytes());
    send.extend_from_slice(body);
    let header = Header::parse(&send, &Caps::default()).expect("a header");
    let mut reader = Reader::of_send(&header, Some(place(4096, 128)));
    assert_eq!(reader.u32(), Ok(9));
    of(reader)
}

/// RPC-023: the decoder skips pad before opaques at or above the threshold, from the start of the
/// Send: 36 octets of header, 4 of XID and 4 of count, then 4 of pad.
#[test]
fn pad_is_skipped_by_the_threshold() {
    let body = b"\0\0\0\x05ppppabcde\0\0\0\0\0\0\x02fg\0\0";
    padded(5, body, |mut reader| {
        let inline = Opaque::Inline {
            octets: b"abcde",
            place: Some(place(4096 + 48, 5)),
        };
        assert_eq!(reader.clone().inline_opaque(9), Ok(&b"abcde"[..]));
        assert_eq!(reader.opaque(9), Ok(inline));
        assert_eq!((inline.length(), inline.place()), (5, Some(place(4144, 5))));
        assert_eq!(reader.position(), 16, "pad moves no position");
        let short = Opaque::Inline {
            octets: b"fg",
            place: Some(place(4096 + 60, 2)),
        };
        assert_eq!(reader.opaque(9), Ok(short));
        assert_eq!(reader.finish(), Ok(()));
    });
    padded(6, body, |mut reader| {
        let unpadded = Opaque::Inline {
            octets: b"ppppa",
            place: Some(place(4096 + 44, 5)),
        };
        assert_eq!(reader.opaque(9), Ok(unpadded));
    });
    padded(5, &body[..6], |mut reader| {
        assert_eq!(reader.opaque(9), Err(DecodeError::Truncated));
    });
    padded(0, b"\0\0\0\0", |mut reader| {
        assert_eq!(reader.opaque(9).map(|item| item.length()), Ok(0));
        assert_eq!(reader.finish(), Ok(()), "an empty item has no pad");
    });
}

/// Without a padded header nothing is skipped, and the place is after the header.
#[test]
fn the_body_of_a_send_knows_its_place() {
    let mut send = Vec::new();
    HeaderWriter::new(&mut send, 9, 1, Form::Msg).end();
    send.extend_from_slice(b"\0\0\0\x09\0\0\0\x05abcde\0\0\0");
    let header = Header::parse(&send, &Caps::default()).expect("a header");
    let item = |origin| {
        let mut reader = Reader::of_send(&header, origin);
        reader
            .u32()
            .and_then(|_| reader.opaque(9))
            .map(|item| item.place())
    };
    assert_eq!(item(Some(place(100, 48))), Ok(Some(place(136, 5))));
    assert_eq!(item(Some(place(100, 41))), Ok(Some(place(136, 5))));
    assert_eq!(item(Some(place(100, 40))), Ok(None));
    assert_eq!(item(None), Ok(None));
}

#[test]
fn errors_have_texts() {
    let errors = [
        DecodeError::Truncated,
        DecodeError::TooLong,
        DecodeError::Unknown,
        DecodeError::Trailing,
        ITEM_LENGTH,
    ];
    let texts: std::collections::BTreeSet<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), errors.len());
    assert_eq!(ITEM_LENGTH.to_string(), Refused::ItemLength.to_string());
}
