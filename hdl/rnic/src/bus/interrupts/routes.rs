//! From what was written to the vectors that it raises.
//!
//! ```text
//! entry, slot, event, status --> [ taken ] --> [ its route ] --> [ a bit each, joined ] --> raises
//! ```
//!
//! | latency    | 3 cycles, of which one is for the way from the mux   |
//! | throughput | one of each source a cycle                           |
//! | source     | `rnic_abi::interrupts`                               |
use rnic_abi::interrupts as map;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(
    map::ROUTE_ON == 8
        && map::ROUTE_HOST == 0
        && map::ROUTE_EVENTS == 1
        && map::ROUTE_TRANSMIT == 2
);

/// Routes of sources to vectors.
#[derive(LogicBlock, Init)]
pub struct RaiseRoutes {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle: an entry of completion queue `entry_queue` was written.
    pub entry_written: Signal<In, Bit>,
    pub entry_queue: Signal<In, Bits<4>>,
    /// One cycle: a slot of the host ring was filled; an event was written; a status or a report of
    /// transmit was written.
    pub slot_written: Signal<In, Bit>,
    pub event_written: Signal<In, Bit>,
    pub status_written: Signal<In, Bit>,
    pub queue_routes: Signal<In, Bits<64>>,
    pub ring_routes: Signal<In, Bits<12>>,
    /// One cycle: these vectors are raised.
    pub raises: Signal<Out, Bits<8>>,
    // What was written in the last cycle: these come from the TLP mux's grants, at the other end of
    // the device.
    entry_taken: DFF<Bit>,
    queue_taken: DFF<Bits<4>>,
    slot_taken: DFF<Bit>,
    event_taken: DFF<Bit>,
    status_taken: DFF<Bit>,
    // Its routes, a cycle later; zero where nothing was.
    queue_route: DFF<Bits<4>>,
    host_route: DFF<Bits<4>>,
    event_route: DFF<Bits<4>>,
    transmit_route: DFF<Bits<4>>,
    raised: DFF<Bits<8>>,
    from: Signal<Local, Bits<6>>,
    shifted: Signal<Local, Bits<64>>,
    bit_of_queue: Signal<Local, Bits<8>>,
    bit_of_host: Signal<Local, Bits<8>>,
    bit_of_event: Signal<Local, Bits<8>>,
    bit_of_transmit: Signal<Local, Bits<8>>,
    #[constant(1)]
    one: Constant<Bits<8>>,
}

impl Logic for RaiseRoutes {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; entry_taken, queue_taken, slot_taken, event_taken, status_taken);
        registers!(clock; queue_route, host_route, event_route, transmit_route, raised);
        self.entry_taken.d.next = self.entry_written.val();
        self.queue_taken.d.next = self.entry_queue.val();
        self.slot_taken.d.next = self.slot_written.val();
        self.event_taken.d.next = self.event_written.val();
        self.status_taken.d.next = self.status_written.val();
        self.from.next = bit_cast::<6, 4>(self.queue_taken.q.val()) << 2;
        self.shifted.next = self.queue_routes.val() >> self.from.val();
        self.queue_route.d.next = 0.into();
        if self.entry_taken.q.val() {
            self.queue_route.d.next = self.shifted.val().get_bits::<4>(0);
        }
        self.host_route.d.next = 0.into();
        if self.slot_taken.q.val() {
            self.host_route.d.next = self.ring_routes.val().get_bits::<4>(0);
        }
        self.event_route.d.next = 0.into();
        if self.event_taken.q.val() {
            self.event_route.d.next = self.ring_routes.val().get_bits::<4>(4);
        }
        self.transmit_route.d.next = 0.into();
        if self.status_taken.q.val() {
            self.transmit_route.d.next = self.ring_routes.val().get_bits::<4>(8);
        }
        self.bit_of_queue.next = 0.into();
        if self.queue_route.q.val().get_bit(3) {
            self.bit_of_queue.next = self.one.val() << self.queue_route.q.val().get_bits::<3>(0);
        }
        self.bit_of_host.next = 0.into();
        if self.host_route.q.val().get_bit(3) {
            self.bit_of_host.next = self.one.val() << self.host_route.q.val().get_bits::<3>(0);
        }
        self.bit_of_event.next = 0.into();
        if self.event_route.q.val().get_bit(3) {
            self.bit_of_event.next = self.one.val() << self.event_route.q.val().get_bits::<3>(0);
        }
        self.bit_of_transmit.next = 0.into();
        if self.transmit_route.q.val().get_bit(3) {
            self.bit_of_transmit.next =
                self.one.val() << self.transmit_route.q.val().get_bits::<3>(0);
        }
        self.raised.d.next = self.bit_of_queue.val()
            | self.bit_of_host.val()
            | self.bit_of_event.val()
            | self.bit_of_transmit.val();
        self.raises.next = self.raised.q.val();
        if self.reset.val() {
            self.entry_taken.d.next = false;
            self.slot_taken.d.next = false;
            self.event_taken.d.next = false;
            self.status_taken.d.next = false;
            self.queue_route.d.next = 0.into();
            self.host_route.d.next = 0.into();
            self.event_route.d.next = 0.into();
            self.transmit_route.d.next = 0.into();
            self.raised.d.next = 0.into();
        }
    }
}
