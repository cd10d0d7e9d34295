//! Compounds of NFS version 4.0, by the words of RFC 7530.
use crate::binding::nfs4::{begin, reply_octets_max, Attributes, Bitmap, Entry, Operation};
use crate::binding::nfs4::{Outcome, Results, StateId};
use crate::place::{MemoryId, Place};
use crate::stream::{DecodeError, Message, Opaque, Reader};
use crate::wire::Refused;

const PLACE: Place = Place {
    memory: MemoryId(1),
    offset: 64,
    length: 5,
};

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn written(operation: Operation<'_>) -> Vec<u8> {
    let mut message = Message::new();
    operation.write(&mut message).expect("short");
    assert_eq!(
        message.inline()[..4],
        operation.procedure().number.to_be_bytes()
    );
    message.inline().to_vec()
}

#[test]
fn arguments_are_the_words_of_the_specification() {
    let state = StateId {
        seqid: 7,
        other: [8; 12],
    };
    let eights = 0x0808_0808;
    let cases = [
        (Operation::GetAttr(Bitmap([5, 6])), &[9, 2, 5, 6][..]),
        (Operation::GetFh, &[10]),
        (Operation::Lookup(&[1, 2, 3]), &[15, 3, 0x0102_0300]),
        (Operation::PutFh(&[1, 2, 3, 4]), &[22, 4, 0x0102_0304]),
        (Operation::PutRootFh, &[24]),
        (
            Operation::Read {
                state,
                offset: 1 << 33,
                count: 9,
            },
            &[25, 7, eights, eights, eights, 2, 0, 9],
        ),
        (
            Operation::ReadDir {
                cookie: 1 << 32 | 3,
                verifier: [8; 8],
                dircount: 11,
                maxcount: 12,
                attributes: Bitmap([1, 2]),
            },
            &[26, 1, 3, eights, eights, 11, 12, 2, 1, 2],
        ),
        (Operation::ReadLink, &[27]),
        (
            Operation::Write {
                state: StateId::ANONYMOUS,
                offset: 5,
                stable: 2,
                data: PLACE,
            },
            &[38, 0, 0, 0, 0, 0, 5, 2, 5],
        ),
    ];
    for (operation, expected) in cases {
        assert_eq!(written(operation), words(expected), "{operation:?}");
    }
    let mut message = Message::new();
    begin(&mut message, b"tag", 3).expect("short");
    assert_eq!(message.inline(), words(&[3, 0x7461_6700, 0, 3]));
}

/// RPC-007: the data of each WRITE of a compound is an item at its place in the stream.
#[test]
fn data_of_every_write_is_an_item() {
    let mut message = Message::new();
    begin(&mut message, b"", 2).expect("short");
    let write = |offset| Operation::Write {
        state: StateId::ANONYMOUS,
        offset,
        stable: 0,
        data: PLACE,
    };
    write(0).write(&mut message).expect("an item");
    write(5).write(&mut message).expect("an item");
    let positions: Vec<u32> = message.items().iter().map(|item| item.position).collect();
    assert_eq!(positions, [12 + 36, 12 + 36 + 8 + 36]);
}

fn results(octets: &[u8]) -> Results<'_> {
    Results::read(Reader::new(octets)).expect("results")
}

fn only(octets: &[u8]) -> Result<Option<Outcome<'_>>, DecodeError> {
    results(octets).next(&mut |_| {})
}

#[test]
fn results_are_the_words_of_the_specification() {
    let octets = words(&[
        0,
        3,
        0x7461_6700,
        9,
        9,
        0,
        3,
        1,
        2,
        3,
        4,
        0x0405_0607,
        10,
        0,
        4,
        0x0102_0304,
    ]);
    let more = words(&[
        15,
        0,
        22,
        0,
        24,
        0,
        25,
        0,
        1,
        2,
        0x6162_0000,
        27,
        0,
        1,
        0x6300_0000,
    ]);
    let last = words(&[38, 0, 5, 2, 0x0808_0808, 0x0808_0808, 10, 10_020]);
    let octets = [octets, more, last].concat();
    let mut results = results(&octets);
    assert_eq!((results.status(), results.left()), (0, 9));
    let inline = |octets| Opaque::Inline {
        octets,
        place: None,
    };
    let attributes = Attributes {
        bitmap: Bitmap([1, 2]),
        values: &[4, 5, 6, 7],
    };
    let expected = [
        Outcome::GetAttr(attributes),
        Outcome::GetFh(&[1, 2, 3, 4]),
        Outcome::Lookup,
        Outcome::PutFh,
        Outcome::PutRootFh,
        Outcome::Read {
            eof: true,
            data: inline(b"ab"),
        },
        Outcome::ReadLink(inline(b"c")),
        Outcome::Write {
            count: 5,
            committed: 2,
            verifier: [8; 8],
        },
        Outcome::Failed {
            operation: 10,
            status: 10_020,
        },
    ];
    for (index, outcome) in expected.into_iter().enumerate() {
        assert_eq!(results.left() as usize, 9 - index);
        assert_eq!(results.next(&mut |_| panic!("no entry")), Ok(Some(outcome)));
    }
    assert_eq!(results.next(&mut |_| {}), Ok(None));
}

#[test]
fn entries_of_a_directory_are_shown_in_order() {
    let head = words(&[0, 0, 1, 26, 0, 0x0808_0808, 0x0808_0808]);
    let first = words(&[1, 0, 3, 1, 0x6100_0000, 0, 0]);
    let second = words(&[1, 1, 4, 2, 0x6263_0000, 2, 1, 2, 4, 0x0405_0607]);
    let octets = [head.clone(), first, second, words(&[0, 1])].concat();
    let mut entries = Vec::new();
    let outcome = results(&octets).next(&mut |entry| entries.push(entry));
    assert_eq!(
        outcome,
        Ok(Some(Outcome::ReadDir {
            verifier: [8; 8],
            eof: true
        }))
    );
    let none = Attributes {
        bitmap: Bitmap([0, 0]),
        values: &[],
    };
    let some = Attributes {
        bitmap: Bitmap([1, 2]),
        values: &[4, 5, 6, 7],
    };
    let expected = [
        Entry {
            cookie: 3,
            name: b"a",
            attributes: none,
        },
        Entry {
            cookie: 1 << 32 | 4,
            name: b"bc",
            attributes: some,
        },
    ];
    assert_eq!(entries, expected);
    let octets = [head.clone(), words(&[0, 0])].concat();
    assert_eq!(
        only(&octets),
        Ok(Some(Outcome::ReadDir {
            verifier: [8; 8],
            eof: false
        }))
    );
    let octets = [head, words(&[2])].concat();
    assert_eq!(only(&octets), Err(DecodeError::Unknown));
}

/// RPC-017: two READs of a compound take a write chunk each.
#[test]
fn each_read_takes_its_chunk() {
    let octets = words(&[0, 0, 2, 25, 0, 0, 5, 25, 0, 1, 3]);
    let place = |offset, length| Place {
        memory: MemoryId(9),
        offset,
        length,
    };
    let written = [place(0, 5), place(4096, 3)];
    let mut results = Results::read(Reader::new(&octets).with_results(&written)).expect("results");
    let chunk = |eof, place| {
        Ok(Some(Outcome::Read {
            eof,
            data: Opaque::Chunk(place),
        }))
    };
    assert_eq!(results.next(&mut |_| {}), chunk(false, written[0]));
    assert_eq!(results.next(&mut |_| {}), chunk(true, written[1]));
    assert_eq!(results.next(&mut |_| {}), Ok(None));
    // A third chunk that nobody has asked to be written.
    let written = [place(0, 5), place(4096, 3), place(8192, 1)];
    let mut results = Results::read(Reader::new(&octets).with_results(&written)).expect("results");
    assert!(results.next(&mut |_| {}).is_ok() && results.next(&mut |_| {}).is_ok());
    let left = results.next(&mut |_| {});
    assert_eq!(left, Err(DecodeError::Chunk(Refused::ItemLength)));
}

#[test]
fn results_that_are_wrong_are_refused() {
    assert_eq!(results(&words(&[10_020, 0, 0])).status(), 10_020);
    assert_eq!(only(&words(&[0, 0, 1, 11, 0])), Err(DecodeError::Unknown));
    assert_eq!(
        only(&words(&[0, 0, 1, 25, 0, 2, 0])),
        Err(DecodeError::Unknown)
    );
    assert_eq!(only(&words(&[0, 0, 0, 1])), Err(DecodeError::Trailing));
    let long = words(&[0, 0, 1, 10, 0, 129]);
    assert_eq!(only(&long), Err(DecodeError::TooLong));
    let bitmap = |count: u32| {
        let mut octets = words(&[0, 0, 1, 9, 0, count]);
        octets.resize(octets.len() + 4 * count as usize + 4, 0);
        only(&octets).map(|outcome| outcome.is_some())
    };
    assert_eq!(
        (bitmap(0), bitmap(8), bitmap(9)),
        (Ok(true), Ok(true), Err(DecodeError::TooLong))
    );
    let octets = words(&[0, 0, 1, 38, 0, 5, 2, 8, 8]);
    for end in 12..octets.len() {
        assert_eq!(only(&octets[..end]), Err(DecodeError::Truncated), "{end}");
    }
    assert!(Results::read(Reader::new(&octets[..11])).is_err());
}

/// Bounds of results: what this compound's reply can be at most is what it is here.
#[test]
fn results_are_as_long_as_their_bounds() {
    let operations = [
        Operation::PutRootFh,
        Operation::Lookup(b"a"),
        Operation::GetFh,
    ];
    let rows = operations.map(|operation| operation.procedure());
    let bound = reply_octets_max(4, rows.iter().map(|row| (row, 0)));
    let longest = [words(&[0, 4, 0, 3, 24, 0, 15, 0, 10, 0, 128]), vec![0; 128]].concat();
    assert_eq!(longest.len() as u64, bound);
}
