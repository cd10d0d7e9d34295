//! Few pages are left: the room against the model, with a stub that answers for MPA. One frame at a
//! time, so that each sees the answer that was drawn for it.
use super::ports::check_outputs;
use super::room::{drive_table, stored, Bench};
use super::traffic::{random_frame, Mood};
use crate::messages::{FpduStatus, FrameVerdict};
use crate::receive::tcp::context::QueuedFrame;
use crate::receive::tcp::TcpRoom;
use rnic_abi::events::SegmentVerdict;
use rnic_abi::registers::OUT_OF_ORDER_PAGES_MAX;
use rnic_hdl_tools::testkit::{lockstep, Pace, Random};

const STREAMS: usize = 5;
const RESERVE: u64 = 80;
const LONG_RESERVE: u64 = 200;
/// Octets missing that the first reserve does not hold.
const FAR_OCTETS: u32 = 1 << 14;
const TIMEOUT_LOG2: u64 = 9;
/// Cycles without a frame of the owner in which it still is the owner, and after which it is not.
const STILL_OWNER: usize = 400;
const TIMED_OUT: usize = 560;
/// Cycles from one rewrite of all contexts to the next.
const ROUND: usize = 4_000;

/// State of the test.
#[derive(Debug, Default, PartialEq)]
enum Step {
    /// Nothing until that cycle.
    Rest(usize),
    #[default]
    Draw,
    /// The frame is at the port.
    Offer,
    /// It was taken.
    Taken,
    /// Waits for the query about a connection.
    Question(u64),
    /// The answer follows after some cycles.
    Answer(u64, usize),
    /// The frame is decided; waits for its outputs.
    Leave,
}

#[derive(Debug, Default)]
struct Seen {
    busy: usize,
    ends: usize,
    ends_with_another_owner: usize,
    ends_a_turn: usize,
    begins_a_turn: usize,
    takes_over: usize,
    refused: usize,
    expired: usize,
    ooo_refused: usize,
    among_ranges: usize,
    far: usize,
    given_up: usize,
    far_settled: usize,
    short_for_long: usize,
    grows: usize,
}

#[derive(Default)]
struct Test {
    step: Step,
    cycle: usize,
    free: u64,
    /// The reserve has grown, and `LONG_RESERVE` pages have been free since.
    grown: bool,
    settled: bool,
    /// The first connection with a long FPDU, and the one that reports it in this cycle.
    first: Option<u64>,
    shows: Option<u64>,
    owner: Option<u64>,
    /// Cycle of the owner's last acceptance.
    since: usize,
    frame: QueuedFrame,
    stream: usize,
    seen: Seen,
}

impl Test {
    fn is_data(&self) -> bool {
        let flags = self.frame.segment.flags.index() as u64;
        let strange = flags & 0b100110 != 0;
        let payload = self.frame.segment.payload_octets.any();
        let tcp =
            self.frame.segment.verdict == FrameVerdict::Tcp && self.frame.segment.checksum_good;
        tcp && !strange && payload
    }

    /// Draws a frame, or something that must happen before it.
    fn draw(&mut self, uut: &mut TcpRoom, bench: &mut Bench, random: &mut Random) {
        self.step = Step::Rest(self.cycle + 10);
        if self.owner.is_some() {
            let silent = self.cycle - self.since;
            if silent > STILL_OWNER || random.chance(1, 64) {
                self.step = Step::Rest(self.cycle + TIMED_OUT);
                self.owner = None;
                self.seen.expired += 1;
                return;
            }
        }
        if random.chance(1, if self.is_short() { 40 } else { 10 }) {
            self.change_pages(uut, random);
            return;
        }
        self.stream = random.below(STREAMS as u64) as usize;
        let mut streams = bench.model.streams.iter();
        let among_ranges = streams.position(|stream| !stream.ranges.is_empty());
        if self.is_short() && random.chance(1, 2) {
            self.stream = among_ranges.unwrap_or(self.stream);
        }
        // Ranges are opened while pages are free, and used while memory is short.
        let mixed = if self.is_short() { 1 } else { 3 };
        let mood = [Mood::Ordered, Mood::Mixed][usize::from(random.chance(mixed, 4))];
        let serial = self.cycle as u64;
        self.frame = random_frame(&bench.model.streams[self.stream], mood, serial, random).0;
        uut.stored.next = stored(&self.frame, &bench.connections[self.stream].key);
        uut.stored_valid.next = true;
        self.step = Step::Offer;
    }

    fn is_short(&self) -> bool {
        self.free < RESERVE || (self.grown && self.free < LONG_RESERVE)
    }

    /// Pages are freed or allocated, or the reserve grows or is rewritten.
    fn change_pages(&mut self, uut: &mut TcpRoom, random: &mut Random) {
        if random.chance(1, 5) {
            let before = self.grown;
            self.grown = !self.grown || random.chance(1, 2);
            if self.grown && !before {
                // The first stream with a long FPDU becomes the owner.
                self.since = self.owner.map_or(self.cycle, |_| self.since);
                self.owner = Some(self.first.unwrap_or(0));
            }
        } else {
            let edges = [RESERVE, LONG_RESERVE][random.below(2) as usize];
            let few = random.below(RESERVE);
            let some = RESERVE + random.below(LONG_RESERVE - RESERVE);
            self.free = [edges, edges - 1, few, few, some, 512][random.below(6) as usize];
        }
        self.settled = self.grown && (self.settled || self.free >= LONG_RESERVE);
        uut.free_pages.next = self.free.into();
        uut.reserve_grown.next = self.grown;
        self.owner = self.owner.filter(|_| self.is_short());
    }

    /// Octets from rcv_nxt to the segment's end, within the window.
    fn reach(&self, bench: &Bench) -> u32 {
        let stream = &bench.model.streams[self.stream];
        let sequence = self.frame.segment.seg_seq.index() as u32;
        let end = sequence.wrapping_add(self.frame.segment.payload_octets.index() as u32);
        end.wrapping_sub(stream.next as u32).min(stream.window)
    }

    /// Does the segment hold the next octet?
    fn is_next(&self, bench: &Bench) -> bool {
        let stream = &bench.model.streams[self.stream];
        let before = (stream.next as u32).wrapping_sub(self.frame.segment.seg_seq.index() as u32);
        stream.window > 0 && (before as usize) < self.frame.segment.payload_octets.index()
    }

    /// An answer that often is just enough for the segment, or just not.
    fn draw_answer(&self, bench: &Bench, random: &mut Random) -> FpduStatus {
        let empty = random.chance(1, 3);
        let near = self.reach(bench).wrapping_sub(random.below(3) as u32);
        let among_ranges = !bench.model.streams[self.stream].ranges.is_empty();
        let missing = match random.below(3) {
            _ if among_ranges && random.chance(1, 2) => FAR_OCTETS + random.below(1 << 16) as u32,
            0 => 1 + random.below(60) as u32,
            1 => FAR_OCTETS / 2 + random.below(1 << 16) as u32,
            _ => near.wrapping_add(1).clamp(1, 1 << 17),
        };
        FpduStatus {
            busy: random.chance(1, 8),
            empty,
            known: !empty && random.chance(3, 4),
            missing: u64::from(missing).into(),
        }
    }

    /// The table at the head of `tcp/reserve.rs`.
    fn weigh(&mut self, about: u64, answer: FpduStatus, bench: &mut Bench) {
        let stream = &bench.model.streams[self.stream];
        let (connection, window) = (stream.connection, stream.window);
        let missing = answer.missing.index() as u32;
        let ends = answer.known && self.reach(bench) >= missing && about == connection;
        let far = answer.known && missing >= FAR_OCTETS && self.free < RESERVE;
        let (limit, limited) = if about != connection {
            let over = answer.empty && !answer.busy;
            self.seen.takes_over += usize::from(over);
            self.seen.refused += usize::from(!over);
            if over {
                (window, false)
            } else {
                (0, true)
            }
        } else if answer.busy {
            self.seen.busy += 1;
            (0, true)
        } else if ends {
            (missing, true)
        } else if far && !self.settled {
            self.seen.far += 1;
            if self.is_next(bench) && !bench.model.streams[self.stream].ranges.is_empty() {
                self.seen.given_up += 1;
                bench.model.release(self.stream);
            }
            (0, true)
        } else if self.owner.is_some_and(|owner| owner != connection) {
            self.step = Step::Question(self.owner.expect("just seen"));
            return;
        } else {
            (window, false)
        };
        bench.model.limited = limited;
        self.take(Some(limit), bench);
        bench.model.limited = false;
        self.step = Step::Leave;
        let verdict = bench
            .model
            .events
            .back()
            .expect("segments are reported")
            .verdict;
        if verdict > SegmentVerdict::Trimmed as u64 {
            let ooo = verdict == SegmentVerdict::NoRoom as u64 && !limited;
            self.seen.ooo_refused += usize::from(ooo);
            return;
        }
        let own = self.owner == Some(connection);
        if ends {
            self.seen.ends += 1;
            self.seen.ends_with_another_owner += usize::from(self.owner.is_some() && !own);
            self.seen.ends_a_turn += usize::from(own);
            self.owner = self.owner.filter(|_| !own);
        } else {
            self.seen.far_settled += usize::from(far);
            self.seen.short_for_long += usize::from(self.free >= RESERVE);
            self.seen.begins_a_turn += usize::from(!own);
            (self.owner, self.since) = (Some(connection), self.cycle);
        }
    }

    fn take(&mut self, limit: Option<u32>, bench: &mut Bench) {
        let ranges = bench.model.streams[self.stream].ranges.len();
        bench.model.limit = limit;
        bench.model.take(&self.frame, Some(self.stream));
        bench.model.limit = None;
        let limited = limit.is_some()
            && bench
                .model
                .reported
                .back()
                .is_some_and(|reported| !reported.ooo);
        self.seen.among_ranges += usize::from(ranges > 0 && limited);
    }

    /// Reports a long FPDU at random: `grows` must flag the second stream.
    fn show_long_fpdus(&mut self, uut: &mut TcpRoom, bench: &Bench, random: &mut Random) {
        if let Some(shown) = self.shows.take() {
            let second = self.first.is_some_and(|first| first != shown);
            assert_eq!(uut.grows.val(), second, "cycle {}", self.cycle);
            self.first.get_or_insert(shown);
            self.seen.grows += usize::from(second);
        } else if random.chance(1, 100) {
            let stream = random.below(STREAMS as u64) as usize;
            self.shows = Some(bench.model.streams[stream].connection);
        }
        uut.long_fpdu.next = self.shows.is_some();
        uut.long_connection.next = self.shows.unwrap_or(0).into();
    }

    fn step(&mut self, uut: &mut TcpRoom, bench: &mut Bench, random: &mut Random) {
        uut.fpdu_status_valid.next = false;
        match self.step {
            Step::Rest(end) if self.cycle < end => {}
            Step::Rest(_) => self.step = Step::Draw,
            Step::Draw => self.draw(uut, bench, random),
            Step::Offer if uut.stored_ready.val() => self.step = Step::Taken,
            Step::Offer => {}
            Step::Taken => {
                uut.stored_valid.next = false;
                self.step = Step::Leave;
                if self.is_short() && self.is_data() {
                    self.step = Step::Question(bench.model.streams[self.stream].connection);
                } else {
                    self.take(None, bench);
                }
            }
            Step::Question(about) => {
                if let Some(asked) = bench.ports.asked.take() {
                    assert_eq!(asked, about, "cycle {}", self.cycle);
                    self.step = Step::Answer(about, random.below(6) as usize);
                }
            }
            Step::Answer(about, 0) => {
                let answer = self.draw_answer(bench, random);
                uut.fpdu_status.next = answer;
                uut.fpdu_status_valid.next = true;
                self.weigh(about, answer, bench);
            }
            Step::Answer(about, cycles) => self.step = Step::Answer(about, cycles - 1),
            Step::Leave if bench.model.is_done() => self.step = Step::Rest(self.cycle + 4),
            Step::Leave => {}
        }
    }
}

/// Contexts are read, then rewritten.
fn begin_round(bench: &mut Bench, random: &mut Random) {
    for index in 0..STREAMS {
        bench.queue_reads(index);
        let windows = [5, 3000, 1 << 16, 1 << 30];
        let rcv_nxt = random.below(1 << 14) as u32 ^ 0xffff_e000;
        bench.queue_context(index, rcv_nxt, windows[random.below(4) as usize]);
    }
}

/// Lockstep with the emitted Verilog, and with the model: which segments are accepted up to where,
/// and which are dropped (`drop_tcp_no_room`), while memory is short.
#[test]
fn short_memory_serves_the_owner_and_fpdu_ends() {
    let mut bench = Bench::with_connections(STREAMS, &mut Random::from_environment());
    let mut test = Test::default();
    let uut = TcpRoom::default();
    let cycles = rnic_effort::count("cycles", 45_000, 150_000);
    lockstep!("tcp_room_reserve", uut, cycles, |uut, random| {
        uut.reset.next = test.cycle == 0;
        if test.cycle == 0 {
            uut.ooo_pages.next = u64::from(OUT_OF_ORDER_PAGES_MAX).into();
            uut.ooo_share.next = u64::from(OUT_OF_ORDER_PAGES_MAX).into();
            uut.reserve_pages.next = RESERVE.into();
            uut.long_pages.next = LONG_RESERVE.into();
            uut.hold_log2.next = TIMEOUT_LOG2.into();
            test.free = 512;
            uut.free_pages.next = test.free.into();
        }
        check_outputs!(uut, bench.ports, bench.model, Pace::of_8(6), random);
        // After a reset the relay shows zero data for a cycle.
        if test.cycle > 1 {
            drive_table(uut, &mut bench, random);
        }
        test.show_long_fpdus(uut, &bench, random);
        // Not before the room has taken the key.
        let quiet = matches!(test.step, Step::Rest(_));
        uut.fragment_free.next = quiet && bench.model.fragments_out > 0 && random.chance(1, 4);
        bench.model.fragments_out -= usize::from(uut.fragment_free.next);
        if test.step == Step::Draw && test.cycle / ROUND != (test.cycle + 30) / ROUND {
            begin_round(&mut bench, random);
            test.step = Step::Rest(test.cycle + 30);
        }
        if bench.ports.operations.is_empty() {
            test.step(uut, &mut bench, random);
        }
        test.cycle += 1;
    });
    let counts = bench.model.counts;
    let difference = (bench.ports.counted.iter().sum::<u64>()).abs_diff(counts.iter().sum());
    assert!(difference <= 2, "{:?} for {counts:?}", bench.ports.counted);
    let seen = &test.seen;
    let counts = [
        seen.busy,
        seen.ends,
        seen.ends_with_another_owner,
        seen.ends_a_turn,
        seen.begins_a_turn,
        seen.takes_over,
        seen.refused,
        seen.expired,
        seen.ooo_refused,
        seen.among_ranges,
        seen.far,
        seen.far_settled,
        seen.short_for_long,
        seen.grows,
    ];
    println!("{seen:?}");
    assert!(counts.iter().all(|count| *count >= 5), "{seen:?}");
    // Rare: a segment in order is refused for its FPDU's length, and its connection has ranges.
    assert!(seen.given_up >= 1, "{seen:?}");
}
