//! Pages that segments beyond rcv_nxt hold, and whether another frame's fit beside them.
//!
//! ```text
//! frame_octets --> pages --+--> + connection_pages <= early_share --+
//!                          +--> + device_pages     <= early_pages --+--> fits
//!                                     ^ charge, refund
//! ```
//!
//! | latency    | at most 3 cycles, any input to `fits`                                       |
//! | throughput | one frame per cycle; one charge or refund per cycle                         |
//! | units      | pages of `rnic_abi::limits::PAGE_OCTETS`; octets without the pad            |
//!
//! A frame is charged whole, whatever of it is new: its pages stay while any octet of it is needed.
//! The limits leave `IN_ORDER_PAGES` to what comes in order, which is never charged.
use rnic_abi::limits::{FRAME_PAD_OCTETS, PAGE_OCTETS};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(
    PAGE_OCTETS == 256,
    "pages are octets shifted right by eight"
);

/// Keeps the device's account and compares both accounts with their limits.
#[derive(LogicBlock, Init)]
#[init(
    let round_up = (FRAME_PAD_OCTETS + PAGE_OCTETS - 1) as u64;
)]
pub struct EarlyBudget {
    pub clock: Signal<In, Clock>,
    /// Synchronous; nothing is charged.
    pub reset: Signal<In, Bit>,
    /// Octets of the frame, without pad and FCS.
    pub frame_octets: Signal<In, Bits<14>>,
    /// Pages charged to its connection.
    pub connection_pages: Signal<In, Bits<10>>,
    /// Register `EARLY_PAGES`.
    pub early_pages: Signal<In, Bits<10>>,
    /// Register `EARLY_SHARE`.
    pub early_share: Signal<In, Bits<10>>,
    /// Charges the frame's pages to the device.
    pub charge: Signal<In, Bit>,
    /// Takes `refund_pages` off again; never together with `charge`.
    pub refund: Signal<In, Bit>,
    /// Pages no longer held.
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

impl Logic for EarlyBudget {
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
        self.found.d.next = (self.connection_sum.q.val() <= self.early_share.val())
            & (self.device_sum.q.val() <= self.early_pages.val());
        self.fits.next = self.found.q.val();
        if self.reset.val() {
            self.device.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
