//! What is refused, at its limits, and the layout of units.
use super::*;

const MEMORY: Piece = Piece::Memory(DmaBuffer {
    address: 0x1122_3344_5566_7788,
    octets: 0x123,
});

fn frame<'a>(pieces: &'a [Piece<'a>]) -> TransmitFrame<'a> {
    TransmitFrame {
        pieces,
        checksum: None,
        crc: None,
        cookie: 0,
    }
}

fn memory(address: u64, octets: usize) -> Piece<'static> {
    Piece::Memory(DmaBuffer { address, octets })
}

#[test]
fn pieces_are_one_to_eight_and_have_octets() {
    let error = |pieces| FrameError::Pieces { pieces };
    assert_eq!(frame(&[]).check(), Err(error(0)));
    assert_eq!(frame(&[MEMORY; 8]).check(), Ok(()));
    assert_eq!(frame(&[MEMORY; 9]).check(), Err(error(9)));
    let with_empty = |empty| frame(&[MEMORY, empty, MEMORY]).check();
    let error = Err(FrameError::EmptyPiece { piece: 1 });
    assert_eq!(with_empty(Piece::Octets(&[])), error);
    assert_eq!(with_empty(memory(5, 0)), error);
}

#[test]
fn a_piece_ends_with_the_address_space() {
    assert_eq!(frame(&[memory(u64::MAX - 63, 64)]).check(), Ok(()));
    let error = FrameError::PieceWraps {
        piece: 0,
        address: u64::MAX - 62,
        octets: 64,
    };
    assert_eq!(frame(&[memory(u64::MAX - 62, 64)]).check(), Err(error));
}

#[test]
fn a_frame_has_14_to_9216_octets() {
    for (octets, fits) in [(13, false), (14, true), (9216, true), (9217, false)] {
        let expected = match fits {
            true => Ok(()),
            false => Err(FrameError::Length { octets }),
        };
        assert_eq!(frame(&[memory(0, octets)]).check(), expected);
        let two = [memory(0, 1), memory(0, octets - 1)];
        assert_eq!(frame(&two).check(), expected);
    }
    // Their sum does not wrap.
    let octets = usize::MAX;
    let wraps = [memory(0, octets), memory(0, 15)];
    assert_eq!(frame(&wraps).check(), Err(FrameError::Length { octets }));
}

#[test]
fn a_checksum_stands_in_what_it_sums_at_an_even_distance() {
    for (start, place, fits) in [
        (34, 50, true),
        (34, 34, true),
        (34, 98, true),
        (35, 99, false),
        (35, 97, true),
        (34, 51, false),
        (34, 33, false),
        (34, 32, false),
        (0, usize::MAX - 1, false),
        (usize::MAX - 1, usize::MAX - 1, false),
    ] {
        let pieces = [memory(0, 100)];
        let frame = TransmitFrame {
            checksum: Some(InsertChecksum { start, place }),
            ..frame(&pieces)
        };
        let octets = 100;
        let error = FrameError::Checksum {
            start,
            place,
            octets,
        };
        let expected = if fits { Ok(()) } else { Err(error) };
        assert_eq!(frame.check(), expected, "{start} {place}");
    }
}

#[test]
fn a_crc_covers_octets_and_stands_after_them() {
    for (first, covered, fits) in [
        (54, 42, true),
        (54, 43, false),
        (95, 1, true),
        (96, 1, false),
        (54, 0, false),
        (usize::MAX, 1, false),
        (1, usize::MAX - 1, false),
        (1, usize::MAX - 3, false),
    ] {
        let pieces = [memory(0, 100)];
        let frame = TransmitFrame {
            crc: Some(InsertCrc {
                first,
                octets: covered,
            }),
            ..frame(&pieces)
        };
        let error = FrameError::Crc {
            first,
            covered,
            octets: 100,
        };
        let expected = if fits { Ok(()) } else { Err(error) };
        assert_eq!(frame.check(), expected, "{first} {covered}");
    }
}

#[test]
fn a_checksum_stands_outside_of_the_crc() {
    let crc = InsertCrc {
        first: 54,
        octets: 10,
    };
    for (place, fits) in [
        (52, true),
        (53, false),
        (54, false),
        (63, false),
        (67, false),
        (68, true),
    ] {
        let pieces = [memory(0, 100)];
        let frame = TransmitFrame {
            checksum: Some(InsertChecksum {
                start: place,
                place,
            }),
            crc: Some(crc),
            ..frame(&pieces)
        };
        let error = FrameError::ChecksumUnderCrc { place };
        let expected = if fits { Ok(()) } else { Err(error) };
        assert_eq!(frame.check(), expected, "{place}");
    }
}

/// The words of the layout in `rnic_abi::transmit_ring`, in numbers.
#[test]
fn units_are_a_head_and_pairs_of_elements() {
    let pieces = [MEMORY, memory(7, 8), memory(9, 10)];
    let frame = TransmitFrame {
        checksum: Some(InsertChecksum {
            start: 34,
            place: 50,
        }),
        crc: Some(InsertCrc {
            first: 54,
            octets: 200,
        }),
        cookie: u64::MAX,
        ..frame(&pieces)
    };
    assert_eq!(frame.check(), Ok(()));
    let elements = pieces.map(|piece| match piece {
        Piece::Memory(buffer) => buffer,
        Piece::Octets(_) => unreachable!("all are memory"),
    });
    let encoded = frame.encode(&elements);
    assert_eq!(frame.units(), 3);
    let words: Vec<u32> = encoded[..3]
        .concat()
        .chunks_exact(4)
        .map(|octets| u32::from_le_bytes(octets.try_into().expect("four octets")))
        .collect();
    let head = [0x0033_0135, 50 << 16 | 34, 200 << 16 | 54, 0, 0, 0, 0, 0];
    assert_eq!(words[..8], head);
    let first_two = [0x5566_7788, 0x1122_3344, 0x123, 0, 7, 0, 8, 0];
    assert_eq!(words[8..16], first_two);
    assert_eq!(words[16..], [9, 0, 10, 0, 0, 0, 0, 0]);
}
