//! The register map as the driver sees it, counters, and the table engine.
use super::tables::OPERATION_READ_ON;
use super::Csr;
use crate::messages::CqReport;
use rnic_abi::sizes::Sizes;
use rnic_abi::{counters, limits, registers as map, tables};
use rnic_hdl_tools::testkit::{bits_of_words, lockstep, simulate, words_of, Random, Simulation};
use rust_hdl::prelude::*;

type Uut = Csr<64, 128>;

fn connected() -> Simulation<Uut> {
    let mut uut = simulate!(Uut::default());
    uut.settle();
    uut.room_reset.next = true;
    uut.pulse(|uut| &mut uut.reset);
    uut.room_reset.next = false;
    uut
}

fn write(uut: &mut Simulation<Uut>, offset: u32, value: u32) {
    uut.register_address.next = u64::from(offset / 4).into();
    uut.register_write_data.next = u64::from(value).into();
    uut.pulse(|uut| &mut uut.register_write);
    uut.ticks(3);
}

/// The value at `offset` and the cycles the answer took.
fn read(uut: &mut Simulation<Uut>, offset: u32) -> (u32, usize) {
    uut.register_address.next = u64::from(offset / 4).into();
    uut.pulse(|uut| &mut uut.register_read);
    for cycles in 1..100 {
        if uut.register_read_valid.val() {
            let value = uut.register_read_data.val().to_u32();
            uut.tick();
            assert!(!uut.register_read_valid.val(), "one answer");
            return (value, cycles);
        }
        uut.tick();
    }
    panic!("no answer for {offset:#x}");
}

fn value(uut: &mut Simulation<Uut>, offset: u32) -> u32 {
    read(uut, offset).0
}

#[test]
fn every_register_reads_as_the_map_says_and_in_four_cycles() {
    let mut uut = connected();
    uut.free_pages.next = 300u64.into();
    uut.cq_report.next = CqReport {
        queue: 5u64.into(),
        numbered: true,
        entries: 0x1234_5678u64.into(),
        lost: false,
    };
    uut.tick();
    uut.cq_report.next = CqReport {
        queue: 11u64.into(),
        lost: true,
        ..CqReport::default()
    };
    uut.tick();
    uut.cq_report.next = CqReport::default();
    uut.host_ring_producer.next = 0x9abc_def0u64.into();
    uut.event_producer.next = 0x1357_9bdfu64.into();
    for (offset, expected) in [
        (map::IDENTITY, map::IDENTITY_VALUE),
        (map::REVISION, map::REVISION_VALUE),
        (map::CAPABILITIES, 64 | 128 << 16 | Sizes::LARGEST.encode()),
        (map::PACKET_PAGES, limits::PAGES as u32),
        (map::CONTROL, 0),
        (map::FREE_PAGES, 300),
        (map::CQ_OVERFLOW, 1 << 11),
        (map::cq_register(5, map::CQ_PRODUCER), 0x1234_5678),
        (map::HOST_RING_PRODUCER, 0x9abc_def0),
        (map::EVENT_PRODUCER, 0x1357_9bdf),
        (map::TABLE_COMMAND, 0),
    ] {
        assert_eq!(read(&mut uut, offset), (expected, 4), "offset {offset:#x}");
    }
}

#[test]
fn writable_registers_keep_allowed_values() {
    let mut uut = connected();
    let cases = [
        (map::CONTROL, !map::CONTROL_RESET, 1),
        (map::MAX_PAYLOAD, 2, 2),
        (map::CQ_BASE_LOW, 0x1234_5fff, 0x1234_5000),
        (map::CQ_BASE_HIGH, 0xfedc_ba98, 0xfedc_ba98),
        (map::CQ_ENTRIES_LOG2, 16, 16),
        (map::cq_register(15, map::CQ_ENTRIES_LOG2), 3, 3),
        (map::CQ_CONSUMER, 0x8000_0001, 0x8000_0001),
        (map::HOST_RING_BASE_LOW, 0xabcd_e123, 0xabcd_e000),
        (map::HOST_RING_BASE_HIGH, 0x0102_0304, 0x0102_0304),
        (map::HOST_RING_SLOTS_LOG2, 9, 9),
        (map::HOST_RING_SLOT_OCTETS_LOG2, 11, 11),
        (map::HOST_RING_CONSUMER, 0xffff_ffff, 0xffff_ffff),
        (map::OUT_OF_ORDER_PAGES, 300, 300),
        (map::OUT_OF_ORDER_SHARE, 0, 0),
        (map::IN_ORDER_RESERVE, 0xffff_ffff, 0x7fff_03ff),
        (map::EVENT_BASE_LOW, 0x7654_3fff, 0x7654_3000),
        (map::EVENT_BASE_HIGH, 0x1234_5678, 0x1234_5678),
        (map::EVENT_ENTRIES_LOG2, 10, 10),
        (map::EVENT_CONSUMER, 0x9000_0002, 0x9000_0002),
        (map::EVENT_DELAY_LOG2, 12, 12),
    ];
    for (offset, written, _) in cases {
        write(&mut uut, offset, written);
    }
    for (offset, _, expected) in cases {
        assert_eq!(value(&mut uut, offset), expected, "offset {offset:#x}");
    }
    assert!(uut.enable.val());
    assert_eq!(uut.max_payload.val(), 2u64);
    assert_eq!(uut.host_ring_base.val(), 0x0102_0304_abcd_e000u64);
    assert_eq!(uut.host_ring_slots_log2.val(), 9u64);
    assert_eq!(uut.host_ring_slot_octets_log2.val(), 11u64);
    assert_eq!(uut.host_ring_consumer.val(), 0xffff_ffffu64);
    assert_eq!(uut.ooo_pages.val(), 300u64);
    assert_eq!(uut.ooo_share.val(), 0u64);
    assert_eq!(uut.reserve_pages.val(), 0x3ffu64);
    assert_eq!(uut.long_pages.val(), 0x3ffu64);
    assert_eq!(uut.hold_log2.val(), 0x1fu64);
    assert_eq!(uut.event_base.val(), 0x1234_5678_7654_3000u64);
    assert_eq!(uut.event_entries_log2.val(), 10u64);
    assert_eq!(uut.event_consumer.val(), 0x9000_0002u64);
    assert_eq!(uut.event_delay_log2.val(), 12u64);
    for allowed in [0, 31] {
        write(&mut uut, map::EVENT_DELAY_LOG2, allowed);
        assert_eq!(value(&mut uut, map::EVENT_DELAY_LOG2), allowed);
    }
    // In-order segments keep their pages whatever is written.
    let most = map::OUT_OF_ORDER_PAGES_MAX;
    for (written, expected) in [
        (most, most),
        (most + 1, most),
        (0x8000_0000, most),
        (most - 1, most - 1),
    ] {
        for offset in [map::OUT_OF_ORDER_PAGES, map::OUT_OF_ORDER_SHARE] {
            write(&mut uut, offset, written);
            assert_eq!(value(&mut uut, offset), expected, "{written} written");
        }
    }
    // The registers of the completion queues are cleared one a cycle.
    uut.room_reset.next = true;
    uut.ticks(64);
    uut.room_reset.next = false;
    for (offset, _, _) in cases {
        let first = match offset {
            map::HOST_RING_SLOT_OCTETS_LOG2 => 14,
            map::OUT_OF_ORDER_PAGES | map::OUT_OF_ORDER_SHARE => map::OUT_OF_ORDER_PAGES_MAX,
            map::IN_ORDER_RESERVE => map::IN_ORDER_RESERVE_FIRST,
            _ => 0,
        };
        assert_eq!(
            value(&mut uut, offset),
            first,
            "offset {offset:#x} after reset"
        );
    }
}

/// Values that the map does not allow are ignored, and read-only registers stay.
#[test]
fn what_is_not_allowed_changes_nothing() {
    let mut uut = connected();
    for (offset, written) in [
        (map::MAX_PAYLOAD, 3),
        (map::CQ_ENTRIES_LOG2, 17),
        (map::HOST_RING_SLOTS_LOG2, 0x100),
        (map::HOST_RING_SLOT_OCTETS_LOG2, 6),
        (map::HOST_RING_SLOT_OCTETS_LOG2, 15),
        (map::IDENTITY, 0),
        (map::FREE_PAGES, 5),
        (map::CQ_OVERFLOW, 5),
        (map::CQ_PRODUCER, 5),
        (map::EVENT_ENTRIES_LOG2, 17),
        (map::EVENT_DELAY_LOG2, 1),
        (map::EVENT_DELAY_LOG2, 11),
        (map::EVENT_DELAY_LOG2, 32),
        (map::EVENT_PRODUCER, 5),
        (map::COUNTERS, 5),
    ] {
        let before = value(&mut uut, offset);
        write(&mut uut, offset, written);
        assert_eq!(value(&mut uut, offset), before, "offset {offset:#x}");
    }
}

#[test]
fn unused_offsets_read_as_zero() {
    let mut uut = connected();
    for offset in [
        0x01c, 0x038, 0x058, 0x068, 0x07c, 0x098, 0x104, 0x13c, 0x168, 0x3fc, 0x4ac, 0x4fc, 0x500,
        0xffc,
    ] {
        assert_eq!(value(&mut uut, offset), 0, "offset {offset:#x}");
    }
}

#[test]
fn counters_lose_no_pulse_even_if_all_come_at_once() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let mut expected = [0u32; counters::COUNT];
    for round in 0..300 {
        // Long stretches with every input high fill the tallies to their limit.
        let mask = if round % 100 < 70 {
            (1 << counters::COUNT) - 1
        } else {
            random.bits()
        };
        let mask = mask & ((1 << counters::COUNT) - 1);
        uut.counts.next = mask.into();
        uut.tick();
        for (index, count) in expected.iter_mut().enumerate() {
            *count += (mask >> index & 1) as u32;
        }
    }
    uut.counts.next = 0u64.into();
    for (index, count) in expected.iter().enumerate() {
        let (read, cycles) = read(&mut uut, map::COUNTERS + 4 * index as u32);
        assert_eq!(read, *count, "{}", counters::ALL[index].name());
        assert!(cycles <= 72, "{cycles} cycles");
    }
}

fn begin(uut: &mut Simulation<Uut>, operation: u32, table: u32, index: u32) {
    write(
        uut,
        map::TABLE_COMMAND,
        map::table_command(operation, table, index),
    );
}

#[test]
fn a_table_write_is_busy_until_done() {
    let mut uut = connected();
    for word in 0..10 {
        write(
            &mut uut,
            map::TABLE_DATA + 4 * word,
            0x1111_1111 * (word + 1),
        );
    }
    begin(&mut uut, tables::WRITE, tables::LOOKUP, 0x7ff);
    for _ in 0..30 {
        assert!(uut.table_valid.val());
        let request = uut.table_request.val();
        assert_eq!(request.operation, u64::from(tables::WRITE));
        assert_eq!(request.table, u64::from(tables::LOOKUP));
        assert_eq!(request.index, 0x7ffu64);
        let written = std::array::from_fn(|word| 0x1111_1111 * (word as u32 + 1));
        assert_eq!(words_of::<320, 10>(request.data), written);
        // Neither data nor a second command disturb it, and reads go on.
        write(&mut uut, map::TABLE_DATA, 5);
        begin(&mut uut, tables::WRITE, tables::MPA, 1);
        assert_eq!(read(&mut uut, map::TABLE_COMMAND), (map::TABLE_BUSY, 4));
        assert_eq!(value(&mut uut, map::IDENTITY), map::IDENTITY_VALUE);
    }
    uut.pulse(|uut| &mut uut.table_done);
    uut.tick();
    assert!(!uut.table_valid.val());
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
}

#[test]
fn a_table_read_gives_the_words_of_the_room() {
    let mut uut = connected();
    for word in 0..10 {
        write(&mut uut, map::TABLE_DATA + 4 * word, 0xdead_beef);
    }
    begin(&mut uut, tables::READ, tables::TCP, 3);
    uut.table_data.next = bits_of_words(&[10, 20, 30, 40]);
    uut.pulse(|uut| &mut uut.table_done);
    uut.table_data.next = Bits::default();
    for (word, expected) in [10, 20, 30, 40, 0, 0, 0, 0, 0, 0].into_iter().enumerate() {
        assert_eq!(
            value(&mut uut, map::TABLE_DATA + 4 * word as u32),
            expected,
            "word {word}"
        );
    }
}

/// A region has eight words: the engine asks for its second half, and is busy until that is there.
#[test]
fn a_region_is_read_whole() {
    let mut uut = connected();
    for word in 0..10 {
        write(&mut uut, map::TABLE_DATA + 4 * word, 0xdead_beef);
    }
    begin(&mut uut, tables::READ, tables::REGION, 0x3ff);
    for (half, operation) in [(0, tables::READ), (1, OPERATION_READ_ON)] {
        assert_eq!(value(&mut uut, map::TABLE_COMMAND), map::TABLE_BUSY);
        let request = uut.table_request.val();
        assert!(uut.table_valid.val(), "half {half}");
        assert_eq!(request.operation, u64::from(operation));
        assert_eq!(
            (request.table, request.index),
            (u64::from(tables::REGION).into(), 0x3ffu64.into())
        );
        uut.table_data.next = bits_of_words(&[1, 2, 3, 4].map(|word| word + 10 * half));
        uut.pulse(|uut| &mut uut.table_done);
        uut.table_data.next = Bits::default();
        uut.tick();
        uut.settle();
        // Withdrawn for a cycle, so that the rooms see another request.
        assert!(!uut.table_valid.val(), "half {half}");
        uut.tick();
        uut.settle();
    }
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
    for (word, expected) in [1, 2, 3, 4, 11, 12, 13, 14, 0, 0].into_iter().enumerate() {
        let found = value(&mut uut, map::TABLE_DATA + 4 * word as u32);
        assert_eq!(found, expected, "word {word}");
    }
    // The next read of another table asks once.
    begin(&mut uut, tables::READ, tables::TCP, 0);
    uut.pulse(|uut| &mut uut.table_done);
    uut.tick();
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
}

/// The next owner reads nothing of the one before.
#[test]
fn a_reset_clears_the_table_data() {
    let mut uut = connected();
    for word in 0..10 {
        write(&mut uut, map::TABLE_DATA + 4 * word, 0xdead_beef);
    }
    uut.pulse(|uut| &mut uut.room_reset);
    for word in 0..10 {
        assert_eq!(
            value(&mut uut, map::TABLE_DATA + 4 * word),
            0,
            "word {word}"
        );
    }
}

#[test]
fn revoking_writes_stay_busy_until_the_fence() {
    let mut uut = connected();
    for table in [tables::QUEUE, tables::STAG, tables::REGION] {
        begin(&mut uut, tables::WRITE, table, 0);
        uut.table_done.next = true;
        uut.settle();
        uut.tick();
        uut.table_done.next = false;
        uut.settle();
        assert!(uut.fence.val(), "table {table}");
        uut.tick();
        uut.settle();
        assert!(!uut.fence.val() && !uut.table_valid.val());
        assert_eq!(value(&mut uut, map::TABLE_COMMAND), map::TABLE_BUSY);
        uut.pulse(|uut| &mut uut.fence_done);
        assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
    }
}

/// Cycles from a write of `command` on in which an access waits, if the room answers at once.
fn cycles_held(uut: &mut Simulation<Uut>, command: u32) -> usize {
    uut.register_address.next = u64::from(map::TABLE_COMMAND / 4).into();
    uut.register_write_data.next = u64::from(command).into();
    uut.pulse(|uut| &mut uut.register_write);
    let mut held = 0;
    for cycle in 0..16 {
        uut.settle();
        held += usize::from(uut.register_hold.val());
        uut.table_done.next = uut.table_valid.val() && cycle >= 8;
        uut.tick();
    }
    uut.table_done.next = false;
    uut.pulse(|uut| &mut uut.fence_done);
    uut.ticks(2);
    held
}

/// What is short keeps an access waiting to its end, everything else only until it has begun; no
/// write of a table fences whose command asks for none.
#[test]
fn a_short_operation_holds_accesses_until_it_is_done() {
    let mut uut = connected();
    for operation in [tables::WRITE, tables::READ, tables::RELEASE] {
        for table in tables::LOOKUP..=tables::LAST {
            for flags in [0, map::TABLE_UNFENCED] {
                let command = map::table_command(operation, table, 1) | flags;
                let held = cycles_held(&mut uut, command);
                let is_short = tables::is_short(command);
                let name = tables::name(table);
                assert_eq!(held > 8, is_short, "{operation} {name:?} {flags:#x}");
                assert!(is_short || held == 5, "{operation} {name:?}: {held}");
                assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
            }
        }
    }
}

#[test]
fn a_write_that_is_not_to_fence_does_not() {
    let mut uut = connected();
    for table in [tables::QUEUE, tables::STAG, tables::REGION] {
        let command = map::table_command(tables::WRITE, table, 0) | map::TABLE_UNFENCED;
        write(&mut uut, map::TABLE_COMMAND, command);
        uut.pulse(|uut| &mut uut.table_done);
        for _ in 0..4 {
            uut.settle();
            assert!(!uut.fence.val(), "table {table}");
            uut.tick();
        }
        assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
    }
    // The next one fences again.
    begin(&mut uut, tables::WRITE, tables::STAG, 0);
    uut.pulse(|uut| &mut uut.table_done);
    uut.tick();
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), map::TABLE_BUSY);
}

#[test]
fn every_table_that_exists_is_reached() {
    for table in tables::LOOKUP..=tables::LAST {
        let mut uut = connected();
        begin(&mut uut, tables::WRITE, table, 0);
        assert!(uut.table_valid.val(), "table {table}");
        assert_eq!(uut.table_request.val().table, u64::from(table));
    }
}

#[test]
fn operations_and_tables_that_do_not_exist_are_not_started() {
    let mut uut = connected();
    for (operation, table) in [
        (0, tables::TCP),
        (tables::WRITE, 0),
        (tables::WRITE, tables::LAST + 1),
        (tables::READ, 15),
    ] {
        begin(&mut uut, operation, table, 0);
        assert!(
            !uut.table_valid.val(),
            "operation {operation}, table {table}"
        );
        assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
    }
}

#[test]
fn rust_and_verilog_agree() {
    let mut wait = 0;
    lockstep!("csr", Uut::default(), 3000, |uut, random| {
        uut.reset.next = random.chance(1, 500);
        wait += 1;
        let go = wait > 75 || (wait > 4 && random.chance(1, 4));
        let write = random.chance(1, 2);
        uut.register_write.next = go && write;
        uut.register_read.next = go && !write && wait > 75;
        if uut.register_write.next || uut.register_read.next {
            wait = 0;
        }
        // Mostly offsets that exist.
        let dword = [0u64, 0, 0x80, 0x40, 0x100][random.below(5) as usize] + random.below(0x28);
        uut.register_address.next = dword.into();
        let command = map::table_command(random.below(4) as u32, random.below(16) as u32, 7);
        let small = random.below(17);
        let value = [random.below(1 << 32), small, u64::from(command)][random.below(3) as usize];
        uut.register_write_data.next = value.into();
        uut.table_done.next = uut.table_valid.val() && random.chance(1, 4);
        uut.table_data.next = random.wide();
        uut.fence_done.next = random.chance(1, 8);
        uut.room_reset.next = uut.reset.next || random.chance(1, 300);
        uut.resetting.next = random.chance(1, 50);
        uut.counts.next = random.wide();
        uut.free_pages.next = random.wide();
        uut.cq_report.next = CqReport {
            queue: random.wide(),
            numbered: random.chance(1, 8),
            entries: random.wide(),
            lost: random.chance(1, 50),
        };
        uut.host_ring_producer.next = random.wide();
        uut.event_producer.next = random.wide();
        uut.post_busy.next = random.chance(1, 8);
    });
}

/// A long FPDU is remembered until the reserve is written anew or the device is reset; a reserve
/// that is off stays off.
#[test]
fn reserve_grows_until_written_or_reset() {
    let mut uut = connected();
    let first = map::IN_ORDER_RESERVE_FIRST;
    let long = |uut: &mut Simulation<Uut>| {
        uut.pulse(|uut| &mut uut.reserve_grows);
        uut.tick();
    };
    assert!(!uut.reserve_grown.val());
    long(&mut uut);
    assert!(uut.reserve_grown.val());
    let grown = value(&mut uut, map::IN_ORDER_RESERVE);
    assert_eq!(grown, first | map::IN_ORDER_RESERVE_GROWN);
    write(&mut uut, map::IN_ORDER_RESERVE, grown);
    assert!(!uut.reserve_grown.val());
    assert_eq!(value(&mut uut, map::IN_ORDER_RESERVE), first);
    write(
        &mut uut,
        map::IN_ORDER_RESERVE,
        map::in_order_reserve(0, 324, 26),
    );
    long(&mut uut);
    assert!(!uut.reserve_grown.val(), "the reserve is off");
    write(&mut uut, map::IN_ORDER_RESERVE, first);
    long(&mut uut);
    assert!(uut.reserve_grown.val());
    uut.pulse(|uut| &mut uut.room_reset);
    assert!(!uut.reserve_grown.val());
    assert_eq!(value(&mut uut, map::IN_ORDER_RESERVE), first);
}

/// `CONTROL_RESET` asks for a reset once, whatever else is written, and reads as 1 until it ends;
/// meanwhile writes are ignored and reads are answered.
#[test]
fn control_reset_asks_once_and_reads_as_one_until_ready() {
    let mut uut = connected();
    write(&mut uut, map::CONTROL, map::CONTROL_ENABLE);
    uut.register_address.next = u64::from(map::CONTROL / 4).into();
    let both = map::CONTROL_ENABLE | map::CONTROL_RESET;
    uut.register_write_data.next = u64::from(both).into();
    uut.pulse(|uut| &mut uut.register_write);
    let requests = (0..6).filter(|_| {
        uut.settle();
        let requested = uut.reset_request.val();
        uut.tick();
        requested
    });
    assert_eq!(requests.count(), 1);
    assert!(
        !uut.enable.val(),
        "no frame is received from the request on"
    );

    uut.resetting.next = true;
    write(&mut uut, map::CQ_BASE_HIGH, 5);
    write(&mut uut, map::CONTROL, both);
    write(
        &mut uut,
        map::TABLE_COMMAND,
        map::table_command(tables::WRITE, tables::STAG, 0),
    );
    assert_eq!(value(&mut uut, map::CONTROL), map::CONTROL_RESET);
    assert_eq!(value(&mut uut, map::CQ_BASE_HIGH), 0);
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
    assert!(!uut.enable.val() && !uut.table_valid.val() && !uut.reset_request.val());
    uut.resetting.next = false;
    assert_eq!(value(&mut uut, map::CONTROL), 0);
}

/// A reset of the rooms ends the table operation that waits for one of them, and keeps counters.
#[test]
fn a_room_reset_ends_the_table_operation_and_keeps_counters() {
    let mut uut = connected();
    uut.counts.next = 1u64.into();
    uut.tick();
    uut.counts.next = 0u64.into();
    write(
        &mut uut,
        map::TABLE_COMMAND,
        map::table_command(tables::WRITE, tables::STAG, 0),
    );
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), map::TABLE_BUSY);
    uut.pulse(|uut| &mut uut.room_reset);
    assert_eq!(value(&mut uut, map::TABLE_COMMAND), 0);
    assert!(!uut.table_valid.val());
    assert_eq!(value(&mut uut, map::COUNTERS), 1);
}
