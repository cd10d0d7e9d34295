//! Limits on out-of-order octets: pages of frames, and credits for what MPA allocates.
use rnic_abi::limits::{FRAME_PAD_OCTETS, PAGE_OCTETS};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(
    PAGE_OCTETS == 256,
    "pages are octets shifted right by eight"
);

/// Pages that out-of-order segments hold, and whether those of another frame fit.
///
/// ```text
/// frame_octets --> pages --+--> + connection_pages <= ooo_share --+
///                          +--> + device           <= ooo_pages --+--> fits
///                                   ^ charge, refund
/// ```
///
/// | latency    | at most 3 cycles, any input to `fits`                                       |
/// | throughput | one frame per cycle; one charge or refund per cycle                         |
/// | units      | pages of `rnic_abi::limits::PAGE_OCTETS`; octets without the pad            |
///
/// A frame is charged whole, however few of its octets are new: its pages stay while any octet of
/// it is needed. The limits leave `IN_ORDER_PAGES` to segments in order, which are never charged.
#[derive(LogicBlock, Init)]
#[init(
    let round_up = (FRAME_PAD_OCTETS + PAGE_OCTETS - 1) as u64;
)]
pub struct OutOfOrderBudget {
    pub clock: Signal<In, Clock>,
    /// Synchronous; nothing is charged.
    pub reset: Signal<In, Bit>,
    /// Octets of the frame, without pad and FCS.
    pub frame_octets: Signal<In, Bits<14>>,
    /// Pages charged to its connection.
    pub connection_pages: Signal<In, Bits<10>>,
    pub ooo_pages: Signal<In, Bits<10>>,
    pub ooo_share: Signal<In, Bits<10>>,
    /// Charges the frame's pages to the device.
    pub charge: Signal<In, Bit>,
    /// Refunds `refund_pages`; never together with `charge`.
    pub refund: Signal<In, Bit>,
    pub refund_pages: Signal<In, Bits<10>>,
    /// Pages of the frame, one cycle after `frame_octets`.
    pub frame_pages: Signal<Out, Bits<10>>,
    /// The frame's pages fit into both accounts.
    pub fits: Signal<Out, Bit>,
    pages: DFF<Bits<10>>,
    device: DFF<Bits<10>>,
    connection_sum: DFF<Bits<10>>,
    device_sum: DFF<Bits<10>>,
    found: DFF<Bit>,
    rounded: Signal<Local, Bits<15>>,
    whole: Signal<Local, Bits<7>>,
    #[constant(round_up)]
    round_up: Constant<Bits<15>>,
}

impl Logic for OutOfOrderBudget {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; pages, device, connection_sum, device_sum, found);
        self.rounded.next = bit_cast::<15, 14>(self.frame_octets.val()) + self.round_up.val();
        self.whole.next = self.rounded.val().get_bits::<7>(8);
        self.pages.d.next = bit_cast::<10, 7>(self.whole.val());
        self.frame_pages.next = self.pages.q.val();
        if self.charge.val() {
            self.device.d.next = self.device.q.val() + self.pages.q.val();
        } else if self.refund.val() {
            self.device.d.next = self.device.q.val() - self.refund_pages.val();
        }
        // No sum exceeds 10 bits: an account ends 40 pages below 512, a frame has at most 64.
        self.connection_sum.d.next = self.connection_pages.val() + self.pages.q.val();
        self.device_sum.d.next = self.device.q.val() + self.pages.q.val();
        self.found.d.next = (self.connection_sum.q.val() <= self.ooo_share.val())
            & (self.device_sum.q.val() <= self.ooo_pages.val());
        self.fits.next = self.found.q.val();
        if self.reset.val() {
            self.device.d.next = 0.into();
        }
    }
}

/// Credits, 2^A of them, for resources that MPA allocates and frees; `F = A + 1`.
///
/// | latency    | 1 cycle, `take` and `give` to `available`, a register                       |
/// | throughput | one taken and one returned per cycle                                        |
///
/// MPA uses a fragment for each run of new octets that is followed by another of the same frame,
/// until that run is released, and a span for each run out of order that extends no other. A credit
/// guarantees that one is free. A credit returned that was never taken is ignored.
#[derive(LogicBlock, Init)]
#[init(
    assert!(F == A + 1, "Credits: F = {F} must be A + 1 with A = {A}");
)]
pub struct Credits<const A: usize, const F: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; returns all credits.
    pub reset: Signal<In, Bit>,
    /// A credit is left.
    pub available: Signal<Out, Bit>,
    /// Takes one; only while `available`.
    pub take: Signal<In, Bit>,
    /// Returns one.
    pub give: Signal<In, Bit>,
    /// Credits taken.
    pub used: Signal<Out, Bits<F>>,
    out: DFF<Bits<F>>,
    out_now: Signal<Local, Bits<F>>,
    #[constant(1)]
    one: Constant<Bits<F>>,
}

impl<const A: usize, const F: usize> Logic for Credits<A, F> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; out);
        self.out_now.next = self.out.q.val();
        self.used.next = self.out.q.val();
        // Bit A, in a loop: a kernel takes a loop variable or a literal as index.
        for top in A..(A + 1) {
            self.available.next = !self.out_now.val().get_bit(top);
        }
        if self.take.val() {
            if !self.give.val() {
                self.out.d.next = self.out.q.val() + self.one.val();
            }
        } else if self.give.val() & self.out_now.val().any() {
            self.out.d.next = self.out.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.out.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
