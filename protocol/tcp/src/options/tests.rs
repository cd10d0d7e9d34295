use super::*;

fn blocks(edges: &[(u32, u32)]) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    for &(left, right) in edges {
        blocks.push(SeqNumber(left), SeqNumber(right));
    }
    blocks
}

/// The octets of each option, in a buffer whose old octets must not show.
#[test]
fn golden_options_are_written_over_a_dirty_buffer_and_read_back() {
    let syn = Options {
        mss: Some(1460),
        window_shift: Some(7),
        sack_permitted: true,
        sack: SackBlocks::default(),
    };
    let mut buffer = [0xa5; OPTION_OCTETS_MAX];
    assert_eq!(syn.emit(&mut buffer), 12);
    assert_eq!(syn.octets(), 12);
    assert_eq!(buffer[..12], [2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]);
    assert_eq!(Options::parse(&buffer[..12]), Ok(syn));
    let ack = Options {
        sack: blocks(&[(0x1122_3344, 0x5566_7788), (1, 2)]),
        ..Options::default()
    };
    let mut buffer = [0xa5; OPTION_OCTETS_MAX];
    assert_eq!(ack.emit(&mut buffer), 20);
    assert_eq!(ack.octets(), 20);
    let head = [1, 1, 5, 18, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88];
    assert_eq!(buffer[..12], head);
    assert_eq!(buffer[12..20], [0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(Options::parse(&buffer[..20]), Ok(ack));
    let none = Options::default();
    assert_eq!((none.emit(&mut buffer), none.octets()), (0, 0));
    assert_eq!(Options::parse(&[]), Ok(none));
}

#[test]
fn four_blocks_fill_the_header_and_a_fifth_is_left_out() {
    let four = blocks(&[(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)]);
    assert_eq!(four.as_slice().len(), SACK_BLOCKS_MAX);
    let options = Options {
        sack: four,
        ..Options::default()
    };
    let mut buffer = [0xa5; OPTION_OCTETS_MAX];
    assert_eq!(options.emit(&mut buffer), 36);
    assert_eq!(Options::parse(&buffer[..36]), Ok(options));
}

/// TCP-013.
#[test]
fn what_is_not_known_is_passed_over_and_what_follows_the_end_is_not_read() {
    let timestamps = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 2, 4, 0x02, 0x18];
    let read = Options::parse(&timestamps).expect("whole");
    assert_eq!(read.mss, Some(536));
    let ended = Options::parse(&[0, 2, 4, 9, 9]).expect("ended");
    assert_eq!(ended, Options::default());
}

/// TCP-041: RFC 7323 section 2.3: a shift above 14 is taken as 14.
#[test]
fn a_shift_is_at_most_fourteen() {
    for (sent, taken) in [(0, 0), (13, 13), (14, 14), (15, 14), (255, 14)] {
        let read = Options::parse(&[3, 3, sent]).expect("whole");
        assert_eq!(read.window_shift, Some(taken));
    }
}

/// TCP-013: RFC 9293 section 3.1, MUST-7: no length makes the reader loop or pass the end.
#[test]
fn malformed_options_are_named_with_their_octet() {
    let truncated = |kind, at_octet| Err(OptionError::Truncated { kind, at_octet });
    let wrong = |kind, at_octet, length_octets| {
        Err(OptionError::Length {
            kind,
            at_octet,
            length_octets,
        })
    };
    assert_eq!(Options::parse(&[1, 2]), truncated(2, 1));
    assert_eq!(Options::parse(&[2, 4, 5]), truncated(2, 0));
    assert_eq!(Options::parse(&[99, 0, 1]), wrong(99, 0, 0));
    assert_eq!(Options::parse(&[1, 99, 1, 1]), wrong(99, 1, 1));
    assert_eq!(Options::parse(&[2, 3, 5, 1]), wrong(2, 0, 3));
    assert_eq!(Options::parse(&[3, 4, 5, 1]), wrong(3, 0, 4));
    assert_eq!(Options::parse(&[4, 3, 5, 1]), wrong(4, 0, 3));
    assert_eq!(Options::parse(&[5, 2]), wrong(5, 0, 2));
    assert_eq!(Options::parse(&[5, 9, 0, 0, 0, 0, 0, 0, 0]), wrong(5, 0, 9));
    let text = OptionError::Length {
        kind: 2,
        at_octet: 4,
        length_octets: 3,
    };
    let expected = "the option of kind 2 at octet 4 has length 3";
    assert_eq!(text.to_string(), expected);
}

/// All texts of up to three octets, and what is read of them is written and read again.
#[test]
fn every_short_text_is_read_or_refused() {
    let mut refused = 0;
    for word in 0..1u32 << 24 {
        let [_, a, b, c] = word.to_be_bytes();
        // The first octet decides; of the kinds that are passed over one is enough.
        if a > 8 {
            break;
        }
        match Options::parse(&[a, b, c]) {
            Ok(read) => {
                let mut buffer = [0; OPTION_OCTETS_MAX];
                let octets = read.emit(&mut buffer);
                assert_eq!(Options::parse(&buffer[..octets]), Ok(read));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0);
}

#[test]
fn blocks_are_empty_until_there_is_one() {
    let mut blocks = SackBlocks::default();
    assert!(blocks.is_empty());
    blocks.push(SeqNumber(1), SeqNumber(2));
    assert!(!blocks.is_empty());
}
