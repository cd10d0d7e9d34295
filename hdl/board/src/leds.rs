//! What the LEDs show.
//!
//! | LED | lights when                                  |
//! |-----|----------------------------------------------|
//! | 0   | the clock is stable and the reset is over    |
//! | 1   | the self-test runs                           |
//! | 2   | it has ended, and passed                     |
//! | 3   | it has ended, and failed                     |
//! | 4-7 | the scene has passed: 7 is the first of four |
//!
//! | latency | none: an LED follows its cause in the same cycle |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Reset and self-test as eight LEDs.
#[derive(LogicBlock, Init)]
pub struct Leds {
    /// The clock is not stable yet, or the button is pressed.
    pub reset: Signal<In, Bit>,
    /// The self-test has ended.
    pub done: Signal<In, Bit>,
    /// Nothing has failed so far.
    pub good: Signal<In, Bit>,
    /// Those of the last four scenes that have passed, the last one in bit 0.
    pub scenes: Signal<In, Bits<4>>,
    /// Low lights.
    pub led_n: Signal<Out, Bits<8>>,
    state: Signal<Local, Bits<8>>,
    #[constant(0b0011)]
    runs: Constant<Bits<8>>,
    #[constant(0b0101)]
    passed: Constant<Bits<8>>,
    #[constant(0b1001)]
    failed: Constant<Bits<8>>,
}

impl Logic for Leds {
    #[kernel]
    fn update(&mut self) {
        self.state.next = 0.into();
        if !self.reset.val() {
            self.state.next = self.runs.val();
            if self.done.val() {
                self.state.next = self.failed.val();
                if self.good.val() {
                    self.state.next = self.passed.val();
                }
            }
        }
        self.led_n.next = !((bit_cast::<8, 4>(self.scenes.val()) << 4) | self.state.val());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{connected, lockstep_combinational, settle};

    #[test]
    fn one_led_says_how_it_stands_and_four_say_what_has_passed() {
        let mut leds = connected(Leds::default());
        for (reset, done, good, lit) in [
            (true, true, true, 0b0000),
            (false, false, true, 0b0011),
            (false, false, false, 0b0011),
            (false, true, true, 0b0101),
            (false, true, false, 0b1001),
        ] {
            leds.reset.next = reset;
            leds.done.next = done;
            leds.good.next = good;
            leds.scenes.next = 0b1010.into();
            settle(&mut leds);
            assert_eq!(!leds.led_n.val(), 0b1010_0000 | lit);
        }
    }

    #[test]
    fn lockstep_with_verilog() {
        lockstep_combinational("leds", Leds::default(), 500, |uut, random| {
            uut.reset.next = random.chance(1, 4);
            uut.done.next = random.chance(1, 2);
            uut.good.next = random.chance(1, 2);
            uut.scenes.next = random.below(16).into();
        });
    }
}
