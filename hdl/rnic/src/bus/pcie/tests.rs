//! BAR requests of every kind against the answers that the specification requires.
use super::PcieRoom128;
use pcie_sim::check::{check, Direction};
use pcie_sim::tlp::CompletionStatus;
use pcie_sim::{ByteEnables, Header, Kind, Length, Limits, Tlp};
use rnic_hdl_tools::testkit::{bits_of_words, lockstep, simulate, words_of, Random, Simulation};
use rust_hdl::prelude::*;

const DEVICE_ID: u64 = 0x0512;

fn connected() -> Simulation<PcieRoom128> {
    let mut uut = simulate!(PcieRoom128::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.reset);
    uut.device_id.next = DEVICE_ID.into();
    uut.tlp_ready.next = true;
    uut
}

/// A packet with its payload.
type Packet = ([u32; 4], Vec<u32>);

/// What one request brought about.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    reads: Vec<u32>,
    writes: Vec<(u32, u32)>,
    answers: Vec<Packet>,
}

impl Outcome {
    fn answer(&self) -> Option<&Packet> {
        assert!(self.answers.len() <= 1, "{self:x?}");
        self.answers.first()
    }
}

/// Offers one request; registers read as their address times 3.
fn request(uut: &mut Simulation<PcieRoom128>, header: [u32; 4], payload: &[u32]) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut answer_in, mut answer) = (None, Vec::new());
    let mut beats = payload.chunks(4).peekable();
    let mut quiet = 0;
    let mut offered = beats.next().unwrap_or_default();
    uut.request_header.next = bits_of_words(&header);
    uut.request_valid.next = true;
    // No answer takes as long from one step to the next.
    while quiet < 24 {
        uut.request_data.next = bits_of_words(offered);
        uut.request_last.next = beats.peek().is_none();
        uut.settle();
        quiet += 1;
        let address = uut.register_address.val().to_u32();
        if uut.register_read.val() {
            outcome.reads.push(address);
            answer_in = Some(3);
            quiet = 0;
        }
        if uut.register_write.val() {
            let data = uut.register_write_data.val().to_u32();
            outcome.writes.push((address, data));
            quiet = 0;
        }
        if uut.tlp_valid.val() {
            let kept = uut.tlp_keep.val().to_u32().trailing_ones() as usize;
            let is_dense = kept == 4 || uut.tlp_last.val();
            assert!(is_dense, "{:#x}", uut.tlp_keep.val().to_u32());
            let data: [u32; 4] = words_of(uut.tlp_data.val());
            answer.extend_from_slice(&data[..kept]);
            if uut.tlp_last.val() {
                let data = std::mem::take(&mut answer);
                outcome.answers.push((words_of(uut.tlp_header.val()), data));
            }
            quiet = 0;
        }
        uut.register_read_valid.next = answer_in == Some(0);
        uut.register_read_data.next = u64::from(address * 3).into();
        answer_in = answer_in.and_then(|left: u32| left.checked_sub(1));
        let is_taken = uut.request_valid.val() && uut.request_ready.val();
        uut.tick();
        if is_taken {
            uut.request_valid.next = beats.peek().is_some();
            offered = beats.next().unwrap_or_default();
        }
    }
    outcome
}

/// The packet of an answer, checked by itself.
fn parsed(answer: &Packet) -> Tlp {
    let (header, data) = answer;
    assert_eq!(header[3], 0, "three doublewords");
    let payload = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    let tlp = Tlp {
        header: Header::parse(&header[..3]).expect("a completion"),
        payload,
    };
    check(&tlp, Direction::Upstream, &Limits::default(), |violation| {
        panic!("{violation}")
    });
    tlp
}

/// Accesses in the cycles of a request during which `register_hold` is high in the cycles of
/// `held`: the cycles of the accesses, reads answered at once.
fn accesses(header: [u32; 4], payload: &[u32], held: std::ops::Range<usize>) -> Vec<usize> {
    let mut uut = connected();
    uut.request_header.next = bits_of_words(&header);
    uut.request_data.next = bits_of_words(payload);
    uut.request_last.next = true;
    uut.request_valid.next = true;
    let mut accesses = Vec::new();
    for cycle in 0..60 {
        uut.register_hold.next = held.contains(&cycle);
        uut.settle();
        let is_access = uut.register_read.val() | uut.register_write.val();
        accesses.extend(is_access.then_some(cycle));
        let is_taken = uut.request_valid.val() && uut.request_ready.val();
        uut.tick();
        uut.register_read_valid.next = is_access;
        uut.request_valid.next = uut.request_valid.val() && !is_taken;
    }
    accesses
}

/// An access that is held comes in the first cycle in which it may, once; a held doubleword in the
/// middle of a request keeps those after it.
#[test]
fn held_accesses_wait_and_come_once() {
    let write = [0x4000_0004, 0x00ff, 0x110, 0];
    let free = accesses(write, &[1, 2, 3, 4], 0..0);
    assert_eq!(free.len(), 4);
    for held in [0..free[0], 0..free[0] + 1, 0..30] {
        let first = held.end.max(free[0]);
        let shifted: Vec<_> = free.iter().map(|at| at - free[0] + first).collect();
        assert_eq!(accesses(write, &[1, 2, 3, 4], held), shifted);
    }
    let last = accesses(write, &[1, 2, 3, 4], free[2] + 1..40);
    assert_eq!(last, [free[0], free[1], free[2], 40]);
    let read = [1, 0x000f, 0x100, 0];
    let free = accesses(read, &[], 0..0);
    assert_eq!(accesses(read, &[], 0..33), [33]);
    assert_eq!(accesses(read, &[], 0..free[0] + 1), [free[0] + 1]);
}

/// All byte enables, addresses and header forms.
#[test]
fn reads_of_one_doubleword_are_answered() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    for turn in 0..64u32 {
        let enables = turn % 16;
        let long = turn & 16 != 0;
        let address = 0x7ab0_0000 | (random.below(1024) as u32) << 2;
        let tag = random.below(256) as u32;
        let traffic = (random.below(8) as u32) << 20
            | (random.below(4) as u32) << 12
            | (random.below(2) as u32) << 18;
        let format = if long { 0x2000_0000 } else { 0 };
        let mut header = [
            format | traffic | 1,
            0x0407_0000 | tag << 8 | enables,
            address,
            0,
        ];
        if long {
            header = [header[0], header[1], 0x55, address];
        }
        let outcome = request(&mut uut, header, &[]);
        let register = address >> 2 & 0x3ff;
        assert_eq!(outcome.reads, [register]);
        assert!(outcome.writes.is_empty());
        let tlp = parsed(outcome.answer().expect("an answer"));
        let asked = Header::parse(&header[..if long { 4 } else { 3 }]).expect("a read");
        assert_eq!(tlp.header.traffic, asked.traffic.for_completion());
        let Kind::CplD(completion) = tlp.header.kind else {
            panic!("{:?}", tlp.header)
        };
        let enables = ByteEnables::from_bits(enables as u8);
        let span = enables.span(Length::ONE);
        assert_eq!(
            usize::from(completion.byte_count),
            enables.byte_count(Length::ONE),
            "{enables:?}"
        );
        assert_eq!(
            u32::from(completion.lower_address),
            (address & 0x7c) + span.start as u32
        );
        assert_eq!(completion.status, CompletionStatus::Successful);
        assert_eq!(u64::from(completion.completer.bits()), DEVICE_ID);
        assert_eq!(
            (completion.requester.bits(), u32::from(completion.tag)),
            (0x0407, tag)
        );
        assert_eq!(tlp.payload, (register * 3).to_le_bytes());
    }
}

/// Any length, address and pattern of disabled octets: every register once, in order, and pieces
/// that end at multiples of 128 octets.
#[test]
fn reads_of_any_size_are_answered_in_pieces() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    for turn in 0..40 {
        let dwords = match turn {
            0 => 1024,
            1..20 => 1 + turn,
            _ => 2 + random.below(100) as u32,
        };
        let first = match dwords {
            1024 => 0,
            _ => random.below(u64::from(1024 - dwords)) as u32,
        };
        let (first_be, last_be) = ([15, 14, 12, 8], [15, 7, 3, 1]);
        let (lead, trail) = (random.below(4) as u32, random.below(4) as u32);
        let enables = last_be[trail as usize] << 4 | first_be[lead as usize];
        let header = [
            dwords % 1024,
            0x0407_2200 | enables,
            0x7ab0_0000 | first << 2,
            0,
        ];
        let outcome = request(&mut uut, header, &[]);
        let registers: Vec<u32> = (first..first + dwords).collect();
        assert_eq!(outcome.reads, registers);
        let (mut left, mut at) = (4 * dwords - lead - trail, 4 * first + lead);
        let mut data = Vec::new();
        for answer in &outcome.answers {
            let tlp = parsed(answer);
            let Kind::CplD(completion) = tlp.header.kind else {
                panic!("{:?}", tlp.header)
            };
            assert_eq!(
                u32::from(completion.byte_count),
                left,
                "{dwords} from {first}"
            );
            assert_eq!(u32::from(completion.lower_address), at % 128);
            let end = (at + 1).next_multiple_of(128).min(at + left);
            let spanned = end.next_multiple_of(4) - at / 4 * 4;
            assert_eq!(tlp.payload.len() as u32, spanned);
            left -= end - at;
            at = end;
            data.extend_from_slice(&answer.1);
        }
        assert_eq!(left, 0);
        let expected: Vec<u32> = registers.iter().map(|register| register * 3).collect();
        assert_eq!(data, expected);
    }
}

#[test]
fn whole_doublewords_are_written() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    for dwords in [1, 2, 3, 4, 5, 8, 9, 31, 32, 1024] {
        for enables in [0xff, 0xf7, 0x1f, 0x81] {
            let data: Vec<u32> = (0..dwords).map(|_| random.below(1 << 32) as u32).collect();
            let first = if dwords == 1024 { 0 } else { 0x33 };
            let enables = if dwords == 1 { enables & 0xf } else { enables };
            let header = [
                0x4000_0000 | (dwords as u32 % 1024),
                0x0407_0100 | enables,
                0x1000_0000 | first << 2,
                0,
            ];
            let outcome = request(&mut uut, header, &data);
            let mut expected: Vec<(u32, u32)> = (first..).zip(data).collect();
            if dwords > 1 && enables >> 4 != 15 {
                expected.pop();
            }
            if enables & 15 != 15 {
                expected.remove(0);
            }
            assert_eq!(outcome.writes, expected, "{header:x?}");
            assert!(
                outcome.reads.is_empty() && outcome.answers.is_empty(),
                "posted"
            );
        }
    }
}

#[test]
fn poisoned_and_partial_writes_are_ignored() {
    let mut uut = connected();
    let first = |enables: u32| 0x0407_0100 | enables;
    for (header, written) in [
        ([0x4000_0001, first(15), 0x1000_0104, 0], true),
        ([0x6000_0001, first(15), 0x99, 0x0000_0104], true),
        // Traffic class and attributes do not matter.
        ([0x4074_3001, first(15), 0x104, 0], true),
        // Some octets disabled, poisoned, poisoned and longer than a beat.
        ([0x4000_0001, first(7), 0x104, 0], false),
        ([0x4000_0001, first(0), 0x104, 0], false),
        ([0x4000_4001, first(15), 0x104, 0], false),
        ([0x4000_4009, first(0xff), 0x104, 0], false),
    ] {
        let dwords = header[0] as usize % 1024;
        let outcome = request(&mut uut, header, &vec![0x1234_5678; dwords]);
        let expected = if written {
            vec![(0x41, 0x1234_5678)]
        } else {
            vec![]
        };
        assert_eq!(outcome.writes, expected, "{header:x?}");
        assert!(
            outcome.reads.is_empty() && outcome.answers.is_empty(),
            "posted: {header:x?}"
        );
    }
}

#[test]
fn other_posted_packets_are_ignored() {
    let mut uut = connected();
    // Messages without and with data, completions, a prefix.
    for format in [
        0x30, 0x34, 0x37, 0x70, 0x74, 0x0a, 0x4a, 0x0b, 0x4b, 0x80, 0x9e,
    ] {
        let header = [format << 24 | 6, 0x0407_010f, 0x104, 0];
        assert_eq!(
            request(&mut uut, header, &[1; 6]),
            Outcome::default(),
            "{format:#x}"
        );
    }
}

#[test]
fn other_non_posted_requests_are_unsupported() {
    let mut uut = connected();
    // Locked reads, I/O, configuration, atomics, deferrable write.
    let formats = [
        0x01, 0x21, 0x02, 0x42, 0x04, 0x44, 0x05, 0x45, 0x4c, 0x6d, 0x4e, 0x5b,
    ];
    for format in formats {
        let memory_read = matches!(format, 0x01 | 0x21);
        for (length, last_be) in [(1, 0), (2, 3), (5, 8), (0, 15)] {
            let enables = last_be << 4 | 0xc;
            let header = [
                format << 24 | 0x0070_3000 | length,
                0x0407_0900 | enables,
                0x108,
                0x108,
            ];
            let outcome = request(&mut uut, header, &[1; 5]);
            assert!(
                outcome.reads.is_empty() && outcome.writes.is_empty(),
                "{header:x?}"
            );
            let (answer, data) = outcome.answer().expect("non-posted requests are answered");
            assert!(data.is_empty(), "{header:x?}");
            // Section 2.2.9: byte count and lower address of the read, 4 and 0 for all others.
            let (byte_count, lower) = match (memory_read, length, last_be) {
                (false, ..) => (4, 0),
                (true, 1, _) => (2, 0x0a),
                (true, 2, _) => (4, 0x0a),
                (true, 5, _) => (18, 0x0a),
                _ => (4094, 0x0a),
            };
            let locked = matches!(format, 0x01 | 0x21);
            let expected = [
                (if locked { 0x0b } else { 0x0a }) << 24 | 0x0070_3000,
                (DEVICE_ID as u32) << 16 | 1 << 13 | byte_count,
                0x0407_0900 | lower,
                0,
            ];
            assert_eq!(*answer, expected, "{header:x?}");
        }
    }
}

#[test]
fn rust_and_verilog_agree() {
    let mut reading = 0u32;
    let formats = [
        0x00u64, 0x20, 0x40, 0x60, 0x00, 0x40, 0x30, 0x0a, 0x04, 0x21,
    ];
    lockstep!("pcie_room", PcieRoom128::default(), 3000, |uut, random| {
        uut.reset.next = random.chance(1, 500);
        uut.device_id.next = DEVICE_ID.into();
        uut.request_valid.next = random.chance(1, 2);
        let header: Bits<128> = random.wide();
        let first = formats[random.below(10) as usize] << 24 | random.below(4);
        uut.request_header.next = (header << 32) | Bits::from(first);
        uut.request_data.next = random.wide();
        uut.request_last.next = random.chance(3, 4);
        reading = if uut.register_read.val() {
            1 + random.below(6) as u32
        } else {
            reading
        };
        uut.register_hold.next = random.chance(1, 4);
        uut.register_read_valid.next = reading == 1;
        reading = reading.saturating_sub(1);
        uut.register_read_data.next = random.wide();
        uut.payload_tlp_data.next = random.wide();
        uut.payload_tlp_keep.next = random.wide();
        uut.payload_tlp_last.next = random.chance(1, 3);
        uut.payload_tlp_valid.next = random.chance(3, 4);
        uut.payload_tlp_header.next = random.wide();
        uut.cqe_tlp_data.next = random.wide();
        uut.cqe_tlp_keep.next = random.wide();
        uut.cqe_tlp_last.next = random.chance(1, 2);
        uut.cqe_tlp_valid.next = random.chance(1, 4);
        uut.cqe_tlp_header.next = random.wide();
        uut.event_tlp_data.next = random.wide();
        uut.event_tlp_keep.next = random.wide();
        uut.event_tlp_last.next = random.chance(1, 2);
        uut.event_tlp_valid.next = random.chance(1, 4);
        uut.event_tlp_header.next = random.wide();
        uut.status_tlp_data.next = random.wide();
        uut.status_tlp_keep.next = random.wide();
        uut.status_tlp_last.next = random.chance(3, 4);
        uut.status_tlp_valid.next = random.chance(1, 4);
        uut.status_tlp_header.next = random.wide();
        uut.message_tlp_data.next = random.wide();
        uut.message_tlp_keep.next = random.wide();
        uut.message_tlp_last.next = random.chance(3, 4);
        uut.message_tlp_valid.next = random.chance(1, 6);
        uut.message_tlp_header.next = random.wide();
        uut.tlp_ready.next = random.chance(3, 4);
        uut.hold.next = random.chance(1, 8);
    });
}
