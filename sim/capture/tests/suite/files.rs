//! Files as they are found: packed, cut, with zeros at their end, joined, or no captures at all.

use super::conversation::{assert_whole, frames, kinds, opened, pcap, record, refused, FRAMES};
use flate2::{write::GzEncoder, Compression};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::Write;

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(octets).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn xz(octets: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(6);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).expect("sound options");
    writer.write_all(octets).expect("memory takes all");
    writer.finish().expect("memory takes all")
}

fn zstd(octets: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(octets, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A Zstandard frame that holds no data.
fn skipped(octets: usize) -> Vec<u8> {
    let length = (octets as u32).to_le_bytes();
    [&[0x53, 0x2a, 0x4d, 0x18], &length[..], &vec![9; octets]].concat()
}

/// Whatever the name says; also of several members, streams or frames.
#[test]
fn packed_files_are_known_by_what_they_hold() {
    let plain = pcap(1, &frames());
    let (head, tail) = plain.split_at(plain.len() / 2);
    for packed in [
        gzip(&plain),
        xz(&plain),
        zstd(&plain),
        [gzip(head), gzip(tail)].concat(),
        [xz(head), xz(tail)].concat(),
        [zstd(head), zstd(tail)].concat(),
        [
            skipped(0),
            zstd(head),
            skipped(70_000),
            zstd(tail),
            skipped(3),
        ]
        .concat(),
    ] {
        let opened = opened(packed);
        assert_whole(&opened);
        assert_eq!(opened.notes, []);
    }
}

/// Wherever a packed file ends, what came out whole is played, or the refusal names the file.
#[test]
fn a_packed_file_may_end_anywhere() {
    // Octets that cannot be packed well, and more than a block of each format.
    let mut all = frames();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    all.extend((0..300).map(|_| {
        let mut frame = vec![0; 1000];
        random.fill(&mut frame[..]);
        frame
    }));
    let plain = pcap(1, &all);
    for pack in [gzip, xz, zstd] {
        let packed = pack(&plain);
        let mut played = 0;
        let within = (64..packed.len()).step_by(4999);
        for end in (1..64).chain(within).chain(packed.len() - 9..packed.len()) {
            let read = super::conversation::open(packed[..end].to_vec(), &Default::default());
            match read {
                Ok(opened) => {
                    played += 1;
                    assert!(
                        kinds(&opened.notes).contains(&"cut"),
                        "{end}: {:?}",
                        opened.notes
                    );
                }
                Err(error) => {
                    let words = error.to_string();
                    assert!(words.contains("made.pcap"), "{words}");
                    assert!(end < 6 || words.contains("too early"), "{end}: {words}");
                }
            }
        }
        assert!(played > 0, "none of the ends of {} octets", packed.len());
    }
}

/// Octets that cannot be unpacked are no end.
#[test]
fn damage_inside_a_packed_file_is_named() {
    let plain = pcap(1, &frames());
    for pack in [gzip, xz, zstd] {
        let mut packed = pack(&plain);
        let checked = packed.len() - 6;
        packed[checked] ^= 0xff;
        let damaged = packed;
        let words = match super::conversation::open(damaged, &Default::default()) {
            Ok(opened) => format!("{:?}", opened.notes),
            Err(error) => error.to_string(),
        };
        assert!(
            words.contains("unpacked") || words.contains("compressed"),
            "{words}"
        );
    }
}

/// At every octet of the file: the packets before it are read, and the rest is said.
#[test]
fn a_file_may_end_anywhere() {
    let whole = pcap(1, &frames());
    let mut ends = vec![24];
    for frame in frames() {
        ends.push(ends.last().expect("one is there") + 16 + frame.len());
    }
    for end in 24..=whole.len() {
        let opened = opened(whole[..end].to_vec());
        let packets = ends.iter().filter(|&&packet| packet <= end).count() - 1;
        assert_eq!(opened.capture.frames.len(), packets, "{end}");
        let is_cut = !ends.contains(&end);
        assert_eq!(
            kinds(&opened.notes).contains(&"cut"),
            is_cut,
            "{end}: {:?}",
            opened.notes
        );
        if is_cut {
            let place = match end - ends[packets] {
                1 => "in 1 octet, too few for the header of a packet,".to_owned(),
                octets @ 2..16 => {
                    format!("in {octets} octets, too few for the header of a packet,")
                }
                _ => "inside a packet".to_owned(),
            };
            let words = match packets {
                0 => format!("{place} before its first frame is whole: capture it again"),
                1 => format!("{place} after frame 1: its 1 whole frame is played"),
                _ => format!("{place} after frame {packets}: its {packets} whole frames are"),
            };
            assert!(opened.notes[0].text.contains(&words), "{:?}", opened.notes);
        }
    }
    for end in 1..24 {
        assert!(
            refused(whole[..end].to_vec()).contains("made.pcap"),
            "{end}"
        );
    }
}

/// A file whose end was never written: any number of zeros, of both formats.
#[test]
fn zeros_at_the_end_are_said() {
    let section = [
        &[
            0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
        ][..],
        &[0xff; 8],
        &[28, 0, 0, 0],
        &[1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0],
    ]
    .concat();
    for zeros in [1, 4, 11, 12, 15, 16, 17, 4096, 100_000] {
        let tail = vec![0; zeros];
        let opened = opened([pcap(1, &frames()), tail.clone()].concat());
        assert_whole(&opened);
        let kind = kinds(&opened.notes);
        assert_eq!(kind.len(), 1, "{zeros}: {kind:?}");
        assert!(["zeros", "cut"].contains(&kind[0]), "{zeros}: {kind:?}");
        let empty = super::conversation::opened([section.clone(), tail].concat());
        assert_eq!(kinds(&empty.notes).len(), 1, "{zeros}");
        assert_eq!(kinds(&empty.causes), ["empty"]);
    }
    let other = [pcap(1, &frames()), vec![0; 100], vec![1]].concat();
    assert!(refused(other).contains("damaged after frame 7: zeros follow, and other"));
}

/// `cat a.pcap b.pcap`: both are played, and the place is said.
#[test]
fn two_captures_in_one_file_are_played_after_each_other() {
    let all = frames();
    let (first, second) = all.split_at(3);
    let mut big_endian = 0xa1b2_c3d4_u32.to_be_bytes().to_vec();
    big_endian.extend([0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1]);
    for frame in second {
        big_endian.extend([0; 8]);
        big_endian.extend((frame.len() as u32).to_be_bytes());
        big_endian.extend((frame.len() as u32).to_be_bytes());
        big_endian.extend(frame);
    }
    for second in [pcap(1, second), big_endian] {
        let opened = opened([pcap(1, first), second].concat());
        assert_whole(&opened);
        assert_eq!(kinds(&opened.notes), ["joined"]);
        assert_eq!(opened.notes[0].frames, [3]);
    }
}

/// What is no capture is named if it is known, and how to convert it.
#[test]
fn other_formats_are_named() {
    for (head, name, way_out) in [
        (&b"BZh91AY"[..], "bzip2", "bunzip2"),
        (&[0x04, 0x22, 0x4d, 0x18], "lz4", "unlz4"),
        (b"PK\x03\x04", "zip", "unzip"),
        (b"snoop\0\0\0", "snoop", "editcap"),
        (b"GMBU", "Network Monitor", "editcap"),
        (b"<html>", "no pcap or pcapng", "tcpdump"),
        (b"\r\n\r\r\r\n", "text mode", "binary mode"),
        (&gzip(&gzip(b"any")), "packed twice", "unpack it once"),
        (&zstd(&xz(b"any")), "packed twice", "unpack it once"),
        (&gzip(&zstd(b"any")), "packed twice", "unpack it once"),
    ] {
        let words = refused(head.to_vec());
        assert!(words.contains(name) && words.contains(way_out), "{words}");
    }
    let empty = opened(Vec::new());
    assert_eq!(
        (kinds(&empty.causes), kinds(&empty.notes)),
        (vec!["empty"], vec![])
    );
    let words = &empty.causes[0].text;
    assert!(words.contains("made.pcap is empty: 0 octets"), "{words}");
}

/// Octets after the last member that are none, as gzip's own program leaves them out.
#[test]
fn octets_after_a_packed_file_are_said() {
    let plain = pcap(1, &frames());
    for (packed, tail) in [
        (gzip(&plain), &b"<html>"[..]),
        (gzip(&plain), &[1]),
        (zstd(&plain), b"<html>"),
        // The first octet is that of a frame without data, the others are not.
        (zstd(&plain), b"Post scriptum"),
    ] {
        let opened = opened([&packed, tail].concat());
        assert_whole(&opened);
        assert_eq!(kinds(&opened.notes), ["foreign"], "{:?}", opened.notes);
        let words = "not packed as those before, after frame 7: its 7 whole frames are played";
        assert!(opened.notes[0].text.contains(words), "{:?}", opened.notes);
    }
}

/// A Zstandard frame whose end is missing gives all of its whole blocks, though its window, which a
/// decoder keeps back, is larger than all of them.
#[test]
fn each_whole_block_of_a_cut_zstandard_frame_is_played() {
    const BLOCK_OCTETS: usize = 1 << 17;
    let mut all = frames();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    all.extend((0..600).map(|_| {
        let mut frame = vec![0; 1000];
        random.fill(&mut frame[..]);
        frame
    }));
    let plain = pcap(1, &all);
    // Raw blocks (RFC 8878 section 3.1.1.2) of a frame with a window of 8 MiB, without a checksum.
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3];
    let mut ends = vec![packed.len()];
    let blocks = plain.chunks(BLOCK_OCTETS);
    let count = blocks.len();
    for (number, block) in blocks.enumerate() {
        let header = (block.len() << 3 | usize::from(number + 1 == count)) as u32;
        packed.extend(&header.to_le_bytes()[..3]);
        packed.extend(block);
        ends.push(packed.len());
    }
    assert_eq!(opened(packed.clone()).capture.frames.len(), all.len());
    for end in (1..ends.len()).flat_map(|block| [ends[block] - 1, ends[block], ends[block] + 1]) {
        let end = end.min(packed.len() - 1);
        let whole_blocks = ends.iter().filter(|&&whole| whole <= end).count() - 1;
        if whole_blocks == 0 {
            continue;
        }
        let cut = opened(packed[..end].to_vec());
        let expected = opened(plain[..whole_blocks * BLOCK_OCTETS].to_vec());
        assert_eq!(cut.capture.frames, expected.capture.frames, "{end}");
        assert_eq!(kinds(&cut.notes), ["cut"], "{end}");
    }
}

/// A snap length matters where it cuts a connection that is played.
#[test]
fn a_cut_frame_matters_if_its_connection_is_played() {
    let all = frames();
    let mut own = pcap(1, &all[..5]);
    own.extend(record(&all[5][..100], all[5].len() as u32));
    own.extend(record(&all[6], all[6].len() as u32));
    let words = refused(own);
    for part in [
        "frame 6 holds 100 of its",
        "10.7.0.1:40001 > 10.7.0.2:7174",
        "tcpdump -s 0",
    ] {
        assert!(words.contains(part), "no {part} in {words}");
    }
    // Padding that was not captured belongs to nobody.
    let mut padded = pcap(1, &all[..6]);
    padded.extend(record(&all[6], all[6].len() as u32 + 6));
    let opened = opened(padded);
    assert_whole(&opened);
    assert_eq!(opened.capture.frames.len(), FRAMES);
    // Captured octets beyond the original length are padding as well.
    let mut beyond = pcap(1, &all[..6]);
    beyond.extend(record(&all[6], all[6].len() as u32 - 6));
    assert_whole(&super::conversation::opened(beyond));
}
