use super::*;
use crate::file::parse;
use std::path::Path;

#[test]
fn frames_of_every_padding_are_read_back() {
    let frames: Vec<Vec<u8>> = (60..70).map(|octets| vec![octets as u8; octets]).collect();
    let mut octets = head(["a", "unix:/tmp/wire", "tap:rnic0", ""]);
    for (number, octets_of) in frames.iter().enumerate() {
        octets.extend(frame(number as u32 % 4, 1 << 51 | number as u64, octets_of));
    }
    let capture = parse(Path::new("x.pcapng"), octets).expect("it is whole");
    assert_eq!(capture.frames, frames);
}

/// Interfaces and times are where pcapng has them (draft-ietf-opsawg-pcapng, sections 4.2 and 4.3).
#[test]
fn interfaces_and_times_are_where_a_reader_looks() {
    let octets = frame(3, 0x1_2345_6789, &[7; 5]);
    let word = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().expect("four octets"));
    let found = [0, 4, 8, 12, 16, 20, 24].map(word);
    assert_eq!(found, [6, 40, 3, 1, 0x2345_6789, 5, 5]);
    assert_eq!(octets[28..36], [7, 7, 7, 7, 7, 0, 0, 0]);
    assert_eq!((octets.len(), word(36)), (40, 40));
}
