//! Records: in place or copied, packed, cut, with markers.
use super::*;
use rand::{Rng, SeedableRng};
use rnic_wire::mpa::fpdu::Framing;

/// The stream as `rnic_wire` frames the same ULPDUs.
fn framed_by_wire(ulpdus: &[(Ulpdu, u64)], markers: bool, crc: bool) -> Vec<u8> {
    let mut stream = Vec::new();
    for (ulpdu, end) in ulpdus {
        let payload = contents(&ulpdu.payload);
        Framing { markers, crc }.append(&mut stream, &[ulpdu.head.as_slice(), &payload]);
        assert_eq!(
            stream.len() as u64,
            *end,
            "the end that the source was given"
        );
    }
    stream
}

/// MPA-001, MPA-003, MPA-006, MPA-013, MPA-021, MPA-034, MPA-035, DDP-021, START-026, START-027:
/// random messages at every kind of EMSS, with and without markers and CRC, leave as the octets
/// that another implementation makes of the same ULPDUs; records are whole FPDUs in order.
#[test]
fn the_stream_is_the_one_that_wire_makes() {
    let seed = 0x51;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    for run in 0..3000 {
        let (markers, crc) = (random.random(), random.random());
        let emss = [60, 134, 135, 536, 1448, 1460, 8960, 70_000][random.random_range(0..8)];
        let messages: Vec<_> = (0..random.random_range(1..12))
            .map(|msn| {
                let most = [4, 60, 300, 5000][random.random_range(0..4)];
                let octets = random.random_range(0..most);
                match random.random_range(0..3) {
                    0 => Message::send(1, msn, false, None, payload(octets)),
                    1 => Message::write(1, 2, 3, payload(octets)),
                    _ => Message::read_response(1, 2, 3, payload(octets), random.random()),
                }
            })
            .collect();
        let mut source = Waiting::of(&messages);
        let mut framer = Framer::new(&agreed(markers, crc), emss);
        let (records, stream) = send_all(&mut framer, &mut source);
        let want = framed_by_wire(&source.taken, markers, crc);
        assert_eq!(stream, want, "seed {seed} run {run}");
        for record in records {
            judge(&record, &source.taken, emss, markers);
        }
    }
}

/// MPA-025: a record begins and ends with an FPDU, and fits a segment unless one FPDU alone does
/// not; what is in place is one plain FPDU that fits.
fn judge(record: &Record, taken: &[(Ulpdu, u64)], emss: usize, markers: bool) {
    let starts_or_ends = |place| place == 0 || taken.iter().any(|(_, end)| *end == place);
    match record {
        Record::Scatter(fpdu) => {
            assert!(!markers && fpdu.octets() <= emss);
            assert!(starts_or_ends(fpdu.stream_offset));
        }
        Record::Copied {
            stream_offset,
            octets,
            segment_octets,
        } => {
            assert_eq!(*segment_octets, emss);
            assert!(starts_or_ends(*stream_offset) && starts_or_ends(record.end()));
            let inner = |end: &u64| *end > *stream_offset && *end < record.end();
            let alone = !taken.iter().any(|(_, end)| inner(end));
            assert!(*octets <= emss || (alone && emss < 140));
        }
    }
}

fn framer(emss: usize) -> Framer {
    Framer::new(&agreed(false, true), emss)
}

fn write(octets: usize) -> Message {
    Message::write(1, 1, 0, payload(octets))
}

/// MPA-028, MPA-031: a plain FPDU leaves in place, its payload never read, the CRC left to the
/// device; without CRC the field is zero and done.
#[test]
fn a_plain_fpdu_is_not_copied() {
    let mut source = Waiting::of(&[write(1440)]);
    let (records, _) = send_all(&mut framer(1460), &mut source);
    let Record::Scatter(fpdu) = records[0] else {
        panic!("{records:?}");
    };
    assert_eq!(
        (source.reads, fpdu.crc, fpdu.octets()),
        (0, Crc::Device, 1460)
    );
    assert_eq!(fpdu.head.as_slice().len(), 16);
    let mut framer = Framer::new(&agreed(false, false), 1460);
    let (records, _) = send_all(&mut framer, &mut Waiting::of(&[write(1)]));
    let Record::Scatter(fpdu) = records[0] else {
        panic!("{records:?}");
    };
    assert_eq!(fpdu.crc, Crc::Done);
    assert_eq!(fpdu.trailer.as_slice(), [0; 7]);
}

/// What may change before it is acknowledged is copied once, and its CRC is of what was copied.
#[test]
fn a_snapshot_is_copied() {
    let response = Message::read_response(1, 1, 0, payload(1000), true);
    let mut source = Waiting::of(&[response]);
    let (records, _) = send_all(&mut framer(1460), &mut source);
    assert!(matches!(records[..], [Record::Copied { .. }]));
    assert_eq!(source.reads, 1);
    let response = Message::read_response(1, 1, 0, payload(1000), false);
    let (records, _) = send_all(&mut framer(1460), &mut Waiting::of(&[response]));
    assert!(matches!(records[..], [Record::Scatter(_)]));
}

/// MPA-025: FPDUs of up to 256 octets share a segment if they wait together, and none of 260 does.
#[test]
fn small_fpdus_share_a_segment() {
    let count = |octets: usize, emss| {
        let (records, _) = send_all(&mut framer(emss), &mut Waiting::of(&[write(octets); 5]));
        records.len()
    };
    // 14 octets of header, 6 of FPDU: 236 octets make 256.
    assert_eq!(count(236, 1460), 1);
    assert_eq!(count(236, 1280), 1);
    assert_eq!(count(236, 1279), 2);
    assert_eq!(count(237, 1460), 5);
    let (records, _) = send_all(
        &mut framer(1460),
        &mut Waiting::of(&[write(10), write(1000)]),
    );
    assert!(matches!(
        records[..],
        [Record::Scatter(_), Record::Scatter(_)]
    ));
}

/// MPA-030, MPA-036, DDP-002: an EMSS below that of a MULPDU of 128 cuts the FPDU over segments, as
/// the same octets.
#[test]
fn a_tiny_emss_cuts_fpdus() {
    for emss in [0, 1, 60, 100, 135] {
        let mut one = framer(emss);
        assert_eq!(one.mulpdu(), 128);
        let mut source = Waiting::of(&[write(114)]);
        let (records, stream) = send_all(&mut one, &mut source);
        assert_eq!(stream.len(), 136);
        let want = Record::Copied {
            stream_offset: 0,
            octets: 136,
            segment_octets: emss.max(1),
        };
        assert_eq!(records, [want]);
        assert_eq!(stream, framed_by_wire(&source.taken, false, true));
    }
}

/// MPA-026, MPA-032, MPA-033, MPA-036, MPA-061: the MULPDU follows EMSS within 128 and 64768, and
/// no ULPDU is longer.
#[test]
fn the_mulpdu_follows_emss() {
    let mut one = framer(EMSS_UNKNOWN);
    assert_eq!(one.mulpdu(), 1454);
    for (emss, want) in [
        (EMSS_SMALL, 530),
        (68, 128),
        (134, 128),
        (1463, 1454),
        (64_774, 64_766),
        (64_776, 64_768),
        (1 << 20, 64_768),
        (usize::MAX, 64_768),
    ] {
        one.set_emss(emss);
        assert_eq!(one.mulpdu(), want);
        let mut source = Waiting::of(&[write(200_000)]);
        send_all(&mut one.clone(), &mut source);
        assert!(source.taken.iter().all(|(ulpdu, _)| ulpdu.octets() <= want));
        one = framer(emss);
    }
}

/// DDP-002: an FPDU whose payload cannot be read does not leave, nor does a part of it; those
/// before it in the same segment do.
#[test]
fn an_unreadable_payload_does_not_leave() {
    let piece = Piece {
        region: 9,
        offset: 0,
        octets: 8,
    };
    let revoked = Pieces::new(&[payload(8).as_slice()[0], piece]).expect("two pieces");
    let bad = Message::write(1, 1, 0, revoked);
    for markers in [false, true] {
        let mut framer = Framer::new(&agreed(markers, true), 1460);
        let mut source = Waiting::of(&[write(20), bad, write(20)]);
        source.unreadable = Some(9);
        let mut out = Vec::new();
        let record = framer
            .next_record(&mut source, &mut out)
            .expect("the first");
        let first = framed_by_wire(&source.taken[..1], markers, true);
        assert_eq!(on_the_wire(&record, &out), first);
        assert_eq!(framer.stream_offset(), first.len() as u64);
        let mut source = Waiting::of(&[bad]);
        source.unreadable = Some(9);
        let mut framer = Framer::new(&agreed(true, true), 1460);
        assert_eq!(framer.next_record(&mut source, &mut out), None);
        assert_eq!((out.len(), framer.stream_offset()), (0, 0));
    }
}

/// Nothing is allocated once the buffer has grown.
#[test]
fn the_buffer_is_used_again() {
    let mut framer = Framer::new(&agreed(true, true), 1460);
    let mut out = Vec::with_capacity(1460);
    let place = out.as_ptr();
    let mut source = Waiting::of(&[write(100_000)]);
    while framer.next_record(&mut source, &mut out).is_some() {
        assert!(out.len() <= 1460);
    }
    assert_eq!(out.as_ptr(), place);
}
