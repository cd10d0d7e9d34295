//! Random packets through the adapter, against descriptors made from AMD's tables.
mod bench;
mod descriptors;
mod packets;

use super::{AmdAdapter128, AmdAdapter512};
use bench::{Bench, Habits, LIMIT};
use descriptors::Packet;
use packets::{completion, memory, packed, payload_words};
use pcie_sim::{Header, Tlp};
use rnic_hdl_tools::testkit::{lockstep, settle, Random};
use rust_hdl::prelude::*;

type Bench128 = Bench<128, 4, 256, 8, 62, 33, 88, 75>;
type Bench512 = Bench<512, 16, 640, 20, 137, 81, 183, 161>;

/// At full speed; both sides at half and few credits; one credit and numbers that return late.
const HABITS: [Habits; 3] = [
    Habits {
        offers: 8,
        takes: 8,
        credits: 40,
        number_delay: 1,
    },
    Habits {
        offers: 4,
        takes: 5,
        credits: 3,
        number_delay: 60,
    },
    Habits {
        offers: 8,
        takes: 6,
        credits: 1,
        number_delay: 200,
    },
];

/// Writes and completions, in any order.
fn sent(random: &mut Random, count: usize) -> Vec<Tlp> {
    let one = |random: &mut Random| match random.chance(2, 3) {
        true => memory(random, true, 64),
        false => completion(random, 32),
    };
    (0..count).map(|_| one(random)).collect()
}

fn reads(random: &mut Random, count: usize) -> Vec<Tlp> {
    (0..count).map(|_| memory(random, false, 128)).collect()
}

#[test]
fn what_the_device_sends_arrives_whole_and_in_order() {
    let mut random = Random::from_environment();
    for habits in HABITS {
        let (tlps, asked) = (sent(&mut random, 40), reads(&mut random, 20));
        Bench128::sends(&tlps, &asked, habits);
        Bench512::sends(&tlps, &asked, habits);
    }
}

/// Reads that get no credit hold up neither writes nor completions.
#[test]
fn reads_without_credit_hold_nothing_up() {
    let mut random = Random::from_environment();
    let habits = Habits {
        credits: 0,
        ..HABITS[0]
    };
    let (tlps, asked) = (sent(&mut random, 40), reads(&mut random, 4));
    assert_eq!(Bench128::sends(&tlps, &asked, habits), 0);
    assert_eq!(Bench512::sends(&tlps, &asked, habits), 0);
}

/// A write of 128 octets takes its eight beats and one for the descriptor.
#[test]
fn writes_leave_at_the_rate_of_the_block() {
    let mut random = Random::from_environment();
    let habits = HABITS[0];
    let mut writes = Vec::new();
    while writes.len() < 50 {
        let write = memory(&mut random, true, 32);
        writes.extend(Some(write).filter(|write| write.payload.len() == 128));
    }
    let mut bench = Bench128::new(&writes, &[], habits);
    let cycles = Bench128::adapter().run_until(LIMIT, |uut, random| {
        bench.drive(uut, random);
        settle(uut);
        bench.see_rq(uut, random);
        if uut.tlp_ready.val() {
            bench.device.advance();
        }
        (bench.block.rq.packets.len() < 50).then_some(())
    });
    assert_eq!(cycles, 50 * 9 - 1);
}

#[test]
fn memory_requests_of_the_host_become_packets() {
    let mut random = Random::from_environment();
    for habits in HABITS {
        let requests: Vec<Tlp> = (0..40)
            .map(|turn| memory(&mut random, turn % 2 == 0, 40))
            .collect();
        let packets: Vec<_> = requests
            .iter()
            .map(|it| descriptors::request(it, 0))
            .collect();
        for got in [
            Bench128::asks(&packets, habits),
            Bench512::asks(&packets, habits),
        ] {
            for ((header, data), request) in got.into_iter().zip(&requests) {
                let four = request.header.pack().expect("well formed").len();
                let parsed = Header::parse(&header[..four]).expect("a header");
                assert_eq!(parsed, request.header);
                let words = payload_words(request);
                assert_eq!(data[..words.len()], words);
            }
        }
    }
}

/// Every other request type keeps its Fmt and Type, by which the endpoint refuses it.
#[test]
fn other_requests_keep_their_kind() {
    // Request type, payload, address, and Fmt and Type of the packet.
    let kinds: [(u32, usize, u64, u32); 11] = [
        (2, 0, 0x10, 0x02),
        (3, 1, 0x10, 0x42),
        (4, 1, 0x10, 0x4c),
        (5, 1, 0x5_0000_0010, 0x6d),
        (6, 2, 0x5_0000_0010, 0x6e),
        (7, 0, 0x10, 0x01),
        (7, 0, 0x5_0000_0010, 0x21),
        (8, 0, 0x10, 0x04),
        (9, 0, 0x10, 0x05),
        (10, 1, 0x10, 0x44),
        (11, 1, 0x10, 0x45),
    ];
    for (kind, payload, address, format) in kinds {
        let words = [
            address as u32,
            (address >> 32) as u32,
            1 | kind << 11 | 0x0302 << 16,
            0x77,
        ];
        let mut words = words.to_vec();
        words.extend(vec![0xabcd_ef01; payload]);
        let packet = Packet {
            words,
            enables: 0x0f,
            number: 0,
        };
        for got in [
            Bench128::asks(std::slice::from_ref(&packet), HABITS[0]),
            Bench512::asks(std::slice::from_ref(&packet), HABITS[0]),
        ] {
            let (header, _) = &got[0];
            assert_eq!(header[0], format << 24 | 1, "request type {kind}");
            assert_eq!(header[1], 0x0302_770f);
            let at = if format & 0x20 == 0 {
                [0x10, 0]
            } else {
                [5, 0x10]
            };
            assert_eq!(header[2..], at);
        }
    }
    // A message: code 0x7e, routed by 2.
    let words = vec![
        0x1234_5678,
        0x9abc_def0,
        12 << 11 | 0x0302 << 16,
        0x77 | 0x7e << 8 | 2 << 16,
    ];
    let message = Packet {
        words,
        enables: 0,
        number: 0,
    };
    let got = Bench128::asks(&[message], HABITS[0]);
    assert_eq!(
        got[0].0,
        [0x3200_0000, 0x0302_777e, 0x9abc_def0, 0x1234_5678]
    );
}

#[test]
fn completions_of_the_host_become_packets() {
    let mut random = Random::from_environment();
    for habits in HABITS {
        let completions: Vec<Tlp> = (0..40)
            .map(|_| {
                let mut tlp = completion(&mut random, 64);
                tlp.header.traffic.poisoned = !tlp.payload.is_empty() && random.chance(1, 4);
                tlp
            })
            .collect();
        let packets: Vec<_> = completions
            .iter()
            .map(|tlp| {
                let error = match tlp.header.traffic.poisoned {
                    true => 1,
                    false if tlp.payload.is_empty() => 2,
                    false => 0,
                };
                descriptors::completion(tlp, error, random.below(32) as u32)
            })
            .collect();
        for got in [
            Bench128::answers(&packets, 40, habits.offers),
            Bench512::answers(&packets, 40, habits.offers),
        ] {
            let expected = completions
                .iter()
                .map(|tlp| (packed(&tlp.header), payload_words(tlp)));
            assert_eq!(got, expected.collect::<Vec<_>>());
        }
    }
}

/// What the block found to be no answer to any read is dropped; what stands around it is not.
#[test]
fn completions_with_other_errors_are_dropped() {
    let mut random = Random::from_environment();
    let completions: Vec<Tlp> = (0..32).map(|_| completion(&mut random, 40)).collect();
    let packets = completions.iter().enumerate();
    let packets: Vec<_> = packets
        .map(|(at, tlp)| descriptors::completion(tlp, at as u32 % 16, 0))
        .collect();
    let good = completions
        .iter()
        .enumerate()
        .filter(|(at, _)| at % 16 <= 2);
    let good: Vec<_> = good
        .map(|(_, tlp)| (packed(&tlp.header), payload_words(tlp)))
        .collect();
    assert_eq!(Bench128::answers(&packets, 6, 8), good);
    assert_eq!(Bench512::answers(&packets, 6, 8), good);
}

/// *Discontinue* in a last beat is reported until reset; the bit means nothing in other beats.
#[test]
fn what_the_block_discontinues_is_reported() {
    let mut uut = Bench128::adapter();
    uut.request_ready.next = true;
    for (is_rc, last, is_failure) in [
        (true, false, false),
        (true, true, true),
        (false, true, true),
    ] {
        uut.pulse(|uut| &mut uut.reset);
        uut.m_axis_rc_tuser.next = (u64::from(is_rc) << 42).into();
        uut.m_axis_cq_tuser.next = (u64::from(!is_rc) << 41).into();
        uut.m_axis_rc_tlast.next = last;
        uut.m_axis_cq_tlast.next = last;
        uut.m_axis_rc_tvalid.next = is_rc;
        uut.m_axis_cq_tvalid.next = !is_rc;
        uut.tick();
        uut.m_axis_rc_tvalid.next = false;
        uut.m_axis_cq_tvalid.next = false;
        uut.ticks(3);
        assert_eq!(uut.failed.val(), is_failure, "RC {is_rc}, last {last}");
    }
}

/// Inputs of which no sense is made; both texts must do the same with them.
macro_rules! agrees {
    ($name:expr, $adapter:ty) => {
        lockstep!($name, <$adapter>::default(), 3000, |uut, random| {
            uut.reset.next = random.chance(1, 300);
            uut.tlp_valid.next = random.chance(3, 4);
            let header: Bits<128> = random.wide();
            let format = [0x40u64, 0x60, 0x4a, 0x0a][random.below(4) as usize];
            let length = random.below(70);
            uut.tlp_header.next = (header << 32) | Bits::from(format << 24 | length);
            uut.tlp_data.next = random.wide();
            uut.tlp_keep.next = random.wide();
            uut.tlp_last.next = random.chance(1, 3);
            uut.read_request_header.next = random.wide();
            uut.read_request_valid.next = random.chance(1, 2);
            uut.request_ready.next = random.chance(3, 4);
            uut.s_axis_rq_tready.next = random.chance(3, 4);
            uut.pcie_rq_seq_num0.next = random.below(3).into();
            uut.pcie_rq_seq_num_vld0.next = random.chance(1, 4);
            uut.pcie_rq_seq_num1.next = random.below(3).into();
            uut.pcie_rq_seq_num_vld1.next = random.chance(1, 4);
            uut.pcie_tfc_nph_av.next = random.below(16).into();
            uut.s_axis_cc_tready.next = random.chance(3, 4);
            uut.m_axis_cq_tdata.next = random.wide();
            uut.m_axis_cq_tkeep.next = random.wide();
            uut.m_axis_cq_tlast.next = random.chance(1, 3);
            uut.m_axis_cq_tuser.next = random.wide();
            uut.m_axis_cq_tvalid.next = random.chance(3, 4);
            uut.m_axis_rc_tdata.next = random.wide();
            uut.m_axis_rc_tkeep.next = random.wide();
            uut.m_axis_rc_tlast.next = random.chance(1, 3);
            uut.m_axis_rc_tuser.next = random.wide();
            uut.m_axis_rc_tvalid.next = random.chance(3, 4);
        });
    };
}

#[test]
fn rust_and_verilog_agree_at_128() {
    agrees!("amd_adapter_128", AmdAdapter128);
}

#[test]
fn rust_and_verilog_agree_at_512() {
    agrees!("amd_adapter_512", AmdAdapter512);
}
