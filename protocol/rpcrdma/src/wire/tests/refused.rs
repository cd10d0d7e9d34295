//! Each reason to refuse a header, at its limit and one beyond.
use super::vectors::{all, XID};
use crate::wire::Segment;
use crate::wire::{Answer, Caps, Form, Header, HeaderWriter, Padding, ReadSegment, Refused};

const CAPS: Caps = Caps {
    segments_max: 4,
    write_chunks_max: 2,
    read_octets_max: 1000,
};

fn refusal(octets: &[u8]) -> Option<Refused> {
    Header::parse(octets, &CAPS).err()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn segment(handle: u32, length: u32, offset: u64) -> Segment {
    Segment {
        handle,
        length,
        offset,
    }
}

fn read(position: u32, length: u32) -> ReadSegment {
    ReadSegment {
        position,
        segment: segment(9, length, 0),
    }
}

/// A message with a body of `body` octets.
fn message(
    form: Form,
    reads: &[ReadSegment],
    chunks: &[&[Segment]],
    reply: Option<&[Segment]>,
    body: usize,
) -> Vec<u8> {
    let mut send = Vec::new();
    let mut writer = HeaderWriter::new(&mut send, XID, 1, form);
    reads.iter().for_each(|read| writer.read(*read));
    let mut writer = writer.writes();
    chunks
        .iter()
        .for_each(|chunk| writer.chunk(chunk.iter().copied()));
    match reply {
        Some(reply) => writer.reply(reply.iter().copied()),
        None => writer.end(),
    };
    let mut octets = XID.to_be_bytes().to_vec();
    octets.resize(body, 0);
    send.extend_from_slice(&octets);
    send
}

fn with_reads(reads: &[ReadSegment], body: usize) -> Option<Refused> {
    refusal(&message(Form::Msg, reads, &[], None, body))
}

fn long(reads: &[ReadSegment], reply: Option<&[Segment]>, body: usize) -> Option<Refused> {
    refusal(&message(Form::Nomsg, reads, &[], reply, body))
}

fn with_results(chunks: &[&[Segment]], reply: Option<&[Segment]>) -> Option<Refused> {
    refusal(&message(Form::Msg, &[], chunks, reply, 4))
}

/// RPC-024: there is no answer to what has no four words.
#[test]
fn fewer_than_16_octets_are_dropped() {
    let done = words(&[XID, 1, 1, 3]);
    for octets in 0..16 {
        assert_eq!(refusal(&done[..octets]), Some(Refused::Short));
    }
    assert_eq!(refusal(&done), None);
}

/// RPC-024, RPC-029: XID and type are read of every version, and errors are not answered.
#[test]
fn other_versions_are_told_ours() {
    for version in [0, 2, 7, u32::MAX] {
        for kind in [0, 1, 2, 3, 5] {
            assert_eq!(
                refusal(&words(&[XID, version, 1, kind])),
                Some(Refused::Version)
            );
        }
        let error = words(&[XID, version, 1, 4, 1, 1, 1]);
        assert_eq!(refusal(&error), Some(Refused::OtherVersionError));
    }
}

/// RPC-026: there are five types.
#[test]
fn types_above_error_are_refused() {
    for kind in [5, 6, u32::MAX] {
        assert_eq!(
            refusal(&words(&[XID, 1, 1, kind, 0, 0, 0, XID])),
            Some(Refused::Type)
        );
    }
}

/// RPC-031: an error that is cut off is dropped.
#[test]
fn errors_without_their_words_are_dropped() {
    let errors = all().into_iter().filter(|(_, octets)| octets[15] == 4);
    for (name, octets) in errors {
        for end in 16..octets.len() {
            assert_eq!(
                refusal(&octets[..end]),
                Some(Refused::ShortError),
                "{name} of {end}"
            );
        }
    }
}

/// RPC-028: lists that end too early, at every octet.
#[test]
fn lists_that_are_cut_off_are_refused() {
    let whole = message(
        Form::Msgp(Padding {
            align: 8,
            threshold: 8,
        }),
        &[read(4, 1)],
        &[&[segment(1, 2, 3)], &[]],
        Some(&[segment(4, 5, 6)]),
        4,
    );
    assert_eq!(refusal(&whole), None);
    let header = whole.len() - 4;
    for end in 16..header {
        let refused = refusal(&whole[..end]);
        let cut = matches!(refused, Some(Refused::Truncated | Refused::Count));
        assert!(cut, "{end} octets: {refused:?}");
    }
    assert_eq!(refusal(&whole[..header]), Some(Refused::ShortBody));
}

/// RPC-030: an optional value is there or is not.
#[test]
fn optional_words_are_0_or_1() {
    let lists = |reads, writes, reply| words(&[XID, 1, 1, 0, reads, writes, reply, XID]);
    assert_eq!(refusal(&lists(0, 0, 0)), None);
    for other in [2, 0x100, u32::MAX] {
        assert_eq!(refusal(&lists(other, 0, 0)), Some(Refused::Option));
        assert_eq!(refusal(&lists(0, other, 0)), Some(Refused::Option));
        assert_eq!(refusal(&lists(0, 0, other)), Some(Refused::Option));
    }
}

/// RPC-028: a count beyond the octets that are there.
#[test]
fn counts_are_within_the_message() {
    let counted = |count: u32, octets: usize| {
        let mut send = words(&[XID, 1, 1, 1, 0, 0, 1, count]);
        send.resize(send.len() + octets, 0);
        refusal(&send)
    };
    assert_eq!(counted(0, 0), None);
    assert_eq!(counted(1, 15), Some(Refused::Count));
    assert_eq!(counted(1, 16), None);
    assert_eq!(counted(2, 31), Some(Refused::Count));
    assert_eq!(counted(u32::MAX, 64), Some(Refused::Count));
    assert_eq!(counted(0x1000_0000, 64), Some(Refused::Count));
    assert_eq!(counted(0x1000_0001, 64), Some(Refused::Count));
}

#[test]
fn segments_and_chunks_are_within_the_caps() {
    let at = |offset| segment(1, 1, offset);
    let (two, three) = ([at(0), at(1)], [at(2), at(3), at(4)]);
    let reads = [read(4, 1), read(4, 1), read(4, 1), read(4, 1), read(4, 1)];
    assert_eq!(with_reads(&reads[..4], 4), None);
    assert_eq!(with_reads(&reads, 4), Some(Refused::Segments));
    assert_eq!(with_results(&[&two, &two[..0]], Some(&three[1..])), None);
    assert_eq!(with_results(&[&two], Some(&three)), Some(Refused::Segments));
    assert_eq!(with_results(&[&two, &three], None), Some(Refused::Segments));
    let mixed = message(Form::Msg, &reads[..3], &[&two], None, 4);
    assert_eq!(refusal(&mixed), Some(Refused::Segments));
    let mixed = message(Form::Msg, &reads[..2], &[&two], None, 4);
    assert_eq!(refusal(&mixed), None);
    assert_eq!(with_results(&[&[], &[]], None), None);
    assert_eq!(
        with_results(&[&[], &[], &[]], None),
        Some(Refused::WriteChunks)
    );
}

/// RPC-001: addresses have 64 bits.
#[test]
fn segments_end_within_64_bits() {
    let results = |length, offset| with_results(&[&[segment(1, length, offset)]], None);
    assert_eq!(results(1, u64::MAX), None);
    assert_eq!(results(2, u64::MAX), Some(Refused::Wraps));
    assert_eq!(results(0, u64::MAX), None);
    assert_eq!(results(u32::MAX, u64::MAX - u64::from(u32::MAX) + 1), None);
    assert_eq!(
        results(u32::MAX, u64::MAX - u64::from(u32::MAX) + 2),
        Some(Refused::Wraps)
    );
    let reply = [segment(1, 2, u64::MAX)];
    assert_eq!(with_results(&[], Some(&reply)), Some(Refused::Wraps));
    let reads = [ReadSegment {
        position: 4,
        segment: reply[0],
    }];
    assert_eq!(with_reads(&reads, 4), Some(Refused::Wraps));
}

/// RPC-023: alignment is a power of two of at least a word.
#[test]
fn alignments_are_powers_of_two() {
    let padded = |align| {
        let form = Form::Msgp(Padding {
            align,
            threshold: 0,
        });
        refusal(&message(form, &[], &[], None, 4))
    };
    assert_eq!(
        (padded(4), padded(4096), padded(1 << 31)),
        (None, None, None)
    );
    for align in [0, 1, 2, 3, 6, 4095] {
        assert_eq!(padded(align), Some(Refused::Align));
    }
}

/// RPC-008: positions are those of items in the unreduced stream.
#[test]
fn positions_are_of_words_that_ascend() {
    for position in [1, 2, 3, 5, 4097] {
        assert_eq!(
            with_reads(&[read(position, 4)], 100),
            Some(Refused::Unaligned)
        );
    }
    // The chunk at 8 ends at 16 or, rounded up, at 20.
    assert_eq!(with_reads(&[read(8, 8), read(16, 1)], 100), None);
    assert_eq!(
        with_reads(&[read(8, 9), read(16, 1)], 100),
        Some(Refused::Inside)
    );
    assert_eq!(with_reads(&[read(8, 9), read(20, 1)], 100), None);
    assert_eq!(
        with_reads(&[read(8, 5), read(8, 4), read(16, 1)], 100),
        Some(Refused::Inside)
    );
    assert_eq!(
        with_reads(&[read(8, 4), read(4, 1)], 100),
        Some(Refused::Inside)
    );
    assert_eq!(
        with_reads(&[read(8, 0), read(4, 1)], 100),
        Some(Refused::Inside)
    );
    assert_eq!(
        with_reads(&[read(8, 0), read(12, 1), read(8, 1)], 100),
        Some(Refused::Inside)
    );
}

/// RPC-032: position 0 is that of a message which is in a chunk as a whole.
#[test]
fn position_0_is_for_messages_without_body() {
    assert_eq!(with_reads(&[read(0, 4)], 100), Some(Refused::PositionZero));
    let padded = Form::Msgp(Padding {
        align: 8,
        threshold: 8,
    });
    let padded = message(padded, &[read(0, 4)], &[], None, 100);
    assert_eq!(refusal(&padded), Some(Refused::PositionZero));
    assert_eq!(long(&[read(0, 4)], None, 0), None);
    assert_eq!(long(&[read(0, 3)], None, 0), Some(Refused::ShortBody));
    assert_eq!(long(&[read(0, 3), read(0, 1)], None, 0), None);
    assert_eq!(long(&[], None, 0), Some(Refused::Nowhere));
    assert_eq!(long(&[read(4, 4)], None, 0), Some(Refused::Nowhere));
    assert_eq!(long(&[], Some(&[segment(1, 40, 0)]), 0), None);
    assert_eq!(long(&[read(0, 4)], None, 4), Some(Refused::Behind));
}

/// RPC-032: a reply chunk is no place for a call.
#[test]
fn a_call_is_in_the_send_or_in_a_read_chunk() {
    let reply = [segment(1, 40, 0)];
    let check = |octets: Vec<u8>| Header::parse(&octets, &CAPS).map(|header| header.check_call());
    let nowhere = message(Form::Nomsg, &[], &[], Some(&reply), 0);
    assert_eq!(check(nowhere), Ok(Err(Refused::Nowhere)));
    let other = message(Form::Nomsg, &[read(8, 4)], &[], Some(&reply), 0);
    assert_eq!(check(other), Ok(Err(Refused::Nowhere)));
    let long = message(Form::Nomsg, &[read(0, 4)], &[], Some(&reply), 0);
    assert_eq!(check(long), Ok(Ok(())));
    assert_eq!(check(message(Form::Msg, &[], &[], None, 4)), Ok(Ok(())));
}

/// RPC-008: positions of a reply count results that were written; in a call there are none yet.
#[test]
fn written_results_are_in_the_stream_of_a_reply() {
    let room = [segment(1, 5, 0)];
    let check = |form, position, body| {
        let long = read(0, 20);
        let reads = [long, read(position, 1)];
        let reads = if form == Form::Nomsg {
            &reads[..]
        } else {
            &reads[1..]
        };
        let octets = message(form, reads, &[&room], None, body);
        Header::parse(&octets, &CAPS).map(|header| header.check_call())
    };
    for (form, body) in [(Form::Msg, 20), (Form::Nomsg, 0)] {
        assert_eq!(check(form, 20, body), Ok(Ok(())));
        assert_eq!(check(form, 24, body), Ok(Err(Refused::Beyond)));
        assert_eq!(check(form, 28, body), Ok(Err(Refused::Beyond)));
        assert_eq!(check(form, 32, body), Err(Refused::Beyond));
    }
}

/// RPC-025: the body begins with the header's XID.
#[test]
fn bodies_are_of_the_same_transaction() {
    for body in 0..4 {
        let send = [words(&[XID, 1, 1, 0, 0, 0, 0]), vec![0; body]].concat();
        assert_eq!(refusal(&send), Some(Refused::ShortBody));
    }
    for bit in 0..32 {
        let other = words(&[XID, 1, 1, 0, 0, 0, 0, XID ^ 1 << bit]);
        assert_eq!(refusal(&other), Some(Refused::OtherXid));
    }
}

/// A position is at most where all octets before it end, roundup included (RPC-018).
#[test]
fn positions_are_within_the_stream() {
    assert_eq!(with_reads(&[read(100, 8)], 100), None);
    assert_eq!(with_reads(&[read(104, 8)], 100), Some(Refused::Beyond));
    assert_eq!(with_reads(&[read(100, 5), read(108, 1)], 100), None);
    assert_eq!(
        with_reads(&[read(100, 5), read(112, 1)], 100),
        Some(Refused::Beyond)
    );
    assert_eq!(
        with_reads(&[read(100, 3), read(100, 2), read(108, 1)], 100),
        None
    );
    assert_eq!(
        with_reads(&[read(100, 8), read(108, 5), read(116, 1)], 100),
        None
    );
    assert_eq!(
        with_reads(&[read(100, 8), read(108, 5), read(120, 1)], 100),
        Some(Refused::Beyond)
    );
    assert_eq!(long(&[read(0, 40), read(40, 8)], None, 0), None);
    assert_eq!(
        long(&[read(0, 40), read(44, 8)], None, 0),
        Some(Refused::Beyond)
    );
    let reply = [segment(1, 40, 0)];
    assert_eq!(long(&[read(40, 8)], Some(&reply), 0), None);
    assert_eq!(long(&[read(44, 8)], Some(&reply), 0), Some(Refused::Beyond));
    assert_eq!(
        long(&[read(0, 20), read(40, 8)], Some(&reply), 0),
        Some(Refused::Beyond)
    );
}

#[test]
fn octets_to_be_read_are_within_the_cap() {
    assert_eq!(with_reads(&[read(4, 1000)], 100), None);
    assert_eq!(with_reads(&[read(4, 1001)], 100), Some(Refused::ReadOctets));
    assert_eq!(
        with_reads(&[read(4, 999), read(4, 2)], 100),
        Some(Refused::ReadOctets)
    );
    assert_eq!(long(&[read(0, 999), read(8, 1)], None, 0), None);
    assert_eq!(
        long(&[read(0, 999), read(8, 2)], None, 0),
        Some(Refused::ReadOctets)
    );
    // More than 32 bits in sum.
    let wide = [read(4, u32::MAX), read(4, 2)];
    assert_eq!(with_reads(&wide, 100), Some(Refused::ReadOctets));
    // Space for results is only used, never bounded.
    let room = [segment(1, u32::MAX, 0), segment(2, u32::MAX, 0)];
    assert_eq!(with_results(&[&room], None), None);
}

/// RPC-041: what is written for one result must not change another one.
#[test]
fn results_do_not_share_octets() {
    let (low, high) = (segment(1, 10, 100), segment(1, 10, 110));
    assert_eq!(with_results(&[&[low, high]], None), None);
    assert_eq!(with_results(&[&[high, low]], None), None);
    let over = segment(1, 11, 100);
    assert_eq!(with_results(&[&[over, high]], None), Some(Refused::Overlap));
    assert_eq!(with_results(&[&[high, over]], None), Some(Refused::Overlap));
    assert_eq!(
        with_results(&[&[over], &[high]], None),
        Some(Refused::Overlap)
    );
    assert_eq!(
        with_results(&[&[over]], Some(&[high])),
        Some(Refused::Overlap)
    );
    assert_eq!(
        with_results(&[&[low, segment(2, 5, 0), low]], None),
        Some(Refused::Overlap)
    );
    let other = segment(2, 11, 100);
    assert_eq!(with_results(&[&[low, other]], None), None);
    let (empty, inside) = (segment(1, 0, 105), segment(1, 1, 105));
    assert_eq!(with_results(&[&[low, empty]], None), None);
    assert_eq!(
        with_results(&[&[low, inside]], None),
        Some(Refused::Overlap)
    );
    let end = segment(1, 5, u64::MAX - 4);
    assert_eq!(
        with_results(&[&[end, segment(1, 1, u64::MAX)]], None),
        Some(Refused::Overlap)
    );
}

/// RPC-028, RPC-029: which answer each reason gets.
#[test]
fn answers_of_all_reasons() {
    let of = |answer| {
        Refused::ALL
            .iter()
            .filter(move |refused| refused.answer() == answer)
    };
    let dropped: Vec<_> = of(Answer::Drop).collect();
    assert_eq!(
        dropped,
        [
            &Refused::Short,
            &Refused::ShortError,
            &Refused::OtherVersionError
        ]
    );
    assert_eq!(
        of(Answer::Versions).collect::<Vec<_>>(),
        [&Refused::Version]
    );
    assert_eq!(of(Answer::Chunk).count(), 21);
    let mut names = std::collections::BTreeSet::new();
    for (index, refused) in Refused::ALL.iter().enumerate() {
        assert_eq!(refused.index(), index);
        assert!(names.insert(refused.to_string()), "{refused} twice");
    }
}

#[test]
fn caps_are_those_of_the_documentation() {
    let Caps {
        segments_max,
        write_chunks_max,
        read_octets_max,
    } = Caps::default();
    assert_eq!(
        (segments_max, write_chunks_max, read_octets_max),
        (64, 16, 1_114_112)
    );
}
