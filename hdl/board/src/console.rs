//! The console: the report over JTAG, an octet a scan, and commands the other way.
//!
//! ```text
//! scan of 9 bits, lowest first   out: octet in bits 7:0, bit 8: it is one
//!                                in:  command in bits 7:0, bit 8: it is one
//! ```
//!
//! | command | effect                                                 |
//! |---------|--------------------------------------------------------|
//! | `r`     | the self-test runs again                               |
//! | `f`     | the same with one bit of a frame changed: it must fail |
//! | `s`     | the same with one bit of a signature changed           |
//! | `a`     | the report is read again, from its first octet on      |
//!
//! | latency | an octet leaves in the scan whose Capture-DR it precedes by 3 cycles    |
//! | units   | TCK must be slower than a tenth of the clock                            |
//! | source  | IEEE 1149.1 (states of a scan); the part's side is [`crate::jtag_tap`]  |
//!
//! All signals of the TAP come through synchronisers, and TCK is one of them: what happens at its
//! falling edge happens here a few cycles later, long before the next one.
use crate::report::REPORT_LOG2;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Console over JTAG.
#[derive(LogicBlock, Init)]
pub struct Console {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Signals of the TAP, synchronised.
    pub tck: Signal<In, Bit>,
    pub tdi: Signal<In, Bit>,
    pub select: Signal<In, Bit>,
    pub shift: Signal<In, Bit>,
    pub update_dr: Signal<In, Bit>,
    pub tdo: Signal<Out, Bit>,
    /// Characters of the report so far.
    pub length: Signal<In, Bits<13>>,
    pub read_address: Signal<Out, Bits<REPORT_LOG2>>,
    pub read_data: Signal<In, Bits<8>>,
    /// One cycle: the self-test is to run again.
    pub run: Signal<Out, Bit>,
    /// From then on: with a frame, or a signature, that is wrong.
    pub spoil_frame: Signal<Out, Bit>,
    pub spoil_signature: Signal<Out, Bit>,
    tck_before: DFF<Bit>,
    outgoing: DFF<Bits<9>>,
    incoming: DFF<Bits<9>>,
    // TDI arrives one TCK after the state that it belongs to.
    shifts: DFF<Bit>,
    scanned: DFF<Bit>,
    // The scan under way takes an octet.
    takes: DFF<Bit>,
    place: DFF<Bits<13>>,
    runs: DFF<Bit>,
    spoils_frame: DFF<Bit>,
    spoils_signature: DFF<Bit>,
    falls: Signal<Local, Bit>,
    has_octet: Signal<Local, Bit>,
    command: Signal<Local, Bits<9>>,
    with_frame: Signal<Local, Bit>,
    with_signature: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<13>>,
    #[constant(0x100)]
    flag: Constant<Bits<9>>,
    #[constant(0x100 | u64::from(b'r'))]
    run_again: Constant<Bits<9>>,
    #[constant(0x100 | u64::from(b'f'))]
    run_with_frame: Constant<Bits<9>>,
    #[constant(0x100 | u64::from(b's'))]
    run_with_signature: Constant<Bits<9>>,
    #[constant(0x100 | u64::from(b'a'))]
    read_again: Constant<Bits<9>>,
}

impl Logic for Console {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; tck_before, outgoing, incoming, shifts, scanned, takes, place, runs);
        registers!(clock; spoils_frame, spoils_signature);
        self.tck_before.d.next = self.tck.val();
        self.falls.next = self.tck_before.q.val() & !self.tck.val();
        self.tdo.next = self.outgoing.q.val().get_bit(0);
        self.read_address.next = self.place.q.val().get_bits::<REPORT_LOG2>(0);
        self.has_octet.next = self.place.q.val() != self.length.val();
        self.command.next = self.incoming.q.val();
        self.with_frame.next = self.command.val() == self.run_with_frame.val();
        self.with_signature.next = self.command.val() == self.run_with_signature.val();
        self.run.next = self.runs.q.val();
        self.spoil_frame.next = self.spoils_frame.q.val();
        self.spoil_signature.next = self.spoils_signature.q.val();
        self.runs.d.next = false;
        if self.falls.val() {
            self.shifts.d.next = self.select.val() & self.shift.val();
            if self.shifts.q.val() {
                self.incoming.d.next = self.incoming.q.val() >> 1;
                if self.tdi.val() {
                    self.incoming.d.next = (self.incoming.q.val() >> 1) | self.flag.val();
                }
            }
            if self.select.val() & self.shift.val() {
                self.outgoing.d.next = self.outgoing.q.val() >> 1;
            } else if self.select.val() {
                // Capture-DR.
                self.outgoing.d.next = 0.into();
                if self.has_octet.val() {
                    self.outgoing.d.next = bit_cast::<9, 8>(self.read_data.val()) | self.flag.val();
                }
                self.takes.d.next = self.has_octet.val();
                self.incoming.d.next = 0.into();
                self.scanned.d.next = true;
            } else if self.update_dr.val() & self.scanned.q.val() {
                self.scanned.d.next = false;
                if self.takes.q.val() {
                    self.place.d.next = self.place.q.val() + self.one.val();
                }
                if self.command.val() == self.read_again.val() {
                    self.place.d.next = 0.into();
                }
                if (self.command.val() == self.run_again.val())
                    | self.with_frame.val()
                    | self.with_signature.val()
                {
                    self.place.d.next = 0.into();
                    self.runs.d.next = true;
                    self.spoils_frame.d.next = self.with_frame.val();
                    self.spoils_signature.d.next = self.with_signature.val();
                }
            }
        }
        if self.reset.val() {
            self.place.d.next = 0.into();
            self.scanned.d.next = false;
            self.shifts.d.next = false;
            self.runs.d.next = false;
            self.spoils_frame.d.next = false;
            self.spoils_signature.d.next = false;
        }
    }
}
