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

/// What one request brought about.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    reads: Vec<u32>,
    writes: Vec<(u32, u32)>,
    answer: Option<([u32; 4], Vec<u32>)>,
}

/// Offers one request; registers read as their address times 3.
fn request(uut: &mut Simulation<PcieRoom128>, header: [u32; 4], data: u32) -> Outcome {
    let mut outcome = Outcome::default();
    let mut answer_in = None;
    uut.request_header.next = bits_of_words(&header);
    uut.request_data.next = u64::from(data).into();
    uut.request_valid.next = true;
    for turn in 0..24 {
        uut.settle();
        let address = uut.register_address.val().to_u32();
        if uut.register_read.val() {
            outcome.reads.push(address);
            answer_in = Some(3);
        }
        if uut.register_write.val() {
            outcome
                .writes
                .push((address, uut.register_write_data.val().to_u32()));
        }
        if uut.tlp_valid.val() {
            assert!(
                uut.tlp_last.val() && outcome.answer.is_none(),
                "one beat, one answer"
            );
            let kept = uut.tlp_keep.val().to_u32().count_ones() as usize;
            let data: [u32; 4] = words_of(uut.tlp_data.val());
            let (header, data) = (words_of(uut.tlp_header.val()), data[..kept].to_vec());
            outcome.answer = Some((header, data));
        }
        uut.register_read_valid.next = answer_in == Some(0);
        uut.register_read_data.next = u64::from(address * 3).into();
        answer_in = answer_in.and_then(|left: u32| left.checked_sub(1));
        uut.tick();
        if turn == 0 {
            uut.request_valid.next = false;
        }
    }
    outcome
}

/// The packet of an answer, checked by itself.
fn parsed(answer: &([u32; 4], Vec<u32>)) -> Tlp {
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
        let outcome = request(&mut uut, header, 0xffff_ffff);
        let register = address >> 2 & 0x3ff;
        assert_eq!(outcome.reads, [register]);
        assert!(outcome.writes.is_empty());
        let tlp = parsed(outcome.answer.as_ref().expect("an answer"));
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

#[test]
fn only_whole_sound_doublewords_are_written() {
    let mut uut = connected();
    let first = |enables: u32| 0x0407_0100 | enables;
    for (header, written) in [
        ([0x4000_0001, first(15), 0x1000_0104, 0], true),
        ([0x6000_0001, first(15), 0x99, 0x0000_0104], true),
        // Traffic class and attributes do not matter.
        ([0x4074_3001, first(15), 0x104, 0], true),
        // Some octets disabled, poisoned, two doublewords.
        ([0x4000_0001, first(7), 0x104, 0], false),
        ([0x4000_0001, first(0), 0x104, 0], false),
        ([0x4000_4001, first(15), 0x104, 0], false),
        ([0x4000_0002, first(0xff), 0x104, 0], false),
    ] {
        let outcome = request(&mut uut, header, 0x1234_5678);
        let expected = if written {
            vec![(0x41, 0x1234_5678)]
        } else {
            vec![]
        };
        assert_eq!(outcome.writes, expected, "{header:x?}");
        assert!(
            outcome.reads.is_empty() && outcome.answer.is_none(),
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
        let header = [format << 24 | 1, 0x0407_010f, 0x104, 0];
        assert_eq!(
            request(&mut uut, header, 1),
            Outcome::default(),
            "{format:#x}"
        );
    }
}

#[test]
fn other_non_posted_requests_are_unsupported() {
    let mut uut = connected();
    // Long reads, locked reads, I/O, configuration, atomics, deferrable write.
    let formats = [
        0x00, 0x20, 0x01, 0x21, 0x02, 0x42, 0x04, 0x44, 0x05, 0x45, 0x4c, 0x6d, 0x4e, 0x5b,
    ];
    for format in formats {
        let memory_read = matches!(format, 0x00 | 0x20 | 0x01 | 0x21);
        for (length, last_be) in [(1, 0), (2, 3), (5, 8), (0, 15)] {
            if length == 1 && matches!(format, 0x00 | 0x20) {
                continue; // The one that is supported.
            }
            let enables = last_be << 4 | 0xc;
            let header = [
                format << 24 | 0x0070_3000 | length,
                0x0407_0900 | enables,
                0x108,
                0x108,
            ];
            let outcome = request(&mut uut, header, 1);
            assert!(
                outcome.reads.is_empty() && outcome.writes.is_empty(),
                "{header:x?}"
            );
            let (answer, data) = outcome.answer.expect("non-posted requests are answered");
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
            assert_eq!(answer, expected, "{header:x?}");
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
        reading = if uut.register_read.val() {
            1 + random.below(6) as u32
        } else {
            reading
        };
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
        uut.tlp_ready.next = random.chance(3, 4);
        uut.hold.next = random.chance(1, 8);
    });
}
