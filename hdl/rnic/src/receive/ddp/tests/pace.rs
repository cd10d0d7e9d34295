//! Rate and latency of the room in cycles, and what waits: records for their verdicts and for
//! room at the outputs, table operations for neither.
use super::bench::Bench;
use super::world::*;
use crate::messages::*;
use rnic_abi::errors::StreamError;
use rnic_abi::tables::*;
use rnic_hdl_tools::testkit::Pace;

/// Adds `count` records that write to the sink; nothing is taken yet.
fn offer_writes(bench: &mut Bench, count: usize) {
    bench
        .records
        .extend(std::iter::repeat_with(sink_write).take(count));
}

#[test]
fn a_command_follows_a_late_verdict_by_three_cycles() {
    let mut bench = Bench::world();
    bench.judge = Pace::Never;
    for wait in [12, 13, 40] {
        offer_writes(&mut bench, 1);
        bench.steps(wait);
        assert!(!bench.uut.command_valid.val());
        bench.judge = Pace::Always;
        bench.step();
        let judged = bench.cycle() - 1;
        while !bench.uut.command_valid.val() {
            bench.step();
        }
        assert_eq!(bench.cycle() - judged, 3, "after {wait} cycles");
        bench.drain();
        bench.judge = Pace::Never;
    }
}

#[test]
fn table_operations_pass_a_record_without_verdict() {
    for wait in 0..24 {
        let mut bench = Bench::world();
        bench.judge = Pace::Never;
        offer_writes(&mut bench, 3);
        bench.steps(wait);
        bench.write(REGION, u64::from(SINK.number), &region_words(&SINK, false));
        bench.steps(16);
        assert!(bench.operations.is_empty(), "the write waits, {wait}");
        assert!(bench.outcomes.is_empty());
        bench.judge = Pace::Always;
        bench.drain();
        let unknown = StreamError::DdpStag as u64;
        let errors: Vec<u64> = bench.outcomes.iter().map(|outcome| outcome.error).collect();
        assert_eq!(errors, [unknown, 0, 0], "one error, then silence");
    }
}

#[test]
fn no_verdict_of_a_full_fifo_is_lost() {
    for bad in [0, 1, 2, 17, 18, 29] {
        let mut bench = Bench::world();
        bench.take = Pace::Never;
        for index in 0..30 {
            let mut record = sink_write();
            record.crc_good = index != bad;
            if index % 7 == 6 {
                record.kind = FpduKind::Host;
            }
            bench.records.push(record);
        }
        bench.steps(200);
        assert_eq!(
            bench.outcomes.len(),
            2,
            "one command waits, one record after it"
        );
        // Of 16 places two are for what a replay may bring.
        assert_eq!(bench.records.waiting().len(), 30 - 2 - 14);
        bench.take = Pace::Always;
        bench.drain();
        for (index, outcome) in bench.outcomes.iter().enumerate() {
            let refused = outcome.error == StreamError::MpaCrc as u64;
            assert_eq!(refused, index == bad, "record {index}");
        }
    }
}

#[test]
fn one_record_takes_six_cycles_and_eleven_to_its_command() {
    let mut bench = Bench::world();
    offer_writes(&mut bench, 1);
    bench.step();
    let taken = bench.cycle();
    while !bench.uut.command_valid.val() {
        bench.step();
    }
    assert_eq!(
        bench.cycle() - taken,
        10,
        "taken at the edge before, valid in the eleventh cycle"
    );
    bench.drain();
    let start = bench.cycle();
    offer_writes(&mut bench, 100);
    while bench.outcomes.len() < 101 {
        bench.step();
    }
    let cycles = bench.cycle() - start;
    assert!(cycles <= 6 * 100 + 12, "100 records took {cycles} cycles");
}

#[test]
fn table_operations_pass_an_untaken_command() {
    let mut bench = Bench::world();
    bench.take = Pace::Never;
    offer_writes(&mut bench, 12);
    bench.steps(100);
    assert_eq!(
        bench.outcomes.len(),
        2,
        "one command waits, one record waits behind it"
    );
    bench.write(REGION, u64::from(SINK.number), &region_words(&SINK, false));
    bench.steps(16);
    assert!(bench.operations.is_empty(), "the write is not done");
    bench.take = Pace::Always;
    bench.drain();
    assert_eq!(bench.outcomes[2].error, StreamError::DdpStag as u64);
}

#[test]
fn records_go_on_under_a_storm_of_table_operations() {
    let mut bench = Bench::world();
    offer_writes(&mut bench, 50);
    for _ in 0..1000 {
        bench.write(QUEUE_TAIL, 0, &[0]);
    }
    bench.steps(50 * 20);
    assert_eq!(bench.outcomes.len(), 50);
    assert!(
        bench.operations.waiting().len() < 960,
        "{} left of 1000",
        bench.operations.waiting().len()
    );
    bench.operations.waiting_mut().truncate(1);
    bench.drain();
}
