//! Acceptance beyond gaps: the block in lockstep with its Verilog, and with the model, until every
//! way in which a segment can meet received ranges was seen many times.
use super::model::{Model, Reported, Stream, ACK};
use super::ports::{check_outputs, Operation, Ports};
use super::traffic::{random_frame, Mood};
use crate::messages::{FrameVerdict, SegmentInfo};
use crate::receive::tcp::accept::SegmentAcceptance;
use crate::receive::tcp::context::QueuedFrame;
use crate::receive::tcp::lookup::LookupResult;
use rnic_abi::tables;
use rnic_hdl_tools::testkit::{bits_of, lockstep, settle, simulate, Pace, Random, Simulation};

const STREAMS: usize = 24;
const ROUND: usize = 8000;
/// In a short run, which meets three limits of memory, and in a long one, which meets all five.
/// Rounds 5 and 11 begin with a reset.
const ROUNDS: [usize; 2] = [10, 16];
const MOODS: [Mood; 7] = [
    Mood::Mixed,
    Mood::Ordered,
    Mood::Scattered,
    Mood::Bridging,
    Mood::Mixed,
    Mood::Scattered,
    Mood::Bridging,
];

#[derive(Default)]
struct Bench {
    model: Model,
    mood: usize,
    ports: Ports,
    /// At the port, until it is taken.
    frame: Option<(QueuedFrame, LookupResult)>,
    /// Key credits to give back before the next frame.
    fragments_due: usize,
    serial: u64,
    reads: usize,
}

impl Bench {
    fn queue(&mut self, operation: u32, table: u32, index: u64, words: u128, reads: (u128, u128)) {
        let data = bits_of(&words.to_le_bytes());
        self.ports.queue(operation, table, index, data, reads);
    }

    /// Rewrites every connection; after a reset there is nothing to release.
    fn begin_round(&mut self, round: usize, after_reset: bool, random: &mut Random) {
        self.mood = round % MOODS.len();
        if after_reset {
            self.model.reset();
            self.ports.reports.forget();
        }
        let limits = [(448, 448), (448, 30), (60, 448), (200, 20), (448, 448)];
        let (ooo_pages, ooo_share) = match MOODS[self.mood] {
            // It comes twice in a turn of all moods.
            Mood::Mixed => limits[(round / MOODS.len() * 2 + usize::from(self.mood > 0)) % 5],
            _ => (448, 448),
        };
        (self.model.ooo_pages, self.model.ooo_share) = (ooo_pages, ooo_share);
        self.fragments_due = self.model.fragments_out;
        for index in 0..STREAMS {
            let connection = (index as u64 * 37) % 1024;
            if !after_reset {
                self.model.release(index);
                self.queue(tables::RELEASE, tables::TCP, connection, 0, (0, !0));
            }
            let windows = [5, 3000, 1 << 16, 1 << 30];
            let window = match MOODS[self.mood] {
                Mood::Mixed => windows[random.below(4) as usize],
                Mood::Ordered => windows[random.below(4) as usize] % 3000,
                _ => 1 << 30,
            };
            let near_wrap = random.below(1 << 13) as u32 ^ 0xffff_e000;
            let stream = Stream::new(connection, near_wrap, window);
            let (words, _) = stream.tcp_words();
            self.queue(tables::WRITE, tables::TCP, connection, words, (0, !0));
            if self.model.streams.len() > index {
                self.model.streams[index] = stream;
            } else {
                self.model.streams.push(stream);
            }
            self.model.begin(index);
        }
    }

    /// Reads of a connection's tables; sometimes its window is written, sometimes an operation has
    /// no effect.
    fn queue_reads(&mut self, random: &mut Random) {
        let number = random.below(STREAMS as u64) as usize;
        let stream = self.model.streams[number].clone();
        self.reads += 1;
        let connection = stream.connection;
        match random.below(10) {
            8 => {
                let window = stream.window + random.below(4000) as u32;
                self.model.streams[number].window = window.min(1 << 30);
                let words = u128::from(window.min(1 << 30)) | !0 << 32;
                self.queue(
                    tables::WRITE,
                    tables::TCP_WINDOW,
                    connection,
                    words,
                    (0, !0),
                );
            }
            9 => self.queue(tables::RELEASE, tables::TCP_WINDOW, connection, 0, (0, !0)),
            0 => self.queue(tables::WRITE, tables::OUT_OF_ORDER, connection, !0, (0, !0)),
            1 => self.queue(tables::WRITE, tables::RANGE, random.below(256), !0, (0, !0)),
            2 => self.queue(
                tables::RELEASE,
                tables::OUT_OF_ORDER,
                connection,
                0,
                (0, !0),
            ),
            3 => self.queue(tables::READ, tables::TCP, connection, 0, stream.tcp_words()),
            4 => self.queue(
                tables::READ,
                tables::OUT_OF_ORDER,
                connection,
                0,
                stream.ooo_words(),
            ),
            _ if stream.ranges.is_empty() => {}
            _ => {
                let place = random.below(stream.ranges.len() as u64) as usize;
                let index = stream.ranges[place].number;
                self.queue(
                    tables::READ,
                    tables::RANGE,
                    index,
                    0,
                    stream.range_words(place),
                );
            }
        }
    }

    /// Compares what leaves in this cycle, and says what is taken.
    fn check(&mut self, uut: &mut SegmentAcceptance, pace: Pace, random: &mut Random) {
        check_outputs!(uut, self.ports, self.model, pace, random);
        self.ports
            .check_table(uut.table_done.val(), uut.table_data.val());
    }

    /// One thing at a time: fragments released, then operations, then a frame.
    fn drive(&mut self, uut: &mut SegmentAcceptance, quiet: bool, random: &mut Random) {
        uut.fragment_free.next = false;
        // Spans are released at once; a credit that was not taken is ignored.
        uut.span_free.next = true;
        self.ports.operations.pace = Pace::Never;
        let requested = self.ports.operations.is_offering();
        if self.frame.is_none() && !requested && !uut.busy.val() {
            uut.ooo_pages.next = self.model.ooo_pages.into();
            uut.ooo_share.next = self.model.ooo_share.into();
            if self.fragments_due > 0 {
                self.fragments_due -= 1;
                self.model.fragments_out -= 1;
                uut.fragment_free.next = true;
            } else if !self.ports.operations.is_empty() {
                self.ports.operations.pace = Pace::Always;
            } else if !quiet && random.chance(7, 8) {
                if random.chance(1, 12) {
                    self.queue_reads(random);
                } else {
                    self.offer(random);
                }
            } else if MOODS[self.mood] != Mood::Bridging {
                self.fragments_due = random.below(self.model.fragments_out as u64 + 1) as usize;
            }
        }
        let operation = self.ports.operations.offer(random);
        uut.table_valid.next = operation.is_some();
        if let Some(operation) = operation {
            uut.table_request.next = operation.request;
        }
        uut.frame_valid.next = self.frame.is_some();
        if let Some((frame, found)) = self.frame {
            uut.frame.next = frame;
            uut.found.next = found;
        }
        settle(uut);
        if uut.frame_ready.val() {
            self.frame = None;
        }
    }

    fn offer(&mut self, random: &mut Random) {
        let mood = MOODS[self.mood];
        let few = mood != Mood::Scattered && random.chance(3, 4);
        let index = random.below(if few { 3 } else { STREAMS as u64 }) as usize;
        self.serial += 1;
        let stream = &self.model.streams[index];
        let (frame, is_ours) = random_frame(stream, mood, self.serial, random);
        let found = LookupResult {
            hit: is_ours,
            connection: stream.connection.into(),
        };
        self.model.take(&frame, is_ours.then_some(index));
        self.frame = Some((frame, found));
    }
}

/// Lockstep with the emitted Verilog, and with the model. Each octet reaches MPA once (MPA-038),
/// with the ranges it touches on both sides; only of segments that TCP commits to (MPA-037).
#[test]
fn mpa_037_038_ooo_octets_are_accepted_once_with_what_they_touch() {
    let mut bench = Bench::default();
    let mut cycle = 0;
    let uut = SegmentAcceptance::default();
    let rounds = rnic_effort::count("rounds", ROUNDS[0], ROUNDS[1]);
    lockstep!("segment_acceptance", uut, rounds * ROUND, |uut, random| {
        let round = cycle / ROUND;
        let after_reset = matches!(round, 0 | 5 | 11);
        uut.reset.next = after_reset && cycle % ROUND == 0;
        let busy = bench.ports.operations.is_empty();
        let stalls = if busy {
            [8, 8, 6, 1][(cycle / 1500) % 4]
        } else {
            7
        };
        bench.check(uut, Pace::of_8(stalls), random);
        if cycle % ROUND == 0 {
            assert!(bench.model.is_done() && bench.frame.is_none());
            bench.begin_round(round, after_reset, random);
        }
        let quiet = cycle % ROUND > ROUND - 400 || uut.reset.next;
        if !uut.reset.next {
            bench.drive(uut, quiet, random);
        }
        cycle += 1;
    });
    assert!(bench.model.is_done(), "frames stay inside");
    assert_eq!(bench.ports.counted, bench.model.counts, "counters");
    let seen = &bench.model.seen;
    assert!(seen.verdicts.iter().all(|count| *count > 50), "{seen:?}");
    // By: out of order, follows a range, is followed by one; in order there is no left range.
    let kinds = [0, 4, 1, 3, 5, 7].map(|kind| seen.messages[kind]);
    assert!(kinds.iter().all(|count| *count > 50), "{seen:?}");
    assert!(seen.most_runs > 8 && seen.shared_frames > 100, "{seen:?}");
    let rare = [
        seen.without_fragment,
        seen.no_number,
        seen.sixteen_ranges,
        seen.over_share,
        seen.over_pages,
        seen.across_wrap,
        seen.purges,
        seen.ooo_fins,
    ];
    assert!(rare.iter().all(|count| *count > 10), "{seen:?}");
    assert!(bench.reads > 200, "{}", bench.reads);
    assert!(bench.ports.reports.reads > 500);
    assert!(seen.reasons.iter().all(|count| *count > 50), "{seen:?}");
}

/// Acceptance with nothing in its way, and one connection with a wide window at sequence number 0.
fn open_acceptance() -> Simulation<SegmentAcceptance> {
    let mut uut = simulate!(SegmentAcceptance::default());
    uut.ooo_pages.next = 448u64.into();
    uut.ooo_share.next = 448u64.into();
    uut.accepted_ready.next = true;
    uut.host_frame_ready.next = true;
    uut.page_release_ready.next = true;
    uut.pulse(|uut| &mut uut.reset);
    let mut bench = Bench::default();
    let (words, _) = Stream::new(3, 0, 1 << 20).tcp_words();
    bench.queue(tables::WRITE, tables::TCP, 3, words, (0, !0));
    assert_eq!(
        operate(&mut uut, &bench.ports.operations.waiting()[0], 100),
        Some(0)
    );
    uut
}

/// What an operation reads, if it is done within `patience` cycles.
fn operate(
    uut: &mut Simulation<SegmentAcceptance>,
    operation: &Operation,
    patience: usize,
) -> Option<u128> {
    uut.table_request.next = operation.request;
    uut.table_valid.next = true;
    for _ in 0..patience {
        uut.tick();
        if uut.table_done.val() {
            let read = uut.table_data.val().to_u128();
            uut.table_valid.next = false;
            uut.tick();
            return Some(read);
        }
    }
    None
}

/// Cycles from a frame's offer to its first message, and to the end of the cycle that decides it.
fn cycles_of(
    uut: &mut Simulation<SegmentAcceptance>,
    sequence: u64,
    octets: u64,
) -> (Option<usize>, usize) {
    uut.frame.next.segment = SegmentInfo {
        verdict: FrameVerdict::Tcp,
        frame_octets: (octets + 54).into(),
        flags: ACK.into(),
        checksum_good: true,
        seg_seq: sequence.into(),
        payload_offset: 56u64.into(),
        payload_octets: octets.into(),
        ..SegmentInfo::default()
    };
    uut.found.next = LookupResult {
        hit: true,
        connection: 3u64.into(),
    };
    uut.frame_valid.next = true;
    let (mut first, mut decided) = (None, None);
    for cycle in 1..100 {
        uut.tick();
        uut.frame_valid.next = false;
        if uut.accepted_valid.val() {
            first = first.or(Some(cycle));
        }
        if !uut.busy.val() {
            decided = decided.or(Some(cycle));
        }
    }
    (first, decided.expect("every frame is decided"))
}

/// The figures in the heads of `accept.rs` and `ranges/mod.rs`.
#[test]
fn cycles_of_each_path() {
    let mut uut = open_acceptance();
    let cases = [
        ("in order, no ranges", 0, 10, Some(5), 5),
        ("ooo, the first range", 1000, 10, Some(7), 9),
        ("ooo, nothing new", 1005, 2, None, 10),
        ("ooo, after a range", 1010, 10, Some(11), 13),
        ("ooo, before a range", 990, 10, Some(9), 11),
        ("ooo, a second range", 3000, 10, Some(11), 14),
        ("in order, before a range", 10, 10, Some(11), 12),
        ("in order, up to a range", 20, 970, Some(9), 10),
        ("in order, over a range", 1020, 3000, Some(9), 12),
        ("in order, no ranges again", 4020, 10, Some(5), 5),
    ];
    for (name, sequence, octets, first, decided) in cases {
        let cycles = cycles_of(&mut uut, sequence, octets);
        assert_eq!(cycles, (first, decided), "{name}");
    }
}

/// MPA must have every purge before the connection's release in table `MPA` begins.
#[test]
fn a_release_waits_for_its_purges() {
    let mut uut = open_acceptance();
    for place in 1..=16 {
        cycles_of(&mut uut, 100 * place, 10);
    }
    uut.accepted_ready.next = false;
    let mut bench = Bench::default();
    bench.queue(tables::RELEASE, tables::TCP, 3, 0, (0, !0));
    bench.queue(tables::READ, tables::OUT_OF_ORDER, 3, 0, (0, !0));
    let words =
        operate(&mut uut, &bench.ports.operations.waiting()[1], 20).expect("a read is quick");
    assert_eq!(words >> 8 & 0x1f, 16, "ranges of {words:x}");
    assert_eq!(words >> 32 & 0x3ff, 16, "pages of {words:x}");
    assert_eq!(
        operate(&mut uut, &bench.ports.operations.waiting()[0], 400),
        None
    );
    let mut purged = Vec::new();
    while !uut.table_done.val() {
        assert!(purged.len() <= 16, "{purged:?}");
        uut.accepted_ready.next = !uut.accepted_ready.val();
        uut.settle();
        if uut.accepted_valid.val() && uut.accepted_ready.val() {
            let reported = Reported::from(uut.accepted.val());
            assert!(reported.purges && reported.connection == 3, "{reported:?}");
            purged.push(reported.right.expect("a purge names its range"));
        }
        uut.tick();
    }
    assert_eq!(purged, (0..16).collect::<Vec<u64>>());
    uut.table_valid.next = false;
    uut.tick();
    assert!(operate(&mut uut, &bench.ports.operations.waiting()[1], 20).is_some());
    let words = uut.table_data.val().to_u128();
    assert_eq!(
        words & 0xffff_ffff_0000_1f00,
        0,
        "ranges and pages of {words:x}"
    );
}
