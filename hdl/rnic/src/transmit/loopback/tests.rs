//! Every frame goes one way, whole, whatever the register and resets do.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle};

/// Source of a beat, in bits 63:48 of its data; frame and beat are in 47:16 and 15:0.
const WIRE: u64 = 1;
const SENDER: u64 = 2;

/// A source of frames: the one under way, and its next beat.
#[derive(Default)]
struct Source {
    frame: u64,
    beat: u64,
    beats: u64,
}

impl Source {
    fn data(&self, source: u64) -> u64 {
        source << 48 | self.frame << 16 | self.beat
    }

    fn is_last(&self) -> bool {
        self.beat + 1 == self.beats
    }

    fn advance(&mut self) {
        self.beat += 1;
        if self.beat == self.beats {
            self.end();
        }
    }

    fn end(&mut self) {
        *self = Self {
            frame: self.frame + 1,
            ..Self::default()
        };
    }
}

/// What has left at one of the outputs.
#[derive(Default)]
struct Sink {
    /// Source and number of the frame under way, and the beat that follows.
    open: Option<(u64, u64)>,
    whole: [u64; 3],
    cut: u64,
    looped_end: Option<u64>,
}

impl Sink {
    /// A beat; an error that the wire did not make ends a frame that was cut.
    fn take(&mut self, now: u64, data: u64, last: bool, error: bool) {
        let source = data >> 48;
        if error {
            assert!(
                last && self.open.is_some(),
                "cycle {now}: only what is open is cut"
            );
            self.open = None;
            self.cut += 1;
            self.looped_end = Some(now);
            return;
        }
        let expected = self.open.unwrap_or((data & !0xffff, 0));
        assert_eq!(data, expected.0 | expected.1, "cycle {now}");
        if self.open.is_none() && self.looped_end.is_some_and(|end| now <= end + GAP_CYCLES) {
            panic!("cycle {now}: too close to a looped frame");
        }
        self.open = (!last).then_some((expected.0, expected.1 + 1));
        if last {
            self.whole[source as usize] += 1;
            self.looped_end = (source == SENDER).then_some(now);
        }
    }
}

fn goes_one_way<const W: usize>(name: &str) {
    let (mut wire, mut sender) = (Source::default(), Source::default());
    let (mut to_host, mut to_wire) = (Sink::default(), Sink::default());
    let (mut now, mut dropped, mut cut_until, mut looped_beat) = (0u64, 0u64, 0u64, 0u64);
    lockstep!(name, Loopback::<W>::default(), 20_000, |uut, random| {
        now += 1;
        if now % 400 == 1 {
            uut.loopback.next = random.chance(1, 2);
        }
        if now % 1000 == 777 && random.chance(3, 4) {
            cut_until = now + 20;
        }
        let was_cut = uut.cut.next;
        uut.cut.next = now < cut_until;
        // The wire: frames of 1 to 9 beats, at least 2 cycles apart.
        if wire.beats == 0 && random.chance(1, 8) {
            wire.beats = 1 + random.below(9);
        }
        let has_beat = wire.beats > 0 && (wire.beat > 0 || random.chance(1, 2));
        uut.wire_valid.next = has_beat;
        uut.wire_data.next = wire.data(WIRE).into();
        uut.wire_last.next = wire.is_last();
        uut.wire_octets.next = (1 + wire.beat % 8).into();
        // The sender, which has forgotten everything a cycle after its reset begins.
        if uut.cut.next && was_cut {
            if sender.beat > 0 {
                sender.end();
            }
            sender.beats = 0;
        } else if !uut.cut.next && sender.beats == 0 && random.chance(1, 4) {
            sender.beats = 1 + random.below(9);
        }
        uut.frame_valid.next = sender.beats > 0;
        uut.frame_data.next = sender.data(SENDER).into();
        uut.frame_last.next = sender.is_last();
        uut.frame_octets.next = (1 + sender.beat % 8).into();
        uut.tx_ready.next = random.chance(3, 4);
        settle(uut);

        if uut.rx_valid.val() {
            let data = uut.rx_data.val().get_bits::<64>(0).to_u64();
            to_host.take(now, data, uut.rx_last.val(), uut.rx_error.val());
            if data >> 48 == SENDER && W == 512 && !uut.rx_error.val() {
                assert!(now > looped_beat + 1, "cycle {now}: a beat a cycle");
                looped_beat = now;
            }
        }
        if uut.tx_valid.val() && uut.tx_ready.next {
            let data = uut.tx_data.val().get_bits::<64>(0).to_u64();
            to_wire.take(now, data, uut.tx_last.val(), uut.tx_error.val());
        }
        to_wire.looped_end = None;
        dropped += u64::from(uut.dropped.val());
        if uut.frame_ready.val() && uut.frame_valid.next {
            sender.advance();
        }
        if has_beat {
            wire.advance();
        }
    });
    let host = to_host.whole;
    assert_eq!(to_wire.whole[WIRE as usize], 0);
    // The last frame of each may still be under way; a dropped one counts from its first beat.
    let begun = wire.frame + u64::from(wire.beat > 0);
    assert!(begun - host[WIRE as usize] - dropped <= 1);
    let sent = host[SENDER as usize] + to_wire.whole[SENDER as usize];
    assert!(sender.frame - sent - to_host.cut - to_wire.cut <= 2);
    assert!(
        dropped > 100 && host[WIRE as usize] > 100,
        "{dropped} {host:?}"
    );
    assert!(host[SENDER as usize] > 100 && to_wire.whole[SENDER as usize] > 100);
    assert!(
        to_host.cut > 0 && to_wire.cut > 0,
        "cut: {} {}",
        to_host.cut,
        to_wire.cut
    );
}

#[test]
fn each_frame_goes_one_way_64() {
    goes_one_way::<64>("loopback_64");
}

#[test]
fn each_frame_goes_one_way_512() {
    goes_one_way::<512>("loopback_512");
}
