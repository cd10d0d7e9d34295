//! The adapter between a device and a block that behaves as its guide says: credits that are two
//! cycles old, sequence numbers that return late, beats that wait.
use super::super::AmdAdapter;
use super::descriptors::{self, Packet};
use super::packets::{packed, payload_words};
use pcie_sim::{Kind, Tlp};
use rnic_hdl_tools::testkit::{bits_of_words, settle, simulate, words_of, Random, Simulation};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// Cycles until a credit that was used is no longer reported.
const CREDIT_DELAY: usize = 2;
pub const LIMIT: u64 = 30_000;

/// Beats of `lanes` lanes: words and whether the last.
fn beats(words: &[u32], lanes: usize) -> VecDeque<(Vec<u32>, bool)> {
    let count = words.len().div_ceil(lanes).max(1);
    let beat = |at: usize| {
        let end = words.len().min((at + 1) * lanes);
        (words[at * lanes..end].to_vec(), at + 1 == count)
    };
    (0..count).map(beat).collect()
}

/// A header or what stands beside a packet, and its beats.
type Offered = ([u32; 4], VecDeque<(Vec<u32>, bool)>);

/// Packets that are offered beat by beat, each beat held until it is taken.
#[derive(Debug, Default)]
pub struct Offer {
    packets: VecDeque<Offered>,
    on_offer: bool,
    /// The first packet's first beat was taken.
    begun: bool,
}

impl Offer {
    fn of(packets: impl Iterator<Item = Offered>) -> Self {
        Self {
            packets: packets.collect(),
            ..Self::default()
        }
    }

    /// The beat on offer, if there is one: header, words, whether the last.
    fn beat(&mut self, goes: bool) -> Option<([u32; 4], Vec<u32>, bool)> {
        self.on_offer |= goes;
        let (header, beats) = self.packets.front()?;
        let (words, last) = beats.front().expect("a packet has a beat");
        self.on_offer.then(|| (*header, words.clone(), *last))
    }

    /// Ends a cycle in which the beat was taken.
    pub fn advance(&mut self) {
        self.on_offer = false;
        let (_, beats) = self.packets.front_mut().expect("a beat was taken");
        beats.pop_front();
        self.begun = !beats.is_empty();
        if beats.is_empty() {
            self.packets.pop_front();
        }
    }
}

/// Packets that arrive beat by beat; a beat may not change until it is taken.
#[derive(Debug, Default)]
pub struct Arrival {
    pub packets: Vec<Packet>,
    open: Option<Packet>,
    held: Option<String>,
}

impl Arrival {
    /// A beat that is offered, with what stood beside it; whether it ended a packet.
    fn see(&mut self, words: Vec<u32>, beside: Packet, last: bool, taken: bool) -> bool {
        let offered = format!("{words:x?} {beside:x?} {last}");
        if let Some(held) = self.held.take() {
            assert_eq!(held, offered, "a beat changed before it was taken");
        }
        if !taken {
            self.held = Some(offered);
            return false;
        }
        let open = self.open.get_or_insert(beside);
        open.words.extend(words);
        if last {
            self.packets.extend(self.open.take());
        }
        last
    }
}

/// How the block and the device behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Of 8 cycles, those in which something is offered or taken.
    pub offers: u64,
    pub takes: u64,
    pub credits: usize,
    /// Cycles until a sequence number returns, at most.
    pub number_delay: u64,
}

/// `count` bits of `value` from `low` on.
fn field<const N: usize>(value: Bits<N>, low: usize, count: usize) -> u64 {
    let bits = low..low + count;
    bits.fold(0, |sum, bit| {
        sum | u64::from(value.get_bit(bit)) << (bit - low)
    })
}

/// The kept words of a beat: from lane 0 on, and all of them but in a last beat.
fn kept<const L: usize>(data: [u32; L], keep: Bits<L>, last: bool) -> Vec<u32> {
    let keep = field(keep, 0, L);
    let count = keep.trailing_ones() as usize;
    assert_eq!(keep, (1 << count) - 1, "lanes without a gap");
    assert!(last || count == L, "{count} lanes in mid-packet");
    data[..count].to_vec()
}

/// What the block does with what it takes.
#[derive(Debug)]
pub struct AmdBlock {
    pub rq: Arrival,
    cc: Arrival,
    /// When sequence numbers return.
    returns: VecDeque<(u64, u8)>,
    /// Writes whose numbers have returned.
    passed: usize,
    credits: usize,
    /// Credits used in the last cycles, which are still reported.
    recent: VecDeque<usize>,
}

/// The adapter between a device and the block.
pub struct Bench<
    const D: usize,
    const L: usize,
    const E: usize,
    const M: usize,
    const RQ: usize,
    const CC: usize,
    const CQ: usize,
    const RC: usize,
> {
    habits: Habits,
    pub device: Offer,
    reader: Offer,
    pub block: AmdBlock,
    /// Writes before each completion.
    before: Vec<usize>,
    cycle: u64,
}

fn is_write(tlp: &&Tlp) -> bool {
    matches!(tlp.header.kind, Kind::MWr(_))
}

impl<
        const D: usize,
        const L: usize,
        const E: usize,
        const M: usize,
        const RQ: usize,
        const CC: usize,
        const CQ: usize,
        const RC: usize,
    > Bench<D, L, E, M, RQ, CC, CQ, RC>
{
    pub fn adapter() -> Simulation<AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>> {
        let mut uut = simulate!(AmdAdapter::default());
        uut.settle();
        uut.pulse(|uut| &mut uut.reset);
        uut
    }

    pub fn new(tlps: &[Tlp], reads: &[Tlp], habits: Habits) -> Self {
        let offer = |tlp: &Tlp| (packed(&tlp.header), beats(&payload_words(tlp), L));
        let completions = tlps.iter().enumerate().filter(|(_, tlp)| !is_write(tlp));
        Self {
            habits,
            device: Offer::of(tlps.iter().map(offer)),
            reader: Offer::of(reads.iter().map(offer)),
            block: AmdBlock {
                rq: Arrival::default(),
                cc: Arrival::default(),
                returns: VecDeque::new(),
                passed: 0,
                credits: habits.credits,
                recent: vec![0; CREDIT_DELAY].into(),
            },
            before: completions
                .map(|(at, _)| tlps[..at].iter().filter(is_write).count())
                .collect(),
            cycle: 0,
        }
    }

    /// A cycle's inputs.
    pub fn drive(&mut self, uut: &mut AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>, random: &mut Random) {
        let Habits { offers, takes, .. } = self.habits;
        let offered = self.device.beat(random.chance(offers, 8));
        uut.tlp_valid.next = offered.is_some();
        if let Some((header, words, last)) = offered {
            uut.tlp_header.next = bits_of_words(&header);
            uut.tlp_keep.next = ((1u64 << words.len()) - 1).into();
            uut.tlp_data.next = bits_of_words(&words);
            uut.tlp_last.next = last;
        }
        let asked = self.reader.beat(random.chance(offers, 8));
        uut.read_request_valid.next = asked.is_some();
        if let Some((header, ..)) = asked {
            uut.read_request_header.next = bits_of_words(&header);
        }
        uut.s_axis_rq_tready.next = random.chance(takes, 8);
        uut.s_axis_cc_tready.next = random.chance(takes, 8);
        let reported = self.block.credits + self.block.recent.iter().sum::<usize>();
        uut.pcie_tfc_nph_av.next = (reported.min(15) as u64).into();
    }

    /// The sequence numbers that return in this cycle.
    fn returns(&mut self, uut: &mut AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>) {
        let (cycle, returns) = (self.cycle, &mut self.block.returns);
        let mut next = || {
            let is_due = returns.front().is_some_and(|&(when, _)| when <= cycle);
            is_due.then(|| returns.pop_front().expect("one is due").1)
        };
        let (first, second) = (next(), next());
        uut.pcie_rq_seq_num_vld0.next = first.is_some();
        uut.pcie_rq_seq_num_vld1.next = second.is_some();
        uut.pcie_rq_seq_num0.next = u64::from(first.unwrap_or(1)).into();
        uut.pcie_rq_seq_num1.next = u64::from(second.unwrap_or(1)).into();
        self.block.passed += [first, second].iter().filter(|it| **it == Some(1)).count();
    }

    /// Beats on RQ; credits and numbers of requests that have left.
    pub fn see_rq(&mut self, uut: &AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>, random: &mut Random) {
        let mut spent = 0;
        let block = &mut self.block;
        if uut.s_axis_rq_tvalid.val() {
            let last = uut.s_axis_rq_tlast.val();
            let keep = uut.s_axis_rq_tkeep.val();
            let words = kept::<L>(words_of(uut.s_axis_rq_tdata.val()), keep, last);
            let user = uut.s_axis_rq_tuser.val();
            let (first, is_wide) = (block.rq.open.is_none(), D == 512);
            let (last_be, number) = if is_wide { (8, 61) } else { (4, 24) };
            let beside = Packet {
                words: Vec::new(),
                enables: (field(user, 0, 4) | field(user, last_be, 4) << 4) as u8,
                number: field(user, number, 4) as u8,
            };
            if is_wide {
                let end = if last { words.len() as u64 - 1 } else { 0 };
                assert_eq!(field(user, 20, 6), u64::from(first), "begin");
                assert_eq!(field(user, 26, 10), u64::from(last) | end << 2, "end");
            }
            if block
                .rq
                .see(words, beside, last, uut.s_axis_rq_tready.val())
            {
                let packet = block.rq.packets.last().expect("it has ended");
                if packet.words[2] >> 11 & 15 == 0 {
                    assert!(block.credits > 0, "a read without credit");
                    block.credits -= 1;
                    spent = 1;
                }
                let when = self.cycle + 1 + random.below(self.habits.number_delay);
                let when = block.returns.back().map_or(when, |last| when.max(last.0));
                block.returns.push_back((when, packet.number));
            }
        } else {
            assert_eq!(block.rq.held, None, "a beat was withdrawn");
        }
        block.recent.pop_front();
        block.recent.push_back(spent);
        if random.chance(1, 8) {
            block.credits = (block.credits + 1).min(self.habits.credits);
        }
    }

    /// Beats on CC, none of which passes a write.
    fn see_cc(&mut self, uut: &AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>, passed: usize) {
        let block = &mut self.block;
        if !uut.s_axis_cc_tvalid.val() {
            assert_eq!(block.cc.held, None, "a beat was withdrawn");
            return;
        }
        let last = uut.s_axis_cc_tlast.val();
        let keep = uut.s_axis_cc_tkeep.val();
        let words = kept::<L>(words_of(uut.s_axis_cc_tdata.val()), keep, last);
        let first = block.cc.open.is_none();
        if first {
            let due = self.before[block.cc.packets.len()];
            assert!(passed >= due, "{passed} of {due} writes are passed");
        }
        let user = uut.s_axis_cc_tuser.val();
        if D == 512 {
            let end = if last { words.len() as u64 - 1 } else { 0 };
            let places = u64::from(first) | u64::from(last) << 6 | end << 8;
            assert_eq!(field(user, 0, 33), places, "begin and end");
        } else {
            assert_eq!(field(user, 0, 33), 0, "neither discontinued nor parity");
        }
        let taken = uut.s_axis_cc_tready.val();
        block.cc.see(words, Packet::default(), last, taken);
    }

    /// Sends what a device sends: packets on `tlp`, reads beside them; the number of reads that
    /// have left when all packets have.
    pub fn sends(tlps: &[Tlp], reads: &[Tlp], habits: Habits) -> usize {
        let mut bench = Self::new(tlps, reads, habits);
        let reads_due = if habits.credits > 0 { reads.len() } else { 0 };
        let due = tlps.len() + reads_due;
        Self::adapter().run_until(LIMIT, |uut, random| {
            bench.cycle += 1;
            let passed = bench.block.passed;
            bench.drive(uut, random);
            bench.returns(uut);
            settle(uut);
            bench.see_rq(uut, random);
            bench.see_cc(uut, passed);
            if uut.tlp_valid.val() && uut.tlp_ready.val() {
                bench.device.advance();
            }
            if uut.read_request_valid.val() && uut.read_request_ready.val() {
                bench.reader.advance();
            }
            let arrived = bench.block.rq.packets.len() + bench.block.cc.packets.len();
            (arrived < due).then_some((arrived, due))
        });
        let AmdBlock { rq, cc, .. } = bench.block;
        let (written, read): (Vec<_>, Vec<_>) = rq
            .packets
            .into_iter()
            .partition(|packet| packet.number == 1);
        let writes = tlps.iter().filter(is_write);
        let writes: Vec<_> = writes.map(|tlp| descriptors::request(tlp, 1)).collect();
        assert_eq!(written, writes);
        let asked = reads.iter().map(|tlp| descriptors::request(tlp, 0));
        let asked: Vec<_> = asked.take(read.len()).collect();
        assert_eq!(read, asked);
        let answers = tlps.iter().filter(|tlp| !is_write(tlp));
        let answers: Vec<_> = answers.map(descriptors::answer).collect();
        assert_eq!(cc.packets, answers);
        read.len()
    }

    /// Sends `packets` of the block on CQ; what the device gets.
    pub fn asks(packets: &[Packet], habits: Habits) -> Vec<([u32; 4], Vec<u32>)> {
        let mut block = Offer::of(packets.iter().map(|packet| {
            let enables = u32::from(packet.enables);
            ([enables, 0, 0, 0], beats(&packet.words, L))
        }));
        let (mut open, mut requests) = (Vec::new(), Vec::new());
        Self::adapter().run_until(LIMIT, |uut, random| {
            let offered = block.beat(random.chance(habits.offers, 8));
            uut.m_axis_cq_tvalid.next = offered.is_some();
            uut.m_axis_cq_tuser.next = 0.into();
            if let Some(([enables, ..], words, last)) = offered {
                uut.m_axis_cq_tkeep.next = ((1u64 << words.len()) - 1).into();
                uut.m_axis_cq_tdata.next = bits_of_words(&words);
                uut.m_axis_cq_tlast.next = last;
                // Other fields stand beside later beats.
                let (first, last_be) = (enables & 15, enables >> 4);
                let beside = if D == 512 {
                    first | last_be << 8
                } else {
                    enables
                };
                uut.m_axis_cq_tuser.next = u64::from(beside).into();
                if block.begun {
                    uut.m_axis_cq_tuser.next = (!u64::from(beside) & 0xff).into();
                }
            }
            uut.request_ready.next = random.chance(habits.takes, 8);
            settle(uut);
            if uut.request_valid.val() && uut.request_ready.val() {
                open.extend(words_of::<D, L>(uut.request_data.val()));
                if uut.request_last.val() {
                    requests.push((
                        words_of(uut.request_header.val()),
                        std::mem::take(&mut open),
                    ));
                }
            }
            if uut.m_axis_cq_tvalid.val() && uut.m_axis_cq_tready.val() {
                block.advance();
            }
            (requests.len() < packets.len()).then_some(requests.len())
        });
        requests
    }

    /// Sends `packets` of the block on RC until `due` completions have arrived.
    pub fn answers(packets: &[Packet], due: usize, offers: u64) -> Vec<([u32; 4], Vec<u32>)> {
        let mut block = Offer::of(packets.iter().map(|it| ([0; 4], beats(&it.words, L))));
        let (mut open, mut completions) = (Vec::new(), Vec::new());
        Self::adapter().run_until(LIMIT, |uut, random| {
            let offered = block.beat(random.chance(offers, 8));
            uut.m_axis_rc_tvalid.next = offered.is_some();
            if let Some((_, words, last)) = offered {
                uut.m_axis_rc_tkeep.next = ((1u64 << words.len()) - 1).into();
                uut.m_axis_rc_tdata.next = bits_of_words(&words);
                uut.m_axis_rc_tlast.next = last;
            }
            settle(uut);
            if uut.completion_valid.val() {
                let last = uut.completion_last.val();
                let data = words_of(uut.completion_data.val());
                open.extend(kept::<L>(data, uut.completion_keep.val(), last));
                if last {
                    let data = std::mem::take(&mut open);
                    completions.push((words_of(uut.completion_header.val()), data));
                }
            }
            if uut.m_axis_rc_tvalid.val() && uut.m_axis_rc_tready.val() {
                block.advance();
            }
            let waits = completions.len() < due || !block.packets.is_empty();
            waits.then_some(completions.len())
        });
        completions
    }
}
