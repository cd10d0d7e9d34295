//! The block in lockstep with its Verilog, and against a map of what was reported and not taken.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};
use std::collections::{BTreeMap, VecDeque};

const IN_ORDER: u32 = event_ring::IN_ORDER;

/// What is known of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    reasons: u32,
    range: Option<(u32, u32)>,
    /// The highest SEG.ACK since the event before, and its SEG.WND.
    highest: Option<(u32, u16)>,
}

impl Known {
    fn acknowledge(&mut self, ack: u32, wnd: u16) {
        if self
            .highest
            .is_none_or(|(highest, _)| ack.wrapping_sub(highest) as i32 >= 0)
        {
            self.highest = Some((ack, wnd));
        }
    }
}

/// What went in and is not yet in the entries, and what must come out.
#[derive(Default)]
struct Model {
    known: BTreeMap<u64, Known>,
    /// Connections that were pushed and not taken, in the order of `push`.
    ids: VecDeque<u64>,
    /// Cycle since which something of a connection has to become pending.
    overdue: BTreeMap<u64, usize>,
    /// Taken, and due in that cycle.
    taking: Option<(Known, usize)>,
    events: usize,
    joined: usize,
    dropped: usize,
    delayed: usize,
    /// Events that report another SEG.ACK than the last one that joined.
    overtaken: usize,
    last_ack: BTreeMap<u64, u32>,
    cycle: usize,
    last_report: usize,
    last_fpdu: usize,
}

/// Cycles from a report to its push: its own 5, and those of an FPDU before it and of a take.
const PUSH_CYCLES: usize = 9;

impl Model {
    fn outputs(&mut self, uut: &PendingEvents, at_once: bool) {
        if uut.push.val() {
            let connection = uut.push_connection.val().to_u64();
            assert!(
                !self.ids.contains(&connection),
                "{connection} is pending twice"
            );
            let known = self.known.get(&connection).copied().unwrap_or_default();
            self.delayed += usize::from(known.reasons == IN_ORDER && !at_once);
            self.ids.push_back(connection);
            self.overdue.remove(&connection);
        }
        for (connection, since) in &self.overdue {
            assert!(
                self.ids.contains(connection) || self.cycle - since <= PUSH_CYCLES,
                "{connection}: an event is lost"
            );
        }
        let ids = &self.ids;
        self.overdue
            .retain(|connection, _| !ids.contains(connection));
        let due = self.taking.take_if(|(_, cycle)| *cycle == self.cycle);
        assert_eq!(
            uut.taken_valid.val(),
            due.is_some(),
            "3 cycles after taking"
        );
        let Some((known, _)) = due else { return };
        let taken = uut.taken.val();
        let (left, octets) = (taken.left.to_u32(), taken.octets.to_u32());
        let range = (octets > 0).then_some((left, left.wrapping_add(octets)));
        let pair = (taken.seg_ack.to_u32(), taken.seg_wnd.to_u32() as u16);
        let highest = taken.acknowledges.then_some(pair);
        assert_eq!(
            (taken.reasons.to_u32(), range, highest),
            (known.reasons, known.range, known.highest)
        );
        self.events += 1;
        self.dropped += usize::from(known.reasons == 0);
        self.joined += usize::from(known.reasons.count_ones() > 1);
    }

    fn report(&mut self, report: &ConnectionReport, at_once: bool) {
        let connection = report.connection.to_u64();
        let known = self.known.entry(connection).or_default();
        if report.begins {
            *known = Known::default();
            self.overdue.remove(&connection);
            return;
        }
        let reasons = report.reasons.to_u32();
        let second = reasons & known.reasons & IN_ORDER != 0;
        known.reasons |= reasons;
        if report.changes {
            known.range = Some((report.left.to_u32(), report.right.to_u32()));
        }
        if report.acknowledges {
            let ack = report.seg_ack.to_u32();
            known.acknowledge(ack, report.seg_wnd.to_u32() as u16);
            self.last_ack.insert(connection, ack);
        }
        if reasons & !IN_ORDER != 0 || (reasons & IN_ORDER != 0 && (at_once || second)) {
            self.overdue.entry(connection).or_insert(self.cycle);
        }
    }
}

fn random_report(random: &mut Random, connections: u64) -> ConnectionReport {
    let begins = random.chance(1, 30);
    let reasons = match random.below(4) {
        _ if begins => 0,
        0 | 1 => u64::from(IN_ORDER),
        2 => 1 << random.below(8),
        _ => 1 + random.below(255),
    };
    let left: Bits<32> = random.wide();
    ConnectionReport {
        connection: (random.below(connections) * 37 % 1024).into(),
        reasons: reasons.into(),
        changes: !begins && random.chance(1, 4),
        left,
        right: left + (1 + random.below(100_000)),
        begins,
        acknowledges: !begins && random.chance(2, 3),
        // Some that differ by little, some by up to half of sequence space and more.
        seg_ack: match random.chance(3, 4) {
            true => (0xffff_fffcu64 + random.below(8)) & 0xffff_ffff,
            false => random.below(4) << 30,
        }
        .into(),
        seg_wnd: random.below(1 << 16).into(),
    }
}

/// One cycle: reports no closer than acceptance and the checks give them, takes in the order of the
/// ids. What goes in counts from the cycle in which its operation begins, so that takes and reports
/// have one order.
fn drive(uut: &mut PendingEvents, model: &mut Model, connections: u64, random: &mut Random) {
    let at_once = !uut.delay_log2.next.any();
    model.outputs(uut, at_once);
    let gap = |random: &mut Random| 5 + [0, 0, 1, 30][random.below(4) as usize] as usize;
    uut.report_valid.next = false;
    uut.first_fpdu_valid.next = false;
    if model.cycle >= model.last_report + gap(random) && random.chance(3, 4) {
        model.last_report = model.cycle;
        uut.report.next = random_report(random, connections);
        uut.report_valid.next = true;
    }
    if model.cycle >= model.last_fpdu + 1 + gap(random) && random.chance(1, 2) {
        model.last_fpdu = model.cycle;
        uut.first_fpdu.next = (random.below(connections) * 37 % 1024).into();
        uut.first_fpdu_valid.next = true;
    }
    uut.take.next = model.taking.is_none() && !model.ids.is_empty() && random.chance(1, 3);
    uut.take_connection.next = model.ids.front().copied().unwrap_or(0).into();
    rnic_hdl_tools::testkit::settle(uut);
    operate(uut, model, at_once);
    model.cycle += 1;
}

/// The operation that begins in this cycle.
fn operate(uut: &PendingEvents, model: &mut Model, at_once: bool) {
    let begins = !uut.is_address.q.val();
    if begins && uut.has_fpdu.q.val() {
        let connection = uut.held_fpdu.q.val().to_u64();
        let known = model.known.entry(connection).or_default();
        known.reasons |= event_ring::FIRST_FPDU;
        model.overdue.entry(connection).or_insert(model.cycle);
    } else if begins && uut.has_report.q.val() {
        model.report(&uut.held_report.q.val(), at_once);
    }
    if uut.taking.val() {
        let connection = model.ids.pop_front().expect("an id is offered");
        assert!(model.taking.is_none(), "one take at a time");
        let known = model.known.entry(connection).or_default();
        model.taking = Some((*known, model.cycle + 3));
        let last = model.last_ack.get(&connection).copied();
        let highest = known.highest.map(|(ack, _)| ack);
        model.overtaken += usize::from(highest.is_some() && highest != last);
        (known.reasons, known.highest) = (0, None);
    }
}

/// A few connections, so that operations meet; and many.
#[test]
fn an_event_is_pending_once_and_has_all_reasons() {
    for (connections, delay) in [(2, 0), (3, 12), (1024, 0)] {
        let mut model = Model::default();
        let mut cycles = 0;
        let uut = PendingEvents::default();
        lockstep!("pending_events", uut, 12_000, |uut, random| {
            // In reset every entry is written.
            uut.reset.next = cycles < 1030;
            uut.delay_log2.next = (delay as u64).into();
            cycles += 1;
            if !uut.reset.next {
                drive(uut, &mut model, connections, random);
            }
        });
        assert!(model.events > 500, "{}", model.events);
        assert!(model.joined > 50 || connections > 3, "{}", model.joined);
        assert!(model.dropped > 5 || connections > 3, "{}", model.dropped);
        let overtaken = model.overtaken;
        assert!(overtaken > 50 || connections > 3, "{overtaken}");
    }
}

fn connected(delay_log2: u64) -> Simulation<PendingEvents> {
    let mut uut = simulate!(PendingEvents::default());
    uut.delay_log2.next = delay_log2.into();
    uut.reset.next = true;
    uut.ticks(1030);
    uut.reset.next = false;
    uut.ticks(10);
    uut
}

fn report(uut: &mut Simulation<PendingEvents>, connection: u64, reasons: u32) {
    uut.report.next = ConnectionReport {
        connection: connection.into(),
        reasons: u64::from(reasons).into(),
        ..ConnectionReport::default()
    };
    uut.pulse(|uut| &mut uut.report_valid);
}

/// Cycles until an event is pending, and of which connection.
fn pushed(uut: &mut Simulation<PendingEvents>, limit: u64) -> Option<(u64, u64)> {
    for cycles in 1..=limit {
        if uut.push.val() {
            return Some((cycles, uut.push_connection.val().to_u64()));
        }
        uut.tick();
    }
    None
}

#[test]
fn the_second_segment_in_order_raises_an_event_and_a_lone_one_does_later() {
    const PERIOD: u64 = 1 << 12;
    let mut uut = connected(12);
    report(&mut uut, 5, IN_ORDER);
    uut.ticks(20);
    assert!(!uut.push.val());
    report(&mut uut, 5, IN_ORDER);
    assert_eq!(pushed(&mut uut, 10), Some((5, 5)));
    report(&mut uut, 1023, IN_ORDER);
    let (cycles, connection) = pushed(&mut uut, PERIOD + 20).expect("the scan finds it");
    assert_eq!(connection, 1023);
    assert!(cycles > 10, "{cycles}");
    uut.tick();
    assert_eq!(
        pushed(&mut uut, 2 * PERIOD),
        None,
        "nothing else is pending"
    );
    // Without a delay each of them does.
    let mut uut = connected(0);
    report(&mut uut, 7, IN_ORDER);
    assert_eq!(pushed(&mut uut, 10), Some((5, 7)));
}

fn acknowledgement(ack: u32, wnd: u16) -> ConnectionReport {
    ConnectionReport {
        connection: 7u64.into(),
        reasons: u64::from(event_ring::ACK).into(),
        acknowledges: true,
        seg_ack: u64::from(ack).into(),
        seg_wnd: u64::from(wnd).into(),
        ..ConnectionReport::default()
    }
}

/// RFC 9293 section 3.4: the highest SEG.ACK of those that joined, by the sign of the difference,
/// with its window; of equal ones the last window. What an event has said does not count any more,
/// and half of sequence space is before it.
#[test]
fn the_highest_acknowledgement_since_the_last_event_is_taken() {
    type Pair = (u32, u16);
    let rows: [(&[Pair], Pair); 8] = [
        (&[(0x3000, 1), (0x2000, 2)], (0x3000, 1)),
        (&[(0x2000, 2), (0x3000, 1)], (0x3000, 1)),
        (&[(0x3000, 1), (0x3000, 9), (0x2fff, 4)], (0x3000, 9)),
        (&[(u32::MAX, 1), (0, 2), (u32::MAX - 1, 3)], (0, 2)),
        (&[(0x4000_1000, 1), (0x1000, 2)], (0x4000_1000, 1)),
        (&[(0x1100, 5)], (0x1100, 5)),
        (&[(0, 1), (0x7fff_ffff, 2)], (0x7fff_ffff, 2)),
        (&[(0, 1), (0x8000_0000, 2)], (0, 1)),
    ];
    let mut uut = connected(0);
    for (number, (reports, expected)) in rows.into_iter().enumerate() {
        for &(ack, wnd) in reports {
            uut.report.next = acknowledgement(ack, wnd);
            uut.pulse(|uut| &mut uut.report_valid);
            uut.ticks(4);
        }
        uut.ticks(10);
        uut.take_connection.next = 7u64.into();
        uut.pulse(|uut| &mut uut.take);
        uut.ticks(2);
        assert!(uut.taken_valid.val());
        let taken = uut.taken.val();
        let found = (taken.seg_ack.to_u32(), taken.seg_wnd.to_u32() as u16);
        assert!(taken.acknowledges);
        assert_eq!(found, expected, "row {number}");
        uut.ticks(5);
    }
    // Of a first FPDU alone there is none; nor of a new connection.
    uut.report.next = acknowledgement(0x7000_0000, 1);
    uut.pulse(|uut| &mut uut.report_valid);
    uut.ticks(4);
    uut.report.next = ConnectionReport {
        connection: 7u64.into(),
        begins: true,
        ..ConnectionReport::default()
    };
    uut.pulse(|uut| &mut uut.report_valid);
    uut.ticks(4);
    uut.first_fpdu.next = 7u64.into();
    uut.pulse(|uut| &mut uut.first_fpdu_valid);
    uut.ticks(10);
    uut.pulse(|uut| &mut uut.take);
    uut.ticks(2);
    assert!(uut.taken_valid.val() && !uut.taken.val().acknowledges);
    assert_eq!(uut.taken.val().reasons, u64::from(event_ring::FIRST_FPDU));
}

#[test]
fn sources_in_the_same_cycle_both_raise_their_events() {
    let mut uut = connected(0);
    uut.first_fpdu.next = 9u64.into();
    uut.first_fpdu_valid.next = true;
    report(&mut uut, 8, event_ring::PUSH);
    uut.first_fpdu_valid.next = false;
    assert_eq!(pushed(&mut uut, 10), Some((5, 9)));
    uut.tick();
    assert_eq!(pushed(&mut uut, 10), Some((2, 8)));
}

/// A reset forgets what was pending, reasons and ranges.
#[test]
fn a_reset_leaves_no_entry() {
    let mut uut = connected(0);
    for connection in 0..8 {
        report(&mut uut, connection * 100, event_ring::ACK);
        uut.ticks(5);
    }
    uut.reset.next = true;
    uut.ticks(1030);
    uut.reset.next = false;
    assert_eq!(pushed(&mut uut, 50), None);
    report(&mut uut, 300, event_ring::FIN);
    assert!(pushed(&mut uut, 10).is_some(), "it is not pending any more");
    uut.take_connection.next = 300u64.into();
    uut.pulse(|uut| &mut uut.take);
    uut.ticks(2);
    assert!(uut.taken_valid.val());
    assert_eq!(uut.taken.val().reasons, u64::from(event_ring::FIN));
    assert_eq!(uut.taken.val().octets, 0u64);
}
