//! The room with a stand-in for TCP, which answers reads late, and for host memory.
use super::*;
use rnic_abi::event_ring as abi;
use rnic_hdl_tools::testkit::{lockstep, octets_of, simulate, words_of, Random, Simulation};

const BASE: u64 = 0x1_0000_4000;

/// Contexts of TCP, and the ring as it is written.
#[derive(Default)]
struct World {
    /// Cycles until the read at hand is taken, then until its context comes.
    read: Option<(u64, usize, bool)>,
    /// Segments of each connection so far: its rcv_nxt.
    segments: std::collections::BTreeMap<u64, u32>,
    /// Contexts that were read.
    answered: usize,
    beats: Vec<u32>,
    events: Vec<[u32; 8]>,
    slow: bool,
}

impl World {
    fn context(&self, connection: u64) -> ReportedContext {
        let rcv_nxt = self.segments.get(&connection).copied().unwrap_or(0);
        ReportedContext {
            rcv_nxt: u64::from(rcv_nxt).into(),
            seg_ack: (connection << 20 | 7).into(),
            seg_wnd: 0xbeefu64.into(),
            duplicates_due: 3u64.into(),
            duplicates_seen: 4u64.into(),
            fin: connection & 1 == 1,
            fin_sequence: (connection << 8 | 0xf1).into(),
            ranges: 2u64.into(),
        }
    }

    /// TCP's side of a cycle.
    fn answer<const D: usize, const L: usize>(
        &mut self,
        uut: &mut EventRoom<D, L>,
        random: &mut Random,
    ) {
        uut.read_taken.next = false;
        uut.reported_valid.next = false;
        if let Some((connection, cycles, taken)) = &mut self.read {
            *cycles = cycles.saturating_sub(1);
            match (*cycles, *taken) {
                (0, false) => {
                    uut.read_taken.next = true;
                    (*cycles, *taken) = (2, true);
                }
                (0, true) => {
                    let connection = *connection;
                    uut.reported.next = self.context(connection);
                    uut.reported_valid.next = true;
                    self.read = None;
                    self.answered += 1;
                }
                _ => {}
            }
        } else if uut.read.val() {
            let wait = match self.slow {
                true => 1 + random.below(20) as usize,
                false => 1,
            };
            self.read = Some((uut.read_connection.val().to_u64(), wait, false));
        }
    }

    /// Memory's side.
    fn store<const D: usize, const L: usize>(
        &mut self,
        uut: &mut EventRoom<D, L>,
        random: &mut Random,
        base: u64,
        log2: u32,
    ) {
        uut.tlp_ready.next = !self.slow || random.chance(1, 2);
        if !uut.tlp_valid.val() || !uut.tlp_ready.next {
            return;
        }
        let octets = octets_of(uut.tlp_data.val());
        let words = octets.chunks_exact(4);
        let word = |octets: &[u8]| u32::from_le_bytes(octets.try_into().expect("four octets"));
        let data: Vec<u32> = words.map(word).collect();
        let lanes = (D / 32).min(8);
        assert_eq!(uut.tlp_keep.val().to_u64(), (1 << lanes) - 1);
        self.beats.extend(&data[..lanes]);
        assert_eq!(uut.tlp_last.val(), self.beats.len() == 8);
        if self.beats.len() < 8 {
            return;
        }
        let words: [u32; 8] = std::mem::take(&mut self.beats).try_into().expect("eight");
        let number = self.events.len() as u64;
        let address = base + 32 * (number % (1 << log2));
        let header: [u32; 4] = words_of(uut.tlp_header.val());
        let expected = match address >> 32 {
            0 => [0x4000_0008, 0x1234_00ff, address as u32, 0],
            high => [0x6000_0008, 0x1234_00ff, high as u32, address as u32],
        };
        assert_eq!(header, expected, "entry {number}");
        let phase = u32::from(number >> log2 & 1 == 0) << 31;
        assert_eq!(words[7], phase | number as u32);
        self.events.push(words);
    }
}

fn opened<const D: usize, const L: usize>(base: u64, log2: u64) -> Simulation<EventRoom<D, L>> {
    let mut uut = simulate!(EventRoom::<D, L>::default());
    uut.device_id.next = 0x1234u64.into();
    uut.reset.next = true;
    uut.ticks(1030);
    uut.reset.next = false;
    uut.event_base.next = base.into();
    uut.event_entries_log2.next = log2.into();
    uut.ticks(8);
    uut
}

fn segment(connection: u64, reasons: u32) -> ConnectionReport {
    ConnectionReport {
        connection: connection.into(),
        reasons: u64::from(reasons).into(),
        ..ConnectionReport::default()
    }
}

/// Random segments of some connections: rings of two entries and more, below and above 4 GiB, a
/// driver that is late. Each entry says what is true when it is composed, and all that was reported
/// is in some entry.
fn check_random<const D: usize, const L: usize>(base: u64, log2: u32) {
    let mut uut = opened::<D, L>(base, u64::from(log2));
    let mut random = Random::from_environment();
    let mut world = World {
        slow: true,
        ..World::default()
    };
    let (mut consumed, mut seen) = (0, std::collections::BTreeMap::<u64, u32>::new());
    for cycle in 0..12_000 {
        world.answer(&mut uut, &mut random);
        world.store(&mut uut, &mut random, base, log2);
        uut.report_valid.next = cycle < 10_000 && cycle % 7 == 0 && random.chance(1, 2);
        if uut.report_valid.next {
            let connection = random.below(5) * 200;
            *world.segments.entry(connection).or_default() += 1;
            uut.report.next = segment(connection, abi::IN_ORDER);
        }
        // The first entry not consumed may have been overwritten otherwise.
        assert!(
            world.events.len() - consumed <= 1 << log2,
            "no entry is free"
        );
        if random.chance(1, 60) || cycle > 10_000 {
            consumed = world.events.len();
            uut.event_consumer.next = (consumed as u64).into();
        }
        uut.tick();
    }
    assert_eq!(uut.event_producer.val(), world.events.len() as u64);
    for words in &world.events {
        let connection = u64::from(words[0] >> 16);
        assert_eq!(words[0] & 0x1ff, abi::IN_ORDER);
        let before = seen.insert(connection, words[1]);
        assert!(
            before.is_none_or(|before| before <= words[1]),
            "never older"
        );
        let context = world.context(connection);
        assert_eq!(words[2], context.seg_ack.to_u32());
        assert_eq!(words[3], 0x0403_beef);
        assert_eq!(words[0] >> 9 & 1, u32::from(context.fin));
        assert_eq!(words[0] >> 10 & 1, 0, "no range was reported");
        assert_eq!((words[0] >> 11 & 31, words[4], words[5]), (2, 0, 0));
        let place = context.fin.then_some(context.fin_sequence.to_u32());
        assert_eq!(words[6], place.unwrap_or(0));
    }
    assert_eq!(seen, world.segments, "the last event of each says all");
    assert!(world.events.len() > 100, "{}", world.events.len());
}

#[test]
fn events_coalesce_and_none_is_lost() {
    check_random::<128, 4>(BASE, 1);
    check_random::<128, 4>(0x4000, 4);
    check_random::<512, 16>(0xffff_f000, 16);
    check_random::<512, 16>(BASE, 2);
}

/// Cycles until an event's first beat, if there is one.
fn event_after(
    uut: &mut Simulation<EventRoom<128, 4>>,
    world: &mut World,
    limit: usize,
) -> Option<usize> {
    let mut random = Random::from_environment();
    let count = world.events.len();
    let mut first = None;
    for cycle in 1..=limit {
        world.answer(uut, &mut random);
        world.store(uut, &mut random, BASE, 4);
        if uut.tlp_valid.val() {
            first = first.or(Some(cycle));
        }
        if world.events.len() > count {
            return first;
        }
        uut.tick();
    }
    None
}

#[test]
fn a_report_becomes_an_event_in_seventeen_cycles() {
    let mut uut = opened::<128, 4>(BASE, 4);
    let mut world = World::default();
    uut.report.next = segment(4, abi::ACK);
    uut.pulse(|uut| &mut uut.report_valid);
    let cycles = event_after(&mut uut, &mut world, 100);
    assert_eq!(cycles, Some(17));
}

/// Of an event without an acceptable segment the context says what was acknowledged.
#[test]
fn an_event_has_the_acknowledgement_that_joined_or_that_of_the_context() {
    let mut uut = opened::<128, 4>(BASE, 4);
    let mut world = World::default();
    for (acknowledges, expected) in [
        (true, (0xfedc_ba98, 0x0403_1234)),
        (false, (3 << 20 | 7, 0x0403_beef)),
    ] {
        uut.report.next = ConnectionReport {
            acknowledges,
            seg_ack: 0xfedc_ba98u64.into(),
            seg_wnd: 0x1234u64.into(),
            ..segment(3, abi::NOT_ACCEPTED)
        };
        uut.pulse(|uut| &mut uut.report_valid);
        event_after(&mut uut, &mut world, 100).expect("an event");
        let words = world.events.last().expect("an event");
        assert_eq!((words[2], words[3]), expected);
        uut.ticks(5);
    }
}

/// The range goes with the event while it is beyond rcv_nxt and the connection has ranges.
#[test]
fn the_range_that_changed_last_is_the_first_sack_block() {
    let mut uut = opened::<128, 4>(BASE, 4);
    let mut world = World::default();
    for (rcv_nxt, left, right, is_beyond) in [
        (100, 200, 300, true),
        (100, 0x7fff_0000, 0x7fff_ff00, true),
        (0xffff_ff00u32, 0xffff_ffff, 50, true),
        (300, 200, 300, false),
        (301, 200, 300, false),
        (0x20, 0xffff_0000, 0x20, false),
    ] {
        world.segments.insert(6, rcv_nxt);
        uut.report.next = ConnectionReport {
            changes: true,
            left: u64::from(left).into(),
            right: u64::from(right).into(),
            ..segment(6, abi::OUT_OF_ORDER)
        };
        uut.pulse(|uut| &mut uut.report_valid);
        event_after(&mut uut, &mut world, 100).expect("an event");
        let words = world.events.last().expect("an event");
        let range = if is_beyond { (left, right) } else { (0, 0) };
        assert_eq!((words[4], words[5]), range, "{rcv_nxt:x}");
        assert_eq!(words[0] & abi::HAS_RANGE != 0, is_beyond);
        uut.ticks(5);
    }
}

/// What was reported of an earlier connection of the number is no event of the next one.
#[test]
fn a_new_connection_has_no_events_of_an_earlier_one() {
    for delay in 0..20 {
        let mut uut = opened::<128, 4>(BASE, 4);
        let mut world = World::default();
        uut.report.next = segment(6, abi::FIN);
        uut.pulse(|uut| &mut uut.report_valid);
        // It may be composed by then, at most: the context is read before it is written.
        let mut random = Random::from_environment();
        for _ in 0..4 + delay {
            world.answer(&mut uut, &mut random);
            world.store(&mut uut, &mut random, BASE, 4);
            uut.tick();
        }
        let was_read = world.answered > 0;
        // No beat is taken unseen.
        uut.tlp_ready.next = false;
        uut.report.next = ConnectionReport {
            begins: true,
            ..segment(6, 0)
        };
        uut.pulse(|uut| &mut uut.report_valid);
        let event = event_after(&mut uut, &mut world, 100);
        assert!(event.is_none() || was_read, "delay {delay}");
        let count = world.events.len();
        uut.first_fpdu.next = 6u64.into();
        uut.pulse(|uut| &mut uut.first_fpdu_valid);
        event_after(&mut uut, &mut world, 100).expect("its own event");
        assert_eq!(world.events[count][0] & 0x1ff, abi::FIRST_FPDU);
    }
}

/// Nothing that is pending, no entry and no number survives a reset.
#[test]
fn a_reset_empties_ids_and_ring() {
    let mut uut = opened::<128, 4>(BASE, 1);
    let mut world = World::default();
    for connection in 0..20 {
        uut.report.next = segment(connection, abi::ACK);
        uut.pulse(|uut| &mut uut.report_valid);
        event_after(&mut uut, &mut world, 20);
    }
    uut.reset.next = true;
    uut.ticks(1030);
    uut.reset.next = false;
    let mut world = World::default();
    assert_eq!(uut.event_producer.val(), 0u64);
    assert_eq!(event_after(&mut uut, &mut world, 200), None);
    uut.report.next = segment(19, abi::FIN);
    uut.pulse(|uut| &mut uut.report_valid);
    assert!(event_after(&mut uut, &mut world, 100).is_some());
    assert_eq!(world.events[0][0] & 0x1ff, abi::FIN);
}

#[test]
fn rust_and_verilog_agree() {
    fn check<const D: usize, const L: usize>(label: &str) {
        let mut cycle = 0;
        lockstep!(label, EventRoom::<D, L>::default(), 9_000, |uut, random| {
            uut.reset.next = cycle < 1030 || (4_000..5_030).contains(&cycle);
            uut.device_id.next = 0x1234u64.into();
            uut.event_base.next = (BASE - 0x4000).into();
            uut.event_entries_log2.next = 3u64.into();
            uut.event_delay_log2.next = if cycle % 2_000 < 1_000 { 0 } else { 12u64 }.into();
            uut.report_valid.next = cycle % 5 == 0 && random.chance(1, 2);
            uut.report.next = ConnectionReport {
                connection: random.below(9).into(),
                reasons: (random.below(256) & random.below(256)).into(),
                changes: random.chance(1, 3),
                left: random.wide(),
                right: random.wide(),
                begins: random.chance(1, 20),
                acknowledges: random.chance(1, 2),
                seg_ack: random.wide(),
                seg_wnd: random.wide(),
            };
            uut.first_fpdu_valid.next = cycle % 6 == 0 && random.chance(1, 10);
            uut.first_fpdu.next = random.below(9).into();
            uut.read_taken.next = uut.read.val() && random.chance(1, 2);
            uut.reported_valid.next = random.chance(1, 3);
            uut.reported.next = ReportedContext {
                rcv_nxt: random.wide(),
                seg_ack: random.wide(),
                ranges: random.below(17).into(),
                fin: random.chance(1, 2),
                fin_sequence: random.wide(),
                ..ReportedContext::default()
            };
            uut.tlp_ready.next = random.chance(3, 4);
            if random.chance(1, 20) || uut.reset.next {
                uut.event_consumer.next = uut.event_producer.val();
            }
            cycle += 1;
        });
    }
    check::<128, 4>("event_room_128");
    check::<512, 16>("event_room_512");
}
