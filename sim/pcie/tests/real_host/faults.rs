//! Each fault of a host, the error that it becomes, and that nothing else is lost.

use crate::bench::{pattern, Bench, FUNCTION, SOURCE};
use pcie_sim::tlp::CompletionStatus;
use pcie_sim::{
    CompletionSplit, Direction, Fault, Kind, Mismatch, RootComplexSettings, Tlp, TransferError,
    Violation,
};

const TIMEOUT_TICKS: u64 = 500;

fn bench(seed: u64) -> Bench {
    let mut bench = Bench::new(RootComplexSettings {
        completion_split: CompletionSplit::AtEveryBoundary,
        read_latency_ticks: 10,
        read_spread_ticks: 10,
        reorder_completions: true,
        seed,
        ..RootComplexSettings::default()
    });
    bench.device.set_timeout(Some(TIMEOUT_TICKS));
    bench.host.faults_mut().set_reuse_ticks(TIMEOUT_TICKS);
    bench
}

fn is_expected(fault: Fault, result: &Result<Vec<u8>, TransferError>, data: &[u8]) -> bool {
    use TransferError::{Malformed, Poisoned, Status, TimedOut};
    match (fault, result) {
        (Fault::NoCompletion, Err(TimedOut { ticks })) => *ticks == TIMEOUT_TICKS,
        (Fault::Poisoned, Err(Poisoned)) => true,
        (Fault::UnsupportedRequest, Err(Status(status))) => {
            *status == CompletionStatus::UnsupportedRequest
        }
        (Fault::CompleterAbort, Err(Status(status))) => *status == CompletionStatus::CompleterAbort,
        // It answers nobody's request.
        (harmless, Ok(found)) if harmless.is_harmless() => found == data,
        (Fault::TooManyOctets, Err(TransferError::Mismatch(mismatch))) => {
            matches!(mismatch, Mismatch::TooLong { owed, found } if owed + 4 == *found)
        }
        (Fault::ByteCount, Err(TransferError::Mismatch(mismatch))) => {
            matches!(mismatch, Mismatch::ByteCount { owed, found } if owed != found)
        }
        (Fault::Truncated, Err(Malformed)) => true,
        _ => false,
    }
}

#[test]
fn each_fault_becomes_its_error_and_the_reads_around_it_their_data() {
    for fault in Fault::ALL {
        for seed in 0..10 {
            let mut bench = bench(seed);
            let before = bench.read(0, 300);
            bench.run(2);
            bench.host.faults_mut().inject(fault);
            let hit = bench.read(1001, 200);
            bench.run(2);
            let after = bench.read(5000, 400);
            assert_eq!(bench.result(before), Ok(pattern(0, 300)), "{fault:?}");
            assert_eq!(bench.result(after), Ok(pattern(5000, 400)), "{fault:?}");
            let result = bench.result(hit);
            let expected = is_expected(fault, &result, &pattern(1001, 200));
            assert!(expected, "{fault:?}: {result:?}");
            let faults = bench.host.faults();
            assert_eq!((faults.count(fault), faults.queued_count()), (1, 0));
            assert_eq!(bench.host.statistics().faults, 1);
            bench.run(3 * TIMEOUT_TICKS);
            let unusable =
                matches!(fault, Fault::Poisoned | Fault::Truncated) || fault.is_harmless();
            assert_eq!(bench.device.discarded_count(), u64::from(unusable));
            bench.finish();
        }
    }
}

#[test]
fn of_many_reads_exactly_those_with_a_fault_fail() {
    let mut bench = bench(7);
    for fault in Fault::ALL {
        bench.host.faults_mut().set_percent(fault, 5);
    }
    let (mut failed, mut good) = (0, 0);
    for round in 0..40u64 {
        // At most one request each: a transfer with two could have two faults.
        let spans: Vec<(u64, usize)> = (0..10)
            .map(|at| (at * 512 + round, 1 + (at * 53 + round * 7) as usize % 460))
            .collect();
        let tokens: Vec<_> = spans
            .iter()
            .map(|(offset, octets)| bench.read(*offset, *octets))
            .collect();
        for (token, (offset, octets)) in tokens.into_iter().zip(spans) {
            match bench.result(token) {
                Ok(found) => {
                    assert_eq!(found, pattern(offset, octets));
                    good += 1;
                }
                Err(_) => failed += 1,
            }
        }
    }
    bench.run(3 * TIMEOUT_TICKS);
    let faults = bench.host.faults();
    let counts = Fault::ALL.map(|fault| faults.count(fault));
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    let harmless = Fault::ALL.into_iter().filter(|fault| fault.is_harmless());
    let harmless: u64 = harmless.map(|fault| faults.count(fault)).sum();
    assert_eq!(failed, counts.iter().sum::<u64>() - harmless);
    assert!(good > 200, "{good}");
    bench.finish();
}

#[test]
fn a_dword_too_many_waits_for_a_read_that_has_room_for_it() {
    let mut bench = Bench::new(RootComplexSettings::default());
    bench.host.faults_mut().inject(Fault::TooManyOctets);
    // One completion of Max_Payload_Size.
    let full = bench.read(0, 256);
    assert_eq!(bench.result(full), Ok(pattern(0, 256)));
    assert_eq!(bench.host.faults().queued_count(), 1);
    let short = bench.read(0, 252);
    let (owed, found) = (252, 256);
    let mismatch = Mismatch::TooLong { owed, found };
    assert_eq!(bench.result(short), Err(TransferError::Mismatch(mismatch)));
    bench.finish();
}

/// The tags of the completions that are sent when the device reads under `tags` and the last read
/// of it meets `fault`.
fn tags_down(bench: &mut Bench, tags: &[u8], fault: Fault) -> Vec<u8> {
    for (at, tag) in tags.iter().enumerate() {
        if at + 1 == tags.len() {
            bench.host.faults_mut().inject(fault);
        }
        let read = Tlp::memory_read(FUNCTION, *tag, SOURCE, 4).expect("short");
        bench.host.upstream(0, read);
    }
    let tag_of = |tlp: Tlp| match tlp.header.kind {
        Kind::CplD(completion) => completion.tag,
        other => panic!("{other:?} is no completion with data"),
    };
    std::iter::from_fn(|| bench.take_down())
        .map(tag_of)
        .collect()
}

#[test]
fn an_unknown_tag_is_the_highest_that_is_not_in_use() {
    let mut bench = Bench::new(RootComplexSettings::default());
    let bench = &mut bench;
    assert_eq!(tags_down(bench, &[7], Fault::UnknownTag), [7, 255]);
    // A read that is not answered keeps its tag: the device may wait for it still.
    assert_eq!(tags_down(bench, &[255], Fault::NoCompletion), []);
    assert_eq!(tags_down(bench, &[7], Fault::UnknownTag), [7, 254]);
    // Of one that is answered first, the tag is free again.
    assert_eq!(
        tags_down(bench, &[254, 7], Fault::UnknownTag),
        [254, 7, 254]
    );
    assert_eq!(bench.host.monitor().verdict(), Ok(()));
}

#[test]
fn a_device_that_uses_an_unanswered_tag_too_early_is_named() {
    let mut bench = bench(1);
    bench.host.faults_mut().inject(Fault::NoCompletion);
    let read = Tlp::memory_read(FUNCTION, 3, SOURCE, 4).expect("short");
    bench.host.upstream(100, read.clone());
    bench.host.upstream(100 + TIMEOUT_TICKS - 1, read.clone());
    let record = bench.host.monitor_mut().take_records().remove(0);
    assert_eq!(record.violation, Violation::TagReused { tag: 3 });
    bench.host.upstream(100 + TIMEOUT_TICKS, read);
    assert_eq!(bench.host.monitor().verdict(), Ok(()));
    assert_eq!(
        bench.host.monitor().outstanding_count(Direction::Upstream),
        1
    );
}

/// The host's result, with the device's completion changed on its way.
fn changed_answer(change: impl FnOnce(&mut Tlp)) -> (TransferError, Violation) {
    let mut bench = Bench::new(RootComplexSettings::default());
    let token = bench.host.read_bar(0, bench.bar, 4);
    let request = bench.take_down().expect("a read");
    bench.device.downstream(0, request);
    let mut answer = bench.device.next_upstream(0).expect("its answer");
    change(&mut answer);
    bench.host.upstream(0, answer);
    let error = bench.host.poll(0, token).expect_err("it is of no use");
    let record = bench.host.monitor_mut().take_records().remove(0);
    assert_eq!(bench.host.statistics().discarded, 1);
    (error, record.violation)
}

#[test]
fn a_bad_completion_of_a_device_is_named_and_ends_the_hosts_read_at_once() {
    let poisoned = changed_answer(|tlp| tlp.header.traffic.poisoned = true);
    assert_eq!(poisoned, (TransferError::Poisoned, Violation::Poisoned));
    let class = changed_answer(|tlp| tlp.header.traffic.class = 1);
    assert_eq!(
        class,
        (TransferError::Malformed, Violation::CompletionTraffic)
    );
    let count = changed_answer(|tlp| match &mut tlp.header.kind {
        Kind::CplD(completion) => completion.byte_count = 3,
        other => panic!("{other:?} is no completion with data"),
    });
    let (owed, found) = (4, 3);
    let mismatch = Mismatch::ByteCount { owed, found };
    let expected = 4;
    let violation = Violation::CompletionByteCount { expected, found };
    assert_eq!(count, (TransferError::Mismatch(mismatch), violation));
}
