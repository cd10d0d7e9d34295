//! Splitter and shaper against plain arithmetic: every address in a line with every length.
use super::super::tlp::{Shaper, TlpPlan};
use super::super::writer::Splitter;
use crate::messages::{PlaceCommand, PlaceKind};
use rnic_hdl_tools::testkit::{simulate, words_of, Simulation};

/// The two blocks, joined by hand: a segment enters the shaper at the same edge.
struct Pair<const D: usize> {
    splitter: Simulation<Splitter<D>>,
    shaper: Simulation<Shaper<D>>,
}

impl<const D: usize> Pair<D> {
    fn new(max_payload: u64) -> Self {
        let mut splitter = simulate!(Splitter::<D>::default());
        let shaper = simulate!(Shaper::<D>::default());
        splitter.max_payload.next = max_payload.into();
        splitter.segment_room.next = true;
        splitter.completion_ready.next = true;
        splitter.settle();
        Self { splitter, shaper }
    }

    /// Every plan and header of one command.
    fn plans(&mut self, command: PlaceCommand) -> Vec<(TlpPlan, [u32; 4])> {
        let mut plans = Vec::new();
        let mut offered = true;
        self.splitter.command.next = command;
        for _ in 0..20 {
            self.splitter.command_valid.next = offered;
            self.splitter.settle();
            let taken = self.splitter.command_take.val();
            offered &= !taken;
            self.shaper.segment.next = self.splitter.segment.val();
            self.shaper.segment_valid.next = self.splitter.segment_valid.val();
            self.splitter.tick();
            self.shaper.tick();
            if taken {
                // Fields of the next command, which must have no effect.
                self.splitter.command.next = inverse(command);
            }
            if self.shaper.plan_valid.val() {
                let header = self.shaper.header.val();
                let header = words_of(header);
                plans.push((self.shaper.plan.val(), header));
                if self.shaper.plan.val().closes {
                    return plans;
                }
            }
        }
        panic!("no end: {plans:x?}");
    }
}

/// A command that differs in every field that a plan is made from.
fn inverse(command: PlaceCommand) -> PlaceCommand {
    PlaceCommand {
        beats: !command.beats,
        skip_words: !command.skip_words,
        address: !command.address,
        octets: !command.octets,
        cqe: !command.cqe,
        ..command
    }
}

/// Checks the plans of one write of `octets` octets to `address`.
fn check(
    plans: &[(TlpPlan, [u32; 4])],
    beat_octets: i64,
    line_octets: u64,
    address: u64,
    octets: u64,
    skip_octets: u64,
    beats: i64,
) {
    let context = format!("{octets} octets to {address:#x}, lines of {line_octets}");
    let (mut at, end) = (address, address + octets);
    let mut taken = 0;
    for (number, (plan, header)) in plans.iter().enumerate() {
        // The TLP: from `at` to the end of its line or of the payload.
        let stop = end.min((at / line_octets + 1) * line_octets);
        let first_dword = at & !3;
        let dwords = (stop - first_dword).div_ceil(4);
        let enabled = |dword: u64| {
            (0..4)
                .filter(|i| (at..stop).contains(&(dword + i)))
                .map(|i| 1 << i)
                .sum::<u32>()
        };
        let last_be = if dwords == 1 {
            0
        } else {
            enabled(first_dword + 4 * (dwords - 1))
        };
        let long = first_dword >> 32 != 0;
        let (high, low) = ((first_dword >> 32) as u32, first_dword as u32);
        let expected = [
            if long { 0x6000_0000 } else { 0x4000_0000 } | dwords as u32,
            last_be << 4 | enabled(first_dword),
            if long { high } else { low },
            if long { low } else { 0 },
        ];
        assert_eq!(
            *header, expected,
            "TLP {number}: {header:x?} {expected:x?}, {context}"
        );
        // The beats: each window begins at the input octet that lane 0 needs.
        taken += plan.primes.to_u32() as i64;
        let beats_out = plan.more_beats.to_u32() as i64 + 1;
        let last_octet = (stop - 1 - first_dword) as i64;
        assert_eq!(
            beats_out,
            last_octet / beat_octets + 1,
            "TLP {number}, {context}"
        );
        let lane = plan.last_lane.to_u32() as i64;
        assert_eq!(
            lane,
            last_octet % beat_octets / 4,
            "TLP {number}, {context}"
        );
        for beat in 0..beats_out {
            let window = (taken - 1) * beat_octets + plan.rotation.to_u32() as i64 + 1;
            let wanted = skip_octets as i64 + first_dword as i64 - address as i64;
            assert_eq!(
                window,
                wanted + beat * beat_octets,
                "TLP {number} {beat}, {context}"
            );
            let last = beat == beats_out - 1;
            let reach = window
                + if last {
                    last_octet % beat_octets
                } else {
                    beat_octets - 1
                };
            let needs = !last || plan.last_needs_next;
            assert_eq!(
                needs,
                reach >= taken * beat_octets,
                "TLP {number} {beat}, {context}"
            );
            taken += i64::from(needs);
        }
        at = stop;
        assert_eq!(plan.closes, number == plans.len() - 1, "{context}");
    }
    assert_eq!(at, end, "{context}");
    assert_eq!(taken + plans[0].0.drain.to_u32() as i64, beats, "{context}");
}

/// Every address in a line with every length up to 300, thinned out to one in `thin`.
fn exhaust<const D: usize>(thin: u64) {
    let beat_octets = D as u64 / 8;
    for max_payload in 0..3 {
        let mut pair = Pair::<D>::new(max_payload);
        for place in 0..128u64 {
            for octets in 1..=300u64 {
                if (place * 300 + octets) % (3 * thin) != max_payload {
                    continue;
                }
                let base = [0x7000, 0xffff_ff80, 0x12_3456_7f80, 0x180][octets as usize % 4];
                let address = base + place;
                let skip_words = 4 + place.count_ones() as u64 % 2;
                let spare = octets % 3;
                let beats = (4 * skip_words + octets).div_ceil(beat_octets) + spare;
                let plans = pair.plans(PlaceCommand {
                    kind: PlaceKind::Write,
                    beats: beats.into(),
                    skip_words: skip_words.into(),
                    address: address.into(),
                    octets: octets.into(),
                    ..PlaceCommand::default()
                });
                let line_octets = 128 << max_payload;
                let skip_octets = 4 * skip_words;
                check(
                    &plans,
                    beat_octets as i64,
                    line_octets,
                    address,
                    octets,
                    skip_octets,
                    beats as i64,
                );
            }
        }
    }
}

#[test]
fn every_address_in_a_line_with_every_length_is_planned_right_128() {
    let is_thin = rnic_effort::is_left_out("two of three addresses and lengths");
    exhaust::<128>(if is_thin { 3 } else { 1 });
}

#[test]
fn addresses_in_a_line_with_lengths_are_planned_right_512() {
    exhaust::<512>(5);
}
