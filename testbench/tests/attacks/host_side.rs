//! The wire and the host behind a device: frames with a wrong FCS, rings that fill, addresses
//! across 4 GiB, registers that refuse, a reset in the middle of a stream.

use crate::bare::{simulation, Bare, REGION_TO, STAG};
use crate::scene::pattern;
use rnic_abi::counters::Counter::*;
use rnic_abi::{registers, tables};
use rnic_driver::{Bar, Config};
use rnic_sim::{DownstreamBeat, BAR0_ADDRESS};

/// Frames with a wrong FCS: several for each cycle of a counter's turns.
const BAD_FRAMES: usize = 512;
/// Where the first ring lies, unless a test wants it elsewhere.
const FIRST: u64 = 0x1_0000_0000;
/// The last page below 4 GiB.
const BELOW_4_GIB: u64 = 0xffff_f000;
/// Cycles in which a register request is over.
const REQUEST_CYCLES: usize = 200;

fn open(config: Config) -> Bare {
    Bare::open(simulation(256), config, FIRST, 2)
}

/// IEEE 802.3 clause 3.4: a good segment with a wrong FCS is as if it had not come.
#[test]
fn a_frame_with_a_wrong_fcs_changes_nothing() {
    let mut bare = open(Config::default());
    bare.sender.rdma_write(STAG, REGION_TO, &pattern(100));
    let frame = bare.segment(0..bare.sender.stream().len());
    let host = bare.host_frame(60, 1);
    for frame in [&frame, &host] {
        bare.push(frame, true);
    }
    bare.run_until_idle();
    assert_eq!(bare.counter(DropMacError), 2);
    assert!(bare.region().iter().all(|&octet| octet == 0));
    assert!(bare.host_frames().is_empty());
    bare.push(&frame, false);
    bare.run_until_idle();
    assert_eq!(&bare.region()[..100], pattern(100));
    let counted = [Frames, DropMacError, DropRunt, TcpInOrder, HostFrames];
    assert_eq!(
        counted.map(|counter| bare.counter(counter)),
        [3, 2, 0, 1, 0]
    );
    bare.assert_clean();
}

/// Nothing is received before the driver has enabled the device, nor after it has switched it off.
#[test]
fn a_device_that_is_off_receives_nothing() {
    let mut bare = open(Config::default());
    let frame = bare.host_frame(200, 1);
    bare.bar.write32(registers::CONTROL, 0);
    bare.bar.read32(registers::CONTROL);
    (0..3).for_each(|_| bare.push(&frame, false));
    bare.run_until_idle();
    assert_eq!(
        (bare.counter(DropDisabled), bare.counter(HostFrames)),
        (3, 0)
    );
    bare.bar
        .write32(registers::CONTROL, registers::CONTROL_ENABLE);
    bare.bar.read32(registers::CONTROL);
    bare.push(&frame, false);
    bare.run_until_idle();
    assert_eq!(bare.host_frames(), [frame]);
    bare.assert_clean();
}

/// IEEE 802.3 clause 4.4: frames without a gap. Each is received whole or counted as bad.
#[test]
fn frames_without_a_gap_are_received_or_counted() {
    const SENT: u32 = 250;
    let mut bare = open(Config {
        host_slots_log2: 9,
        host_slot_octets_log2: 9,
        ..Config::default()
    });
    let frames: Vec<Vec<u8>> = (0..SENT)
        .map(|frame| bare.host_frame(23 + frame as usize % 2, frame as u8))
        .collect();
    let mut simulation = bare.simulation.borrow_mut();
    simulation.frames_mut().set_rate(0, 1);
    for frame in &frames {
        simulation.push_frame(frame.clone(), false);
    }
    drop(simulation);
    bare.run_until_idle();
    let counted = [DropMacError, DropNoPage, HostFrames].map(|counter| bare.counter(counter));
    assert!(counted[0] > 0, "there is no gap to miss");
    assert_eq!(counted.iter().sum::<u32>(), SENT, "{counted:?}");
    assert_eq!(bare.counter(Frames), SENT);
    let received = bare.host_frames();
    assert_eq!(received.len() as u32, counted[2]);
    let mut sent = frames.iter();
    for frame in &received {
        assert!(sent.any(|sent| sent == frame), "{frame:02x?} was not sent");
    }
    bare.assert_clean();
}

/// A host ring of four slots of 128 octets: what finds no slot, and what is too long for one, is
/// counted, and its pages come back.
#[test]
fn a_full_host_ring_drops_and_counts() {
    let mut bare = open(Config {
        host_slots_log2: 2,
        host_slot_octets_log2: 7,
        ..Config::default()
    });
    for round in 0..3 {
        let frames: Vec<Vec<u8>> = (0..6)
            .map(|n| bare.host_frame(112, 6 * round + n))
            .collect();
        frames.iter().for_each(|frame| bare.push(frame, false));
        let too_long = bare.host_frame(113, 99);
        bare.push(&too_long, false);
        bare.run_until_idle();
        assert_eq!(bare.host_frames(), frames[..4], "round {round}");
    }
    let counted = [HostFrames, DropHostRingFull, DropHostFrameTooLong];
    assert_eq!(counted.map(|counter| bare.counter(counter)), [12, 6, 3]);
    bare.assert_clean();
}

/// Completion queue, host ring, region and buffers that begin below a multiple of 4 GiB and end
/// above it; payloads of 128 octets.
#[test]
fn rings_and_regions_across_4_gib() {
    const SENDS: usize = 160;
    let config = Config {
        completion_entries_log2: 9,
        max_payload_octets: 128,
        host_slots_log2: 3,
        host_slot_octets_log2: 10,
        ..Config::default()
    };
    let mut bare = Bare::open(simulation(128), config, BELOW_4_GIB + 7 * 0x1_0000_0000, 8);
    let data = pattern(3990);
    bare.sender.rdma_write(STAG, REGION_TO + 3, &data);
    bare.deliver();
    assert_eq!(&bare.region()[3..3 + data.len()], data);
    let frames: Vec<Vec<u8>> = (0..8).map(|n| bare.host_frame(900, n)).collect();
    frames.iter().for_each(|frame| bare.push(frame, false));
    bare.run_until_idle();
    assert_eq!(bare.host_frames(), frames);
    for n in 0..SENDS {
        bare.sender.send(&pattern(1 + n % 60));
    }
    bare.deliver();
    let received = bare.received();
    assert_eq!(received.len(), SENDS);
    for (n, (_, octets)) in received.into_iter().enumerate() {
        assert_eq!(octets, pattern(1 + n % 60));
    }
    bare.assert_clean();
}

/// Values that a register does not take leave it as it was or are cut to what there is.
#[test]
fn registers_refuse_what_there_is_not() {
    let mut bare = open(Config::default());
    for (offset, good, bad, then) in [
        (registers::MAX_PAYLOAD, 1, 3, 1),
        (registers::CQ_BASE_LOW, 0x5000, 0x7fff, 0x7000),
        (registers::CQ_ENTRIES_LOG2, 10, 17, 10),
        (registers::HOST_RING_BASE_LOW, 0x5000, 0x7fff, 0x7000),
        (registers::HOST_RING_SLOTS_LOG2, 8, 17, 8),
        (registers::HOST_RING_SLOT_OCTETS_LOG2, 9, 6, 9),
        (registers::HOST_RING_SLOT_OCTETS_LOG2, 9, 15, 9),
        (registers::OUT_OF_ORDER_PAGES, 100, 473, 472),
        (registers::OUT_OF_ORDER_SHARE, 100, 513, 472),
        (
            registers::TABLE_COMMAND,
            0,
            tables::WRITE << 24 | (tables::LAST + 1) << 16,
            0,
        ),
        (registers::TABLE_COMMAND, 0, tables::READ << 24, 0),
    ] {
        for (value, expected) in [(good, good), (bad, then)] {
            bare.bar.write32(offset, value);
            let found = bare.bar.read32(offset);
            assert_eq!(found, expected, "register {offset:#x} after {value:#x}");
        }
    }
}

/// A counter has its turn to be summed up every 64 cycles: bad frames of all lengths, so that some
/// end in just that cycle, are counted one by one.
#[test]
fn events_in_the_turn_of_their_counter_count() {
    let mut bare = open(Config::default());
    for frame in 0..BAD_FRAMES {
        let octets = bare.host_frame(64 + 8 * (frame % 64), 1);
        bare.push(&octets, true);
        bare.simulation.borrow_mut().run(frame / 64);
    }
    bare.run_until_idle();
    assert_eq!(bare.counter(DropMacError), BAD_FRAMES as u32);
    bare.assert_clean();
}

/// PCI Express 2.2.5 and 2.3.1: a doubleword that is not written whole keeps its value, octets of
/// any number are read, and what the device does not support is refused.
#[test]
fn requests_of_any_size_are_answered_as_they_must_be() {
    let mut bare = open(Config::default());
    let register = registers::CQ_BASE_HIGH;
    let before = bare.bar.read32(register);
    for octets in [1, 2, 3] {
        bare.bar.write(register, &[0xa5; 3][..octets]);
        bare.bar
            .write(register + 4 - octets as u32, &[0xa5; 3][..octets]);
    }
    assert_eq!(bare.bar.read32(register), before);
    let doublewords = (0..100).flat_map(|word| bare.bar.read32(register + 4 * word).to_le_bytes());
    let expected: Vec<u8> = doublewords.collect();
    for (offset, octets) in [(0, 1), (1, 2), (3, 1), (0, 8), (2, 5), (1, 399)] {
        let found = bare.bar.read(register + offset as u32, octets);
        assert_eq!(
            found,
            expected[offset..offset + octets],
            "{octets} octets at {offset}"
        );
    }
    bare.assert_clean();
    // A locked read of one doubleword, with a tag that nobody else uses.
    let address = BAR0_ADDRESS as u32 + register;
    let mut simulation = bare.simulation.borrow_mut();
    let core = simulation.core_mut();
    core.set_request(Some(DownstreamBeat {
        header: &[0x0100_0001, 0x0000_770f, address, 0],
        data: &[],
        last: true,
    }));
    core.cycle(false);
    core.set_request(None);
    let answer = (0..REQUEST_CYCLES).find_map(|_| {
        core.cycle(false);
        core.tlp().map(|beat| (beat.header.to_vec(), beat.keep))
    });
    let (header, keep) = answer.expect("a request that is not posted is answered");
    // CplLk, Unsupported Request, 4 octets, the tag.
    assert_eq!(header[0], 0x0b00_0000);
    assert_eq!(header[1] & 0xffff, 1 << 13 | 4);
    assert_eq!((header[2] & 0xff00, keep), (0x7700, 0));
}

/// PCI Express 2.7.2: a write whose data is poisoned (EP) changes no register.
#[test]
fn poisoned_data_changes_no_register() {
    const WRITE_OF_ONE: u32 = 0x4000_0001;
    const POISONED: u32 = 1 << 14;
    let mut bare = open(Config::default());
    let before = bare.bar.read32(registers::CQ_BASE_HIGH);
    let address = BAR0_ADDRESS as u32 + registers::CQ_BASE_HIGH;
    for (control, expected) in [(WRITE_OF_ONE | POISONED, before), (WRITE_OF_ONE, 0x77)] {
        let mut simulation = bare.simulation.borrow_mut();
        let core = simulation.core_mut();
        core.set_request(Some(DownstreamBeat {
            header: &[control, 0x0f, address, 0],
            data: &[0x77],
            last: true,
        }));
        core.cycle(false);
        assert!(core.request_ready());
        simulation.run(REQUEST_CYCLES);
        drop(simulation);
        assert_eq!(bare.bar.read32(registers::CQ_BASE_HIGH), expected);
    }
}

/// Posts that a queue cannot take, back to back: it is full, it is closed, its connection does not
/// exist. Each is counted, no buffer that was posted before is lost or moved, and the queue takes
/// the next post when a message has been received.
#[test]
fn posts_to_closed_and_full_queues_change_nothing() {
    let mut bare = open(Config::default());
    let own = u32::from(bare.connection.0) << 2;
    let refused = [(own, 2), (own + 1, 3), (own + 3, 1), (0xffc, 4)];
    for (index, count) in refused {
        for _ in 0..count {
            for offset in (registers::POST_0..registers::POST).step_by(4) {
                bare.bar.write32(offset, 0x0bad_0000);
            }
            bare.bar.write32(registers::POST, registers::post(index, 7));
        }
    }
    let counted = [RefusePostFull, RefusePostClosed].map(|counter| bare.counter(counter));
    assert_eq!(counted, [2, 8]);
    for octets in 1..=4 {
        bare.sender.send(&pattern(octets));
    }
    bare.deliver();
    let received = bare.received();
    let lengths: Vec<usize> = received.iter().map(|(_, octets)| octets.len()).collect();
    assert_eq!(lengths, [1, 2, 3, 4]);
    assert!(received
        .iter()
        .all(|(_, octets)| *octets == pattern(octets.len())));
    bare.sender.send(&pattern(9));
    bare.deliver();
    assert_eq!(bare.counter(RefuseDdpNoBuffer), 1, "none was posted");
    assert_eq!(bare.counter(RefusePostFull), 2);
    bare.assert_clean();
}

/// The words of a table operation stay as they were while it runs.
#[test]
fn table_words_stand_still_while_an_operation_runs() {
    const INDEX: u32 = 9;
    let mut bare = open(Config::default());
    for (word, value) in [(0, 0x1111_1111), (1, 1 << 16)] {
        bare.bar.write32(registers::TABLE_DATA + 4 * word, value);
    }
    let write = registers::table_command(tables::WRITE, tables::TCP, INDEX);
    bare.bar.write32(registers::TABLE_COMMAND, write);
    bare.bar.write32(registers::TABLE_DATA, 0x2222_2222);
    assert_eq!(bare.bar.read32(registers::TABLE_DATA), 0x1111_1111);
    while bare.bar.read32(registers::TABLE_COMMAND) & registers::TABLE_BUSY != 0 {}
    let read = registers::table_command(tables::READ, tables::TCP, INDEX);
    bare.bar.write32(registers::TABLE_COMMAND, read);
    while bare.bar.read32(registers::TABLE_COMMAND) & registers::TABLE_BUSY != 0 {}
    assert_eq!(bare.bar.read32(registers::TABLE_DATA), 0x1111_1111);
}

/// A reset in the middle of a stream: with a range beyond a gap, an unfinished FPDU and entries in
/// the completion queue. What is set up anew finds an empty device.
#[test]
fn a_reset_in_mid_stream_leaves_nothing_behind() {
    let simulation = simulation(256);
    for round in 0..3 {
        let first = FIRST + round * 0x100_0000_0000;
        // Room for what one round leaves beyond its gaps, and not for that of two.
        let config = Config {
            out_of_order_pages: 4,
            out_of_order_share: 4,
            ..Config::default()
        };
        let mut bare = Bare::open(simulation.clone(), config, first, 2);
        let messages: Vec<Vec<u8>> = (0..3).map(|n| pattern(30 + n)).collect();
        for message in &messages {
            bare.sender.send(message);
        }
        bare.deliver();
        let received = bare.received();
        let octets: Vec<&Vec<u8>> = received.iter().map(|(_, octets)| octets).collect();
        assert_eq!(octets, messages.iter().collect::<Vec<_>>(), "round {round}");
        let start = bare.sender.stream().len();
        bare.sender.rdma_write(STAG, REGION_TO, &pattern(1200));
        let whole = bare.segment(start..bare.sender.stream().len());
        bare.push(&whole, false);
        bare.run_until_idle();
        assert_eq!(&bare.region()[..1200], pattern(1200), "round {round}");
        let end = bare.sender.stream().len();
        bare.sender.rdma_write(STAG, REGION_TO, &pattern(1300));
        for octets in [end..end + 300, end + 500..end + 900, end + 1000..end + 1100] {
            let frame = bare.segment(octets);
            bare.push(&frame, false);
        }
        bare.run_until_idle();
        let out_of_order = [TcpOutOfOrder, DropTcpNoRoom].map(|counter| bare.counter(counter));
        // Counters count from when the device was opened.
        assert_eq!(out_of_order, [2, 0], "round {round}");
        let host = bare.host_frame(600, 1);
        bare.push(&host, false);
        bare.reset();
        let free = bare.simulation.borrow().free_pages();
        assert_eq!(free, 512, "round {round}: free pages after the reset");
        bare.push(&host, false);
        bare.run_until_idle();
        let dropped = bare.counter(DropDisabled);
        assert_eq!(dropped, 1, "round {round}: a reset switches the device off");
    }
}
