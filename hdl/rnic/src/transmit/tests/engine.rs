//! The room and the real read engine, with a host that answers in any legal way.
use super::ports::{Inputs, Outputs, Room, DEVICE_ID};
use crate::bus::reads::tests::completer::{Completer, Fault};
use crate::bus::reads::ReadEngine128;
use crate::transmit::types::count;
use crate::transmit::TransmitRoom64;
use crate::{set_transmit_ports, show_transmit_ports};
use rnic_hdl_tools::testkit::{bits_of, bits_of_words, octets_of, settle, words_of, Pace, Random};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Transmit and read engine, as the device joins them.
#[derive(LogicBlock, Default)]
pub struct SendingNic {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub link_reset: Signal<In, Bit>,
    pub device_id: Signal<In, Bits<16>>,
    pub tick: Signal<In, Bit>,
    pub control_base: Signal<In, Bits<64>>,
    pub control_report: Signal<In, Bits<64>>,
    pub control_units_log2: Signal<In, Bits<5>>,
    pub control_set_up: Signal<In, Bit>,
    pub control_tail: Signal<In, Bits<32>>,
    pub control_tail_valid: Signal<In, Bit>,
    pub control_head: Signal<Out, Bits<32>>,
    pub control_given_up: Signal<Out, Bits<32>>,
    pub control_stopped: Signal<Out, Bit>,
    pub control_settles: Signal<Out, Bit>,
    pub bulk_base: Signal<In, Bits<64>>,
    pub bulk_report: Signal<In, Bits<64>>,
    pub bulk_units_log2: Signal<In, Bits<5>>,
    pub bulk_set_up: Signal<In, Bit>,
    pub bulk_tail: Signal<In, Bits<32>>,
    pub bulk_tail_valid: Signal<In, Bit>,
    pub bulk_head: Signal<Out, Bits<32>>,
    pub bulk_given_up: Signal<Out, Bits<32>>,
    pub bulk_stopped: Signal<Out, Bit>,
    pub bulk_settles: Signal<Out, Bit>,
    pub request_header: Signal<Out, Bits<128>>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    pub completion_data: Signal<In, Bits<128>>,
    pub completion_keep: Signal<In, Bits<4>>,
    pub completion_last: Signal<In, Bit>,
    pub completion_valid: Signal<In, Bit>,
    pub completion_header: Signal<In, Bits<128>>,
    pub tlp_data: Signal<Out, Bits<128>>,
    pub tlp_keep: Signal<Out, Bits<4>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    pub frame_data: Signal<Out, Bits<64>>,
    pub frame_octets: Signal<Out, Bits<7>>,
    pub frame_last: Signal<Out, Bit>,
    pub frame_valid: Signal<Out, Bit>,
    pub frame_ready: Signal<In, Bit>,
    pub pause: Signal<In, Bit>,
    pub counts: Signal<Out, Bits<{ count::COUNT }>>,
    room: TransmitRoom64,
    reads: ReadEngine128,
}

impl Logic for SendingNic {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.{room, reads}; clock, reset, device_id);
        wire!(self => self.reads; link_reset, tick, request_ready);
        wire!(self => self.reads;
            completion_data, completion_keep, completion_last, completion_valid, completion_header);
        self.reads.max_read_request.next = 2.into();
        self.reads.extended_tags.next = true;
        self.reads.timeout_ticks.next = 100.into();
        self.reads.hold.next = false;
        wire!(self.reads => self; request_header, request_valid);
        stream!(self.room => self.reads; read_command as command);
        wire!(self.reads => self.room;
            read_data, read_octets, read_last, read_error, read_valid);
        self.reads.read_ready.next = self.room.read_ready.val();
        wire!(self => self.room;
            control_base, control_report, control_units_log2, control_set_up, control_tail,
            control_tail_valid, bulk_base, bulk_report, bulk_units_log2, bulk_set_up, bulk_tail,
            bulk_tail_valid, tlp_ready, frame_ready, pause);
        wire!(self.room => self;
            control_head, control_given_up, control_stopped, control_settles, bulk_head,
            bulk_given_up, bulk_stopped, bulk_settles, tlp_data, tlp_keep, tlp_last, tlp_valid,
            tlp_header, frame_data, frame_octets, frame_last, frame_valid, counts);
    }
}

impl Room for SendingNic {
    const INNER: usize = 16;
    const FRAME: usize = 8;

    fn show(&mut self) -> Outputs {
        show_transmit_ports!(&*self)
    }

    fn set(&mut self, inputs: &Inputs) {
        set_transmit_ports!(&mut *self, inputs);
    }

    fn settle(&mut self) {
        settle(self);
    }
}

impl SendingNic {
    /// The host's side of a cycle; the rig drives the rest. Returns a request that it took.
    pub fn serve(
        &mut self,
        host: &mut Completer,
        now: u64,
        pace: Pace,
        fault: impl Fn(std::ops::Range<u64>) -> Option<Fault>,
        random: &mut Random,
    ) -> Option<u64> {
        self.tick.next = now % 16 == 0;
        self.request_ready.next = pace.goes(now, random);
        let mut taken = None;
        if self.request_valid.val() && self.request_ready.next {
            let header: [u32; 4] = words_of(self.request_header.val());
            let address = match header[0] >> 29 & 1 {
                1 => u64::from(header[2]) << 32 | u64::from(header[3]),
                _ => u64::from(header[2]),
            };
            let octets = 4 * u64::from(header[0] & 0x3ff);
            let fault = fault(address..address + octets);
            taken = Some(host.request(now, header, fault, random).0);
        }
        let beat = host.next(now, 4, random);
        self.completion_valid.next = beat.is_some();
        if let Some(beat) = beat {
            self.completion_header.next = bits_of_words(&beat.header);
            self.completion_data.next = bits_of(&beat.data);
            self.completion_keep.next = u64::from(beat.keep).into();
            self.completion_last.next = beat.last;
        }
        taken
    }
}
