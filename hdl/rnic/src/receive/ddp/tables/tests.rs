use super::*;
use rnic_abi::tables::{LOOKUP, MPA, RELEASE};
use rnic_hdl_tools::testkit::{simulate, words_of, Simulation};

fn connected() -> Simulation<TablePort> {
    let mut uut = simulate!(TablePort::default());
    uut.may_start.next = true;
    uut.may_run.next = true;
    uut.settle();
    uut
}

/// Puts an operation on the bus and gives the writes it made, up to `table_done`.
fn run(uut: &mut Simulation<TablePort>, operation: u32, table: u32) -> Option<Vec<TableWrites>> {
    uut.table_valid.next = true;
    uut.table_request.next.operation = u64::from(operation).into();
    uut.table_request.next.table = u64::from(table).into();
    let mut writes = vec![];
    for _ in 0..10 {
        uut.settle();
        let now = uut.writes.val();
        if now.context | now.queue | now.tail | now.pool | now.stag | now.region {
            assert!(
                uut.restart.val() && uut.hold.val(),
                "a write restarts the record in front"
            );
            writes.push(now);
        }
        let done = uut.table_done.val();
        uut.table_valid.next = !done;
        uut.tick();
        if done {
            return Some(writes);
        }
    }
    None
}

#[test]
fn each_table_strobes_its_memories_once() {
    let expected = [
        (DDP, [true, false, false, false, false, false]),
        (QUEUE, [false, true, true, false, false, false]),
        (QUEUE_TAIL, [false, false, true, false, false, false]),
        (RECEIVE_POOL, [false, false, false, true, false, false]),
        (STAG, [false, false, false, false, true, false]),
        (REGION, [false, false, false, false, false, true]),
    ];
    let mut uut = connected();
    for (table, strobes) in expected {
        let writes = run(&mut uut, WRITE, table).expect("a table of this room");
        assert_eq!(writes.len(), 1, "table {table}");
        let now = writes[0];
        let seen = [
            now.context,
            now.queue,
            now.tail,
            now.pool,
            now.stag,
            now.region,
        ];
        assert_eq!(seen, strobes, "table {table}");
    }
}

#[test]
fn reads_and_releases_write_nothing_and_are_done() {
    let mut uut = connected();
    for table in DDP..=REGION {
        for operation in [READ, RELEASE, 0] {
            assert_eq!(
                run(&mut uut, operation, table),
                Some(vec![]),
                "{operation} of {table}"
            );
        }
    }
}

/// A region is read in two halves, the second one by a request of its own; no other table of the
/// room answers that one.
#[test]
fn both_halves_of_a_region_are_read() {
    let mut uut = connected();
    uut.read_valid.next = true;
    uut.read_entry.next = RegionEntry {
        stag_key: 0xa5u64.into(),
        rights: 0x1fu64.into(),
        pd: 0xbeefu64.into(),
        connection: 0x3ffu64.into(),
        base: 0x1122_3344_5566_7788u64.into(),
        octets: 0xfedc_ba98_7654u64.into(),
        bus_offset: 0x8877_6655_4433_2211u64.into(),
    };
    let mut answer = |operation: u32, table: u32| {
        uut.table_valid.next = true;
        uut.table_request.next.operation = u64::from(operation).into();
        uut.table_request.next.table = u64::from(table).into();
        for _ in 0..12 {
            uut.settle();
            let (done, data) = (uut.table_done.val(), uut.table_data.val());
            uut.table_valid.next = !done;
            uut.tick();
            if done {
                return words_of::<128, 4>(data);
            }
        }
        panic!("no answer");
    };
    let low = [0x8000_a51f, 0x03ff_beef, 0x5566_7788, 0x1122_3344];
    let high = [0xba98_7654, 0xfedc, 0x4433_2211, 0x8877_6655];
    assert_eq!(answer(READ, REGION), low);
    assert_eq!(answer(OPERATION_READ_ON, REGION), high);
    assert_eq!(answer(READ, REGION), low);
    for table in [DDP, QUEUE, STAG] {
        assert_eq!(answer(OPERATION_READ_ON, table), [0; 4], "table {table}");
    }
}

#[test]
fn tables_of_other_rooms_are_not_answered() {
    let mut uut = connected();
    for table in [0, LOOKUP, MPA, REGION + 1, 15] {
        assert_eq!(run(&mut uut, WRITE, table), None, "table {table}");
        assert!(!uut.hold.val());
    }
}

#[test]
fn an_operation_waits_for_its_turn_and_then_for_a_gap() {
    let mut uut = connected();
    uut.may_start.next = false;
    assert_eq!(run(&mut uut, WRITE, DDP), None);
    assert!(!uut.hold.val(), "records go on meanwhile");
    uut.may_start.next = true;
    uut.may_run.next = false;
    assert_eq!(run(&mut uut, WRITE, DDP), None);
    assert!(uut.hold.val(), "no further record enters");
    uut.may_run.next = true;
    assert_eq!(
        run(&mut uut, WRITE, DDP).map(|writes| writes.len()),
        Some(1)
    );
}

/// A post has its turn between two records, as an operation has, and for as long as it takes;
/// every cycle of it makes the record in front look again, as its lookups go astray.
#[test]
fn a_post_waits_for_its_turn_and_then_for_a_gap() {
    let mut uut = connected();
    uut.post_wants.next = true;
    (uut.may_start.next, uut.may_run.next) = (false, false);
    for _ in 0..5 {
        uut.settle();
        assert!(!uut.hold.val() && !uut.post_granted.val(), "records go on");
        uut.tick();
    }
    uut.may_start.next = true;
    uut.tick();
    for _ in 0..5 {
        uut.settle();
        assert!(uut.hold.val() && !uut.post_granted.val());
        uut.tick();
    }
    uut.may_run.next = true;
    uut.tick();
    uut.post_wants.next = false;
    for _ in 0..7 {
        uut.settle();
        assert!(uut.hold.val() && uut.post_granted.val() && uut.restart.val());
        uut.tick();
    }
    uut.post_done.next = true;
    uut.settle();
    assert!(uut.restart.val());
    uut.tick();
    uut.post_done.next = false;
    uut.settle();
    assert!(!uut.hold.val() && !uut.post_granted.val() && !uut.restart.val());
}

/// An operation that has come goes first; one that comes later waits for the post.
#[test]
fn a_post_and_an_operation_take_turns() {
    let mut uut = connected();
    uut.post_wants.next = true;
    let operations = run(&mut uut, WRITE, QUEUE).map(|writes| writes.len());
    assert_eq!(operations, Some(1), "before the post");
    uut.ticks(2);
    uut.settle();
    assert!(uut.post_granted.val());
    assert_eq!(run(&mut uut, WRITE, QUEUE), None, "the post is not done");
    uut.post_wants.next = false;
    uut.pulse(|uut| &mut uut.post_done);
    let operations = run(&mut uut, WRITE, QUEUE).map(|writes| writes.len());
    assert_eq!(operations, Some(1), "after it");
}

/// In reset every memory is written with the entry that the bus shows, in each cycle.
#[test]
fn reset_writes_every_memory() {
    let mut uut = connected();
    uut.reset.next = true;
    for index in 0..40u64 {
        uut.table_request.next.index = index.into();
        uut.tick();
        let now = uut.writes.val();
        assert!(now.context & now.queue & now.tail & now.pool & now.stag & now.region);
        assert_eq!(now.index, index);
        let closed = !now.shape.is_open && !now.stag_entry.valid && !now.region_valid;
        assert!(closed && now.buffer.octets == 0u64);
    }
    uut.reset.next = false;
    uut.ticks(2);
    let now = uut.writes.val();
    assert!(!(now.context | now.queue | now.tail | now.pool | now.stag | now.region));
}
