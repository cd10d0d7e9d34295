//! Engine and bench as the tests use them: their settings, and how long they run.
use super::bench::{Bench, Settings, TICK_CYCLES};
use super::completer::{Fault, Manner};
use crate::bus::reads::{ReadEngine128, ReadEngine512};
use pcie_sim::{CompletionSplit, ReadCompletionBoundary, TransferSize};
use rnic_hdl_tools::testkit::{simulate, Pace, Simulation};

const TIMEOUT_TICKS: u64 = 100;
/// Cycles after which a time-out has surely been noticed, if nothing else waits.
pub const TIMEOUT_CYCLES: u64 = (TIMEOUT_TICKS + 2) * TICK_CYCLES;

/// A host in a hurry that does nothing wrong.
pub const BRISK: Manner = Manner::brisk(2 * TIMEOUT_CYCLES);

/// No stream stalls, and nothing is wrong.
pub const PLAIN: Settings = Settings {
    manner: BRISK,
    max_read_request: 2,
    extended_tags: true,
    timeout_ticks: TIMEOUT_TICKS,
    command: Pace::Always,
    request: Pace::Always,
    output: Pace::Always,
    faults_of_1000: 0,
    kinds: &Fault::ALL,
};

/// Every stream stalls, answers come in any pieces and order, other packets in between.
pub const MIXED: Settings = Settings {
    manner: Manner {
        split: CompletionSplit::Chosen,
        latency: 1,
        spread: 120,
        reorders: true,
        begins_of_8: 5,
        goes_on_of_8: 7,
        other_of_64: 4,
        ..BRISK
    },
    command: Pace::of_8(5),
    request: Pace::of_8(4),
    output: Pace::of_8(6),
    ..PLAIN
};

/// Faults that leave no tag behind.
pub const PASSING: [Fault; 10] = [
    Fault::Poisoned,
    Fault::Status(pcie_sim::tlp::CompletionStatus::UnsupportedRequest),
    Fault::Status(pcie_sim::tlp::CompletionStatus::CompleterAbort),
    Fault::Status(pcie_sim::tlp::CompletionStatus::ConfigurationRetry),
    Fault::NoData,
    Fault::ShortBeats,
    Fault::LongBeats,
    Fault::Late,
    Fault::Twice,
    Fault::Stray,
];

macro_rules! runs {
    ($run:ident, $engine:ty) => {
        /// Runs until every read of `bench` is answered and the host is idle.
        pub fn $run(uut: &mut Simulation<$engine>, bench: &mut Bench) -> u64 {
            let limit = 20_000 + 3 * TIMEOUT_CYCLES * bench.reads_left() as u64;
            let cycles = uut.run_until(limit, |uut, random| {
                bench.drive(uut, random);
                let left = bench.reads_left();
                (left > 0 || !bench.host.is_idle()).then_some(left)
            });
            // What the last step did takes place with this edge.
            uut.tick();
            cycles
        }
    };
}

runs!(run_128, ReadEngine128);
runs!(run_512, ReadEngine512);

/// So many cycles, whatever comes.
pub fn cycles_128(uut: &mut Simulation<ReadEngine128>, bench: &mut Bench, cycles: u64) {
    for _ in 0..cycles {
        let mut random = uut.random.clone();
        bench.drive(uut, &mut random);
        uut.random = random;
        uut.tick();
    }
}

/// An engine whose link has come up.
pub fn engine_128() -> Simulation<ReadEngine128> {
    let mut uut = simulate!(ReadEngine128::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.link_reset);
    uut
}

/// An engine whose link has come up.
pub fn engine_512() -> Simulation<ReadEngine512> {
    let mut uut = simulate!(ReadEngine512::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.link_reset);
    uut
}

/// A bench in which the host keeps to `max_read_request` and `boundary`.
pub fn bench_of(
    settings: Settings,
    max_read_request: u64,
    boundary: ReadCompletionBoundary,
) -> Bench {
    let encoding = max_read_request as u32;
    let mut settings = Settings {
        max_read_request,
        ..settings
    };
    // 6 and 7 are reserved.
    settings.manner.limits.max_read_request =
        TransferSize::from_encoding(encoding).unwrap_or(TransferSize::Octets128);
    settings.manner.limits.read_completion_boundary = boundary;
    Bench::new(settings)
}
