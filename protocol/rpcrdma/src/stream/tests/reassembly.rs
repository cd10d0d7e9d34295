//! The stream that is made by a copy.
use super::{place, Memory};
use crate::place::Place;
use crate::stream::{Reassembly, Splice};
use std::io::Read;

fn splice(position: u32, pad_octets: u32, place: Option<Place>) -> Splice {
    Splice {
        position,
        pad_octets,
        place,
    }
}

/// The stream, read by `step` octets at a time.
fn whole(inline: &[u8], splices: &[Splice], step: usize) -> std::io::Result<Vec<u8>> {
    let memory = Memory::new();
    let mut stream = Reassembly::new(inline, splices, |place, octets: &mut [u8]| {
        octets.copy_from_slice(memory.at(place));
    });
    let (mut all, mut buffer) = (Vec::new(), vec![0xa5; step]);
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(all),
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

#[test]
fn items_are_between_the_inline_octets() {
    let memory = Memory::new();
    let splices = [
        splice(4, 0, Some(place(10, 5))),
        splice(16, 2, None),
        splice(20, 0, Some(place(50, 4))),
    ];
    let inline = b"abcdefghPPijkl";
    let (first, second) = (memory.at(place(10, 5)), memory.at(place(50, 4)));
    let expected = [b"abcd", first, &[0; 3], b"efgh", b"ijkl", second].concat();
    let expected = [&expected[..16], b"ijkl", second].concat();
    let inline = [&inline[..4], b"efgh", &inline[8..]].concat();
    for step in 1..40 {
        // Position 12 is after the first item with its roundup.
        let splices = [splices[0], splice(16, 2, None), splices[2]];
        let stream = whole(&inline, &splices, step).expect("a stream");
        assert_eq!(stream, expected, "by {step}");
    }
}

/// RPC-018: roundup that is nowhere is made up; more than that is missing.
#[test]
fn a_position_is_met_by_roundup_or_not_at_all() {
    let memory = Memory::new();
    let item = memory.at(place(10, 4));
    for step in 1..9 {
        let stream = whole(b"abcde", &[splice(8, 0, Some(place(10, 4)))], step);
        assert_eq!(stream.expect("a stream"), [b"abcde\0\0\0", item].concat());
    }
    let missing = whole(b"abcd", &[splice(8, 0, Some(place(10, 4)))], 9);
    assert_eq!(
        missing.map_err(|error| error.kind()),
        Err(std::io::ErrorKind::UnexpectedEof)
    );
    let pad = whole(b"abcd", &[splice(0, 5, None)], 9);
    assert_eq!(
        pad.map_err(|error| error.kind()),
        Err(std::io::ErrorKind::UnexpectedEof)
    );
}

#[test]
fn empty_items_and_several_of_a_position() {
    let memory = Memory::new();
    let item = memory.at(place(10, 4));
    let splices = [
        splice(0, 0, Some(place(7, 0))),
        splice(0, 1, Some(place(10, 4))),
    ];
    assert_eq!(
        whole(b"Pab", &splices, 3).expect("a stream"),
        [item, b"ab"].concat()
    );
    assert_eq!(whole(b"", &[], 3).expect("a stream"), b"");
    let splices = [
        splice(0, 0, Some(place(10, 4))),
        splice(0, 0, Some(place(50, 4))),
    ];
    let both = [item, memory.at(place(50, 4))].concat();
    assert_eq!(whole(b"", &splices, 3).expect("a stream"), both);
}
