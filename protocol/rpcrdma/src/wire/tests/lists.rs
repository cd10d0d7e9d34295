//! What is counted and looked up in lists, and lengths that are written back.
use super::vectors::all;
use crate::wire::{header_octets, shortened, Caps, Form, Header, HeaderWriter, Kind, Padding};
use crate::wire::{ReadSegment, Segment};

fn segment(handle: u32, length: u32) -> Segment {
    Segment {
        handle,
        length,
        offset: 0,
    }
}

/// RPC-013, RPC-016: chunks are filled in order, without gaps; what is not filled has length 0.
#[test]
fn returned_lengths_are_those_of_what_was_written() {
    let offered = [segment(1, 4), segment(1, 3), segment(2, 5)];
    let lengths = |octets: u64| {
        let returned: Vec<Segment> = shortened(offered, octets).collect();
        assert!(returned
            .iter()
            .zip(&offered)
            .all(|(back, out)| { (back.handle, back.offset) == (out.handle, out.offset) }));
        returned
            .iter()
            .map(|segment| segment.length)
            .collect::<Vec<_>>()
    };
    assert_eq!(lengths(0), [0, 0, 0]);
    assert_eq!(lengths(4), [4, 0, 0]);
    assert_eq!(lengths(6), [4, 2, 0]);
    assert_eq!(lengths(8), [4, 3, 1]);
    assert_eq!(lengths(12), [4, 3, 5]);
    assert_eq!(lengths(u64::MAX), [4, 3, 5]);
}

/// The octets that a header will have are known before it is written.
#[test]
fn octets_of_headers_are_known_before() {
    for (name, octets) in all() {
        let header = Header::parse(&octets, &Caps::default()).expect("a header");
        let form = match header.kind() {
            Kind::Msg => Form::Msg,
            Kind::Nomsg => Form::Nomsg,
            Kind::Msgp(padding) => Form::Msgp(padding),
            Kind::Done | Kind::Error(_) => continue,
        };
        let writes = header.writes().map(|chunk| chunk.count());
        let reply = header.reply().map(|chunk| chunk.count());
        let known = header_octets(form, header.reads().count(), writes, reply);
        assert_eq!(known, header.octets(), "{name}");
    }
    let padding = Padding {
        align: 8,
        threshold: 0,
    };
    assert_eq!(Form::Msgp(padding).octets_min(), 36);
    assert_eq!(Form::Nomsg.octets_min(), 28);
}

fn parsed<R>(
    reads: &[ReadSegment],
    chunks: &[&[Segment]],
    reply: Option<&[Segment]>,
    of: impl FnOnce(Header<'_>) -> R,
) -> R {
    let mut send = Vec::new();
    let mut writer = HeaderWriter::new(&mut send, 7, 1, Form::Msg);
    reads.iter().for_each(|read| writer.read(*read));
    let mut writer = writer.writes();
    chunks
        .iter()
        .for_each(|chunk| writer.chunk(chunk.iter().copied()));
    match reply {
        Some(reply) => writer.reply(reply.iter().copied()),
        None => writer.end(),
    };
    send.extend_from_slice(&[0, 0, 0, 7]);
    send.resize(send.len() + 96, 0);
    of(Header::parse(&send, &Caps::default()).expect("a header"))
}

/// A peer may invalidate the handle of a call if there is just one, however often.
#[test]
fn the_only_handle_of_all_lists() {
    let read = |handle| ReadSegment {
        position: 8,
        segment: segment(handle, 4),
    };
    let at = |handle, offset| Segment {
        handle,
        length: 4,
        offset,
    };
    let single = |header: Header<'_>| header.single_handle();
    assert_eq!(parsed(&[], &[], None, single), None);
    assert_eq!(parsed(&[read(3)], &[], None, single), Some(3));
    assert_eq!(
        parsed(
            &[read(3), read(3)],
            &[&[at(3, 0)]],
            Some(&[at(3, 4)]),
            single
        ),
        Some(3)
    );
    assert_eq!(parsed(&[read(3), read(4)], &[], None, single), None);
    assert_eq!(parsed(&[read(3)], &[&[at(4, 0)]], None, single), None);
    assert_eq!(parsed(&[], &[&[at(3, 0)]], Some(&[at(4, 0)]), single), None);
    assert_eq!(
        parsed(&[], &[&[], &[at(3, 0), at(3, 4)]], None, single),
        Some(3)
    );
}

#[test]
fn sums_and_counts_of_chunks() {
    let read = |position, length| ReadSegment {
        position,
        segment: segment(1, length),
    };
    let wide = [segment(1, u32::MAX), segment(2, u32::MAX)];
    parsed(
        &[read(8, 4), read(8, 3), read(16, 9)],
        &[&wide, &[]],
        None,
        |header| {
            assert_eq!(header.read_octets(), (16, 0));
            let chunks: Vec<_> = header.writes().collect();
            assert_eq!(
                (chunks[0].count(), chunks[0].octets()),
                (2, 2 * u64::from(u32::MAX))
            );
            assert_eq!((chunks[1].count(), chunks[1].octets()), (0, 0));
            assert_eq!(chunks[0].segments().len(), 2);
            assert_eq!(chunks[0].segments().size_hint(), (2, Some(2)));
            assert_eq!(header.results().collect::<Vec<_>>(), wide);
            assert_eq!(header.padding(), None);
        },
    );
}

/// RPC-023: pad is counted from the start of the Send; it is for items at or above the threshold.
#[test]
fn pad_at_the_limits_of_alignment_and_threshold() {
    let padding = Padding {
        align: 16,
        threshold: 5,
    };
    assert!(padding.is_valid());
    let pads = [(0, 0), (1, 15), (15, 1), (16, 0), (17, 15)];
    for (at, pad) in pads {
        assert_eq!(padding.pad(at, 5), pad, "at {at}");
        assert_eq!(padding.pad(at, 4), 0, "below the threshold at {at}");
        assert_eq!(padding.pad(at, u32::MAX), pad, "at {at}");
    }
    let every = Padding {
        align: 4,
        threshold: 0,
    };
    assert_eq!((every.pad(6, 1), every.pad(6, 0)), (2, 0));
    assert_eq!(
        Padding {
            align: 0,
            threshold: 0
        }
        .pad(6, 1),
        0
    );
    assert_eq!(
        Padding {
            align: 1 << 31,
            threshold: 1
        }
        .pad(1, 1),
        (1 << 31) - 1
    );
    let valid = [4, 8, 4096, 1 << 31];
    assert!(valid.iter().all(|align| Padding {
        align: *align,
        threshold: 0
    }
    .is_valid()));
    let others = [0, 1, 2, 3, 5, 12, u32::MAX];
    assert!(others.iter().all(|align| !Padding {
        align: *align,
        threshold: 0
    }
    .is_valid()));
}
