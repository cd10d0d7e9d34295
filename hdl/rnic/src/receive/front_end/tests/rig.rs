//! Plays frames into a front end of any width and collects what comes out.
use super::super::FrontEnd;
use super::reference::{Reading, Segment};
use crate::messages::{FrameInfo, FrameVerdict};
use crate::receive::front_end::testing::beat;
use rnic_hdl_tools::testkit::{octets_of, Random, Simulation};
use rust_hdl::prelude::*;

/// A frame on the wire.
#[derive(Clone, Debug)]
pub struct Stimulus {
    pub octets: Vec<u8>,
    pub enabled: bool,
    pub mac_error: bool,
    /// Beats without a frame before it.
    pub gap_beats: usize,
    /// Idle cycles of 8 inside the frame.
    pub idle_of_8: u64,
}

impl Stimulus {
    /// An intact frame directly after the previous one.
    pub fn new(octets: Vec<u8>) -> Self {
        Self {
            octets,
            enabled: true,
            mac_error: false,
            gap_beats: 0,
            idle_of_8: 0,
        }
    }
}

/// What came out of a front end.
#[derive(Default)]
pub struct Outcome {
    /// The octets of each stored frame.
    pub stored: Vec<Vec<u8>>,
    /// Each FrameInfo as the reference has it, without the reason.
    pub readings: Vec<Reading>,
    /// Cycles from a frame's last beat to its FrameInfo; for frames sent one at a time.
    pub latencies: Vec<u64>,
    /// Pulses of each bit of `counts`.
    pub counts: [usize; 8],
    /// `counts` of the cycles in which it was not zero.
    pub count_words: Vec<u64>,
}

/// A front end as the tests see it.
pub trait Rig: Default + Block {
    /// Octets of a beat.
    const OCTETS: usize;
    fn clock(&mut self) -> &mut Signal<In, Clock>;
    fn reset(&mut self, level: bool);
    fn idle(&mut self, random: &mut Random);
    fn give(&mut self, octets: &[u8], last: bool, frame: &Stimulus, random: &mut Random);
    /// Counts in a frame's first beat only.
    fn enable(&mut self, level: bool);
    /// (beat, last), if there is one.
    fn stored(&self) -> Option<(Vec<u8>, bool)>;
    fn info(&self) -> Option<FrameInfo>;
    fn counts(&self) -> u64;
}

impl<
        const W: usize,
        const L: usize,
        const K: usize,
        const S: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > Rig for FrontEnd<W, L, K, S, G, NW, KN, AW, AK>
{
    const OCTETS: usize = K;

    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }

    fn reset(&mut self, level: bool) {
        self.reset.next = level;
    }

    /// No beat: all other inputs are random.
    fn idle(&mut self, random: &mut Random) {
        self.frame_valid.next = false;
        self.frame_last.next = random.chance(1, 2);
        self.frame_error.next = random.chance(1, 2);
        self.enable.next = random.chance(1, 2);
    }

    fn give(&mut self, octets: &[u8], last: bool, frame: &Stimulus, random: &mut Random) {
        // What lies after the last octet is noise.
        self.frame_data.next = beat(octets, random);
        self.frame_octets.next = (octets.len() as u64).into();
        self.frame_last.next = last;
        self.frame_error.next = if last {
            frame.mac_error
        } else {
            random.chance(1, 2)
        };
        self.frame_valid.next = true;
    }

    fn enable(&mut self, level: bool) {
        self.enable.next = level;
    }

    fn stored(&self) -> Option<(Vec<u8>, bool)> {
        let beat = || (octets_of(self.store_data.val()), self.store_last.val());
        self.store_valid.val().then(beat)
    }

    fn info(&self) -> Option<FrameInfo> {
        self.frame_info_valid.val().then(|| self.frame_info.val())
    }

    fn counts(&self) -> u64 {
        self.counts.val().into()
    }
}

fn address(octets: Bits<128>) -> [u8; 16] {
    octets_of(octets).try_into().expect("16 octets")
}

/// A FrameInfo as the reference has it.
pub fn reading(info: &FrameInfo) -> Reading {
    let (key, fields) = (info.key, info.segment);
    let verdict = fields.verdict;
    let segment = || Segment {
        ipv6: info.ipv6,
        remote_address: address(key.remote_address),
        local_address: address(key.local_address),
        ports: key.ports.to_u32().to_le_bytes(),
        flags: fields.flags.to_u8(),
        checksum_good: fields.checksum_good,
        more_options: fields.more_options,
        seg_seq: fields.seg_seq.to_u32(),
        seg_ack: fields.seg_ack.to_u32(),
        seg_wnd: fields.seg_wnd.to_u16(),
        payload_offset: fields.payload_offset.to_u16().into(),
        payload_octets: fields.payload_octets.to_u16().into(),
    };
    Reading {
        verdict,
        reason: None,
        frame_octets: fields.frame_octets.to_u16().into(),
        segment: (verdict == FrameVerdict::Tcp).then(segment),
    }
}

/// Plays `frames` and collects, with the order of `store_last` and FrameInfo checked.
pub fn play<R: Rig>(frames: &[Stimulus], random: &mut Random) -> Outcome {
    let mut uut = Simulation::new(R::default(), R::clock);
    uut.reset(true);
    uut.tick();
    uut.reset(false);
    let mut watch = Watch::default();
    for frame in frames {
        for _ in 0..frame.gap_beats {
            uut.idle(random);
            watch.cycle(&mut uut, false);
        }
        let beats = frame.octets.len().div_ceil(R::OCTETS);
        for (number, octets) in frame.octets.chunks(R::OCTETS).enumerate() {
            while number > 0 && random.chance(frame.idle_of_8, 8) {
                uut.idle(random);
                watch.cycle(&mut uut, false);
            }
            let last = number + 1 == beats;
            uut.give(octets, last, frame, random);
            uut.enable(if number == 0 {
                frame.enabled
            } else {
                random.chance(1, 2)
            });
            watch.cycle(&mut uut, last);
        }
    }
    for _ in 0..64 {
        uut.idle(random);
        watch.cycle(&mut uut, false);
    }
    assert!(watch.storing.is_empty(), "a stored frame has no end");
    assert!(watch.stored_ahead == 0, "a stored frame has no FrameInfo");
    watch.outcome
}

#[derive(Default)]
struct Watch {
    outcome: Outcome,
    storing: Vec<u8>,
    /// Frames with `store_last` but no FrameInfo yet.
    stored_ahead: usize,
    now: u64,
    last_beat: u64,
}

impl Watch {
    /// One clock cycle; `last`: a last beat is on the wire in it.
    fn cycle<R: Rig>(&mut self, uut: &mut Simulation<R>, last: bool) {
        if last {
            self.last_beat = self.now;
        }
        uut.tick();
        self.now += 1;
        if let Some(info) = uut.info() {
            assert_eq!(self.stored_ahead, 1, "FrameInfo comes after its store_last");
            self.stored_ahead = 0;
            self.outcome.readings.push(reading(&info));
            self.outcome.latencies.push(self.now - self.last_beat);
        }
        if let Some((beat, last)) = uut.stored() {
            self.storing.extend(beat);
            if last {
                assert_eq!(
                    self.stored_ahead, 0,
                    "FrameInfo comes before the next store_last"
                );
                self.stored_ahead = 1;
                self.outcome.stored.push(std::mem::take(&mut self.storing));
            }
        }
        let counts = uut.counts();
        if counts != 0 {
            self.outcome.count_words.push(counts);
        }
        for bit in 0..8 {
            self.outcome.counts[bit] += usize::from(counts >> bit & 1 == 1);
        }
    }
}
