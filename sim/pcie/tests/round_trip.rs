//! Root complex against endpoint, over a link that stalls and answers in a random order: every
//! octet ends where a plain byte array has it, and no rule is broken on the way.

use pcie_sim::configuration::{Bar, ConfigurationSpace, Identity};
use pcie_sim::link::{enumerate, exchange};
use pcie_sim::memory::Access;
use pcie_sim::{
    BarDevice, Bdf, CompletionSplit, Endpoint, Limits, ReadCompletionBoundary, RootComplex,
    RootComplexSettings, Token, TransferSize,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const FUNCTION: Bdf = Bdf::new(1, 0, 0);
const OCTETS: usize = 0x4000;
/// Not aligned, so that the array's end is no boundary of anything.
const MEMORY_BASE: u64 = 0x7_ffff_f123;
const BAR_BASE: u64 = 0xe000_0000;

/// Device memory behind BAR 0; with `faulty`, octet 100 of it cannot be written.
struct Store {
    octets: Vec<u8>,
    faulty: bool,
}

impl BarDevice for Store {
    fn read(&mut self, _now: u64, _bar: u8, offset: u64, data: &mut [u8]) {
        data.copy_from_slice(&self.octets[offset as usize..][..data.len()]);
    }

    fn write(&mut self, _now: u64, _bar: u8, offset: u64, data: &[u8]) {
        let kept = self.octets[100];
        self.octets[offset as usize..][..data.len()].copy_from_slice(data);
        if self.faulty {
            self.octets[100] = kept;
        }
    }
}

/// A range within the array.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    octets: usize,
}

/// Reads are issued together, so that several tags are out at once.
#[derive(Clone, Debug)]
enum Operation {
    HostWrite(Span, u8),
    DeviceWrite(Span, u8),
    HostReads(Vec<Span>),
    DeviceReads(Vec<Span>),
}

fn span() -> impl Strategy<Value = Span> {
    // Mostly short, some over many requests, some of no octet at all.
    let octets = prop_oneof![4 => 0usize..16, 2 => 0usize..600, 1 => 0usize..5000];
    (octets, any::<prop::sample::Index>()).prop_map(|(octets, at)| Span {
        start: at.index(OCTETS - octets + 1),
        octets,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let spans = || prop::collection::vec(span(), 1..5);
    prop_oneof![
        (span(), any::<u8>()).prop_map(|(span, seed)| Operation::HostWrite(span, seed)),
        (span(), any::<u8>()).prop_map(|(span, seed)| Operation::DeviceWrite(span, seed)),
        spans().prop_map(Operation::HostReads),
        spans().prop_map(Operation::DeviceReads),
    ]
}

fn settings() -> impl Strategy<Value = RootComplexSettings> {
    let sizes = || prop::sample::select(TransferSize::ALL.to_vec());
    let boundary = prop::sample::select(vec![
        ReadCompletionBoundary::Octets64,
        ReadCompletionBoundary::Octets128,
    ]);
    let split = prop::sample::select(vec![
        CompletionSplit::Largest,
        CompletionSplit::AtEveryBoundary,
        CompletionSplit::Chosen,
    ]);
    let order = (any::<bool>(), 0u64..30, 0u8..=60, any::<u64>());
    let tags = prop::sample::select(vec![32u16, 256]);
    (sizes(), sizes(), boundary, split, tags, 0u64..20, order).prop_map(
        |(
            max_payload,
            max_read_request,
            read_completion_boundary,
            completion_split,
            tags,
            ticks,
            (reorder_completions, read_spread_ticks, pass_percent, seed),
        )| {
            let limits = Limits {
                max_payload,
                max_read_request,
                read_completion_boundary,
                tag_count: tags,
                ..Limits::default()
            };
            RootComplexSettings {
                limits,
                completion_split,
                read_latency_ticks: ticks,
                read_spread_ticks,
                reorder_completions,
                pass_percent,
                seed,
                ..RootComplexSettings::default()
            }
        },
    )
}

struct Bench {
    now: u64,
    host: RootComplex,
    device: Endpoint<Store>,
    base: u64,
    // What memory and device store ought to hold.
    memory: Vec<u8>,
    store: Vec<u8>,
    // One stall decision for each tick and direction, in turn.
    stalls: Vec<(bool, bool)>,
}

impl Bench {
    fn new(settings: RootComplexSettings, stalls: Vec<(bool, bool)>, faulty: bool) -> Self {
        let bar = Bar {
            index: 2,
            octets: OCTETS as u64,
            wide: true,
            prefetchable: true,
        };
        let space = ConfigurationSpace::new(Identity::default(), &[bar], None).expect("legal");
        let mut device = Endpoint::new(
            space,
            Store {
                octets: vec![0; OCTETS],
                faulty,
            },
        );
        let mut host = RootComplex::new(settings);
        let memory = host.memory_mut();
        memory
            .map("low half", MEMORY_BASE, OCTETS / 2, Access::READ_WRITE)
            .expect("free");
        let upper = MEMORY_BASE + OCTETS as u64 / 2;
        memory
            .map("high half", upper, OCTETS / 2, Access::READ_WRITE)
            .expect("free");
        let bars = enumerate(0, &mut host, &mut device, FUNCTION, BAR_BASE).expect("answers");
        let (memory, store) = (vec![0; OCTETS], vec![0; OCTETS]);
        Self {
            now: 0,
            host,
            device,
            base: bars[0].base,
            memory,
            store,
            stalls,
        }
    }

    fn tick(&mut self) {
        let (stall_down, stall_up) = self.stalls[self.now as usize % self.stalls.len()];
        self.now += 1;
        if !stall_down {
            if let Some(tlp) = self.host.next_downstream(self.now) {
                self.device.downstream(self.now, tlp);
            }
        }
        if !stall_up {
            if let Some(tlp) = self.device.next_upstream(self.now) {
                self.host.upstream(self.now, tlp);
            }
        }
    }

    fn wait(&mut self, mut poll: impl FnMut(&mut Self) -> Option<Vec<u8>>) -> Vec<u8> {
        for _ in 0..100_000 {
            if let Some(octets) = poll(self) {
                return octets;
            }
            self.tick();
        }
        panic!("no result after 100000 ticks");
    }

    fn run(&mut self, operation: &Operation) {
        let pattern = |span: &Span, seed: u8| -> Vec<u8> {
            (0..span.octets)
                .map(|at| seed.wrapping_add((at * 37 + at / 256) as u8))
                .collect()
        };
        match operation {
            Operation::HostWrite(span, seed) => {
                let data = pattern(span, *seed);
                self.host
                    .write_bar(self.now, self.base + span.start as u64, &data);
                self.store[span.start..][..span.octets].copy_from_slice(&data);
            }
            Operation::DeviceWrite(span, seed) => {
                let data = pattern(span, *seed);
                let address = MEMORY_BASE + span.start as u64;
                self.device
                    .write_memory(address, &data)
                    .expect("bus master");
                self.memory[span.start..][..span.octets].copy_from_slice(&data);
            }
            Operation::HostReads(spans) => {
                let begin = |span: &Span| {
                    self.host
                        .read_bar(self.now, self.base + span.start as u64, span.octets)
                };
                let tokens: Vec<Token> = spans.iter().map(begin).collect();
                for (span, token) in spans.iter().zip(tokens) {
                    let found =
                        self.wait(|bench| bench.host.poll(bench.now, token).expect("answered"));
                    assert_eq!(found, self.store[span.start..][..span.octets], "{span:?}");
                }
            }
            Operation::DeviceReads(spans) => {
                let begin = |span: &Span| {
                    let address = MEMORY_BASE + span.start as u64;
                    self.device
                        .read_memory(self.now, address, span.octets)
                        .expect("bus master")
                };
                let tokens: Vec<Token> = spans.iter().map(begin).collect();
                for (span, token) in spans.iter().zip(tokens) {
                    let found =
                        self.wait(|bench| bench.device.poll(bench.now, token).expect("answered"));
                    assert_eq!(found, self.memory[span.start..][..span.octets], "{span:?}");
                }
            }
        }
    }

    fn finish(mut self) {
        exchange(self.now + 1000, &mut self.host, &mut self.device);
        assert!(self.host.is_idle());
        assert_eq!(self.device.device().octets, self.store);
        assert_eq!(
            self.host.memory().read(MEMORY_BASE, OCTETS),
            Ok(self.memory)
        );
        assert_eq!(self.device.discarded_count(), 0);
        assert_eq!(self.host.monitor_mut().finish(self.now), 0);
        assert_eq!(self.host.monitor().verdict(), Ok(()));
    }
}

fn stalls() -> impl Strategy<Value = Vec<(bool, bool)>> {
    // At least one tick in each direction that does not stall.
    prop::collection::vec(any::<(bool, bool)>(), 1..40).prop_map(|mut stalls| {
        stalls.push((false, false));
        stalls
    })
}

/// A failing case's seed is printed, and stored in a file next to this one to be run first.
fn seeded(cases: u32) -> ProptestConfig {
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(seeded(128))]

    #[test]
    fn random_transfers_both_ways_equal_plain_arrays(
        settings in settings(),
        stalls in stalls(),
        operations in prop::collection::vec(operation(), 1..40),
    ) {
        let mut bench = Bench::new(settings, stalls, false);
        for operation in &operations {
            bench.run(operation);
        }
        bench.finish();
    }

    #[test]
    fn nothing_a_device_sends_makes_the_root_complex_panic(
        packets in prop::collection::vec(
            (prop::sample::select(vec![0x00u32, 0x20, 0x40, 0x60, 0x04, 0x44, 0x0a, 0x4a, 0x34]),
             any::<u32>(), prop::collection::vec(any::<u32>(), 0..5), 0usize..40),
            1..40,
        ),
    ) {
        let mut bench = Bench::new(RootComplexSettings::default(), vec![(false, false)], false);
        for (now, (fmt_type, first, rest, octets)) in packets.into_iter().enumerate() {
            let mut dwords = vec![fmt_type << 24 | first & 0xff_f00f];
            dwords.extend(rest);
            bench.host.upstream_dwords(now as u64, &dwords, vec![0xff; octets]);
            while let Some(tlp) = bench.host.next_downstream(now as u64) {
                bench.device.downstream(now as u64, tlp);
            }
        }
        // None of it was addressed to memory that is mapped.
        prop_assert_eq!(bench.host.memory().read(MEMORY_BASE, OCTETS), Ok(bench.memory));
    }
}

/// The canary: a device that loses one octet must make the comparison fail.
#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn a_device_that_loses_an_octet_is_found_out() {
    let mut bench = Bench::new(RootComplexSettings::default(), vec![(false, false)], true);
    bench.run(&Operation::HostWrite(
        Span {
            start: 0,
            octets: 300,
        },
        1,
    ));
    bench.finish();
}
