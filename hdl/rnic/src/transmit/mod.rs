//! Transmit: frames that are gathered from host memory, summed, and sent.
//!
//! ```text
//! doorbells --> [ control ring ] --+ reads of units
//!               [ bulk ring ]    --+--> [ commands ] --> read_command (read engine)
//!                  ^ filled        |          | order
//!                  |          frame reads     v
//!               [ units ] <-----------|-- [ answers ] <-- read_* (read engine)
//!                  | head, elements   |          | beats of frames
//!                  +--> [ heads ] ----+ job      v
//!                           +-----------> [ intake ] --> [ store 16 KiB ] -> [ sender ] -> frame_*
//!                                           |  | CRC state, sum                  ^
//!                             frame is over |  +--> [ finisher ] -- patch -------+
//!                                           v
//!                                       [ writer ] --> tlp_*: statuses, reports
//! ```
//!
//! Ports, beside `clock` and `reset`; `<ring>` is `control` or `bulk`:
//!
//! | port                              | bits      | meaning                                     |
//! |-----------------------------------|-----------|---------------------------------------------|
//! | in `device_id`                    | 16        | requester id                                |
//! | in `<ring>_base`                  | 64        | bus address of the ring, multiple of 4096   |
//! | in `<ring>_report`                | 64        | bus address of its report, multiple of 16   |
//! | in `<ring>_units_log2`, `_set_up` | 5, 1      | one cycle: sets up the ring; 0 (or what is  |
//! |                                   |           | not 4 to 16): off                           |
//! | in `<ring>_tail`, `_tail_valid`   | 32, 1     | one cycle: doorbell                         |
//! | out `<ring>_head`, `_given_up`    | 32, 32    | as in reports                               |
//! | out `<ring>_stopped`              | 1         | a read of units has failed                  |
//! | out `<ring>_settles`              | 1         | set up, but earlier reads are under way     |
//! | out `read_command`, `_valid`;     |           | to the read engine, of                      |
//! | in `_ready`                       |           | type `ReadCommand`                          |
//! | in `read_data`, `_octets`,        | D, 7,     | its answers                                 |
//! | `_last`, `_error`, `_valid`;      | 1, 1, 1   |                                             |
//! | out `_ready`                      | 1         |                                             |
//! | out `tlp_data`, `_keep`, `_last`, | D, D/32,  | posted writes                               |
//! | `_valid`, `_header`; in `_ready`  | 1, 1, 128 |                                             |
//! | out `frame_data`, `_octets`,      | W, 7,     | frames, without FCS                         |
//! | `_last`, `_valid`; in `_ready`    | 1, 1      |                                             |
//! | in `pause`                        | 1         | no frame begins                             |
//! | out `counts`                      | 5         | one cycle each: see `types::count`          |
//!
//! `reset` drops everything; the read engine is reset with the room, and no TLP begins.
//!
//! | latency    | 83 cycles and two reads, the read engine's part included, from a doorbell to the |
//! |            | first beat of 66 octets                                                          |
//! | throughput | W = 64: frames of 1518 octets at the rate of the wire; 20 cycles for 66 octets   |
//! |            | with reads of 300 cycles                                                         |
//! | memory     | W = 64: 11 block RAMs (ECP5): 8 of frames, 3 of units                            |
pub mod types;
pub mod ring;
pub mod doorbell;
pub mod units;
pub mod heads;
pub mod head_check;
pub mod commands;
pub mod answers;
pub mod intake;
pub mod finisher;
pub mod store;
pub mod sender;
pub mod writer;
pub mod loopback;

mod lanes;

use crate::bus::reads::types::ReadCommand;
use crate::common::fifo::Fifo;
use answers::Answers;
use commands::Commands;
use finisher::Finisher;
use heads::HeadDecoder;
use intake::FrameIntake;
use ring::TransmitRing;
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use rnic_macros::kernel;
use rust_hdl::prelude::*;
use sender::Sender;
use store::FrameStore;
use types::*;
use units::UnitBuffer;
use writer::StatusWriter;

/// The room at W = 64.
pub type TransmitRoom64 = TransmitRoom<64, 8, 3, 11, 128, 4, 16, 4, 10, 2, 10, 1, 128, 16, 64, 8>;
/// The room at W = 128.
pub type TransmitRoom128 =
    TransmitRoom<128, 16, 4, 10, 128, 4, 16, 4, 10, 2, 10, 1, 128, 16, 64, 8>;
/// The room at W = 512.
pub type TransmitRoom512 =
    TransmitRoom<512, 64, 6, 8, 512, 16, 64, 6, 8, 4, 9, 4, 128, 16, 160, 20>;

/// The Verilog of the room for a frame path of `width` bits; its top module is `transmit`.
///
/// # Errors
/// The checks or the emission lint refuse the room.
///
/// # Panics
/// If `width` is not 64, 128 or 512.
pub fn verilog(width: usize) -> Result<String, EmitError> {
    match width {
        64 => verilog_named("transmit", &TransmitRoom64::standalone()),
        128 => verilog_named("transmit", &TransmitRoom128::standalone()),
        512 => verilog_named("transmit", &TransmitRoom512::standalone()),
        other => panic!("there is no transmit room of width {other}: use 64, 128 or 512"),
    }
}

/// Transmit room: frame path of `W` bits, `WK = W / 8 = 2^WO` octets, `WH = 14 - WO`; inner path of
/// `D` bits, `L = D / 32`, `K = D / 8 = 2^O`, `H = 14 - O`, `P = O - 2`; `2^A` words in the store;
/// the others: see `StreamSum`.
#[derive(LogicBlock, Default)]
pub struct TransmitRoom<
    const W: usize,
    const WK: usize,
    const WO: usize,
    const WH: usize,
    const D: usize,
    const L: usize,
    const K: usize,
    const O: usize,
    const H: usize,
    const P: usize,
    const A: usize,
    const G: usize,
    const NW: usize,
    const KN: usize,
    const AW: usize,
    const AK: usize,
> {
    pub clock: Signal<In, Clock>,
    /// Drops everything; the read engine is reset with the room.
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// The control ring: bus address, a multiple of 4096.
    pub control_base: Signal<In, Bits<64>>,
    /// Bus address of its report, a multiple of 16.
    pub control_report: Signal<In, Bits<64>>,
    /// With `control_set_up`: log2 of its units, 4 to 16; any other value: off.
    pub control_units_log2: Signal<In, Bits<5>>,
    pub control_set_up: Signal<In, Bit>,
    /// With `control_tail_valid`: the doorbell's value.
    pub control_tail: Signal<In, Bits<32>>,
    pub control_tail_valid: Signal<In, Bit>,
    /// As in reports.
    pub control_head: Signal<Out, Bits<32>>,
    pub control_given_up: Signal<Out, Bits<32>>,
    pub control_stopped: Signal<Out, Bit>,
    /// Reads or writes from before the last `control_set_up` are under way.
    pub control_settles: Signal<Out, Bit>,
    /// The bulk ring: bus address, a multiple of 4096.
    pub bulk_base: Signal<In, Bits<64>>,
    /// Bus address of its report, a multiple of 16.
    pub bulk_report: Signal<In, Bits<64>>,
    /// With `bulk_set_up`: log2 of its units, 4 to 16; any other value: off.
    pub bulk_units_log2: Signal<In, Bits<5>>,
    pub bulk_set_up: Signal<In, Bit>,
    /// With `bulk_tail_valid`: the doorbell's value.
    pub bulk_tail: Signal<In, Bits<32>>,
    pub bulk_tail_valid: Signal<In, Bit>,
    /// As in reports.
    pub bulk_head: Signal<Out, Bits<32>>,
    pub bulk_given_up: Signal<Out, Bits<32>>,
    pub bulk_stopped: Signal<Out, Bit>,
    /// Reads or writes from before the last `bulk_set_up` are under way.
    pub bulk_settles: Signal<Out, Bit>,
    /// To the read engine, which answers in order.
    pub read_command: Signal<Out, ReadCommand>,
    pub read_command_valid: Signal<Out, Bit>,
    pub read_command_ready: Signal<In, Bit>,
    /// Its answers.
    pub read_data: Signal<In, Bits<D>>,
    pub read_octets: Signal<In, Bits<7>>,
    pub read_last: Signal<In, Bit>,
    pub read_error: Signal<In, Bit>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    /// Statuses and reports: see [`crate::bus::pcie`].
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    /// Frames, without FCS.
    pub frame_data: Signal<Out, Bits<W>>,
    /// Valid octets of the beat: `W / 8` in each but the last.
    pub frame_octets: Signal<Out, Bits<7>>,
    pub frame_last: Signal<Out, Bit>,
    pub frame_valid: Signal<Out, Bit>,
    pub frame_ready: Signal<In, Bit>,
    /// No frame begins.
    pub pause: Signal<In, Bit>,
    /// One cycle for each event: see [`count`].
    pub counts: Signal<Out, Bits<{ count::COUNT }>>,
    control: TransmitRing,
    bulk: TransmitRing,
    units: UnitBuffer<D>,
    heads: HeadDecoder<O>,
    jobs: Fifo<FrameJob, 4, 5>,
    commands: Commands,
    orders: Fifo<ReadKind, 5, 6>,
    answers: Answers<D>,
    intake: FrameIntake<D, K, O, H, G, NW, KN, AW, AK>,
    ends: Fifo<FrameEnd, 4, 5>,
    store: FrameStore<D, A>,
    finisher: Finisher<O, P>,
    patches: Fifo<FramePatch, 4, 5>,
    sender: Sender<W, WK, WO, WH, D>,
    writer: StatusWriter<D, L>,
    gathered: Signal<Local, Bits<{ count::COUNT }>>,
}

impl<
        const W: usize,
        const WK: usize,
        const WO: usize,
        const WH: usize,
        const D: usize,
        const L: usize,
        const K: usize,
        const O: usize,
        const H: usize,
        const P: usize,
        const A: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > TransmitRoom<W, WK, WO, WH, D, L, K, O, H, P, A, G, NW, KN, AW, AK>
{
    /// The room with every input connected, ready to be emitted.
    pub fn standalone() -> Self {
        let mut room = Self::default();
        room.clock.connect();
        room.reset.connect();
        room.device_id.connect();
        room.control_base.connect();
        room.control_report.connect();
        room.control_units_log2.connect();
        room.control_set_up.connect();
        room.control_tail.connect();
        room.control_tail_valid.connect();
        room.bulk_base.connect();
        room.bulk_report.connect();
        room.bulk_units_log2.connect();
        room.bulk_set_up.connect();
        room.bulk_tail.connect();
        room.bulk_tail_valid.connect();
        room.read_command_ready.connect();
        room.read_data.connect();
        room.read_octets.connect();
        room.read_last.connect();
        room.read_error.connect();
        room.read_valid.connect();
        room.tlp_ready.connect();
        room.frame_ready.connect();
        room.pause.connect();
        room.connect_all();
        room
    }
}

impl<
        const W: usize,
        const WK: usize,
        const WO: usize,
        const WH: usize,
        const D: usize,
        const L: usize,
        const K: usize,
        const O: usize,
        const H: usize,
        const P: usize,
        const A: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > Logic for TransmitRoom<W, WK, WO, WH, D, L, K, O, H, P, A, G, NW, KN, AW, AK>
{
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.{control, bulk, units, heads, jobs, commands}; clock, reset);
        wire!(self => self.{orders, answers}; clock, reset);
        wire!(self => self.{intake, ends, store, finisher, patches, sender, writer}; clock, reset);

        // The control ring.
        wire!(self => self.control;
            control_base as base, control_units_log2 as units_log2, control_set_up as set_up,
            control_tail as tail, control_tail_valid as tail_valid);
        wire!(self.control => self;
            head as control_head, given_up as control_given_up, stopped as control_stopped,
            settles as control_settles);
        stream!(self.control => self.commands; fetch as control);
        wire!(self.control => self.units; fill_slot as control_slot, drop as control_drop);
        wire!(self.units => self.control;
            control_filled as filled, control_ends as read_ends, failed as read_failed);
        wire!(self.control => self.heads;
            buffered as control_buffered, next_slot as control_slot, settles as control_settles);
        wire!(self.heads => self.control;
            control_deciding as deciding, control_take as take, take_units);
        wire!(self.writer => self.control;
            control_passes as passes, pass_units, gave_up, control_writing as writing);
        wire!(self.control => self.intake; settles as control_settles);
        wire!(self => self.writer;
            control_base, control_report, control_set_up, control_units_log2);
        wire!(self.control => self.writer;
            head as control_head, given_up as control_given_up, stopped as control_stopped,
            stops as control_stops, settles as control_settles);

        // The bulk ring.
        wire!(self => self.bulk;
            bulk_base as base, bulk_units_log2 as units_log2, bulk_set_up as set_up,
            bulk_tail as tail, bulk_tail_valid as tail_valid);
        wire!(self.bulk => self;
            head as bulk_head, given_up as bulk_given_up, stopped as bulk_stopped,
            settles as bulk_settles);
        stream!(self.bulk => self.commands; fetch as bulk);
        wire!(self.bulk => self.units; fill_slot as bulk_slot, drop as bulk_drop);
        wire!(self.units => self.bulk;
            bulk_filled as filled, bulk_ends as read_ends, failed as read_failed);
        wire!(self.bulk => self.heads;
            buffered as bulk_buffered, next_slot as bulk_slot, settles as bulk_settles);
        wire!(self.heads => self.bulk; bulk_deciding as deciding, bulk_take as take, take_units);
        wire!(self.writer => self.bulk;
            bulk_passes as passes, pass_units, gave_up, bulk_writing as writing);
        wire!(self.bulk => self.intake; settles as bulk_settles);
        wire!(self => self.writer; bulk_base, bulk_report, bulk_set_up, bulk_units_log2);
        wire!(self.bulk => self.writer;
            head as bulk_head, given_up as bulk_given_up, stopped as bulk_stopped,
            stops as bulk_stops, settles as bulk_settles);

        // Reads.
        wire!(self.heads => self.units; read_address);
        wire!(self.units => self.heads; piece);
        wire!(self.heads => self.jobs; job as data_in, job_valid as write);
        self.heads.job_room.next = !self.jobs.full.val();
        stream!(self.heads => self.commands; command as frame);
        wire!(self.commands => self.orders; order as data_in, order_valid as write);
        self.commands.order_room.next = !self.orders.full.val();
        stream!(self.commands => self; read_command);

        // Answers.
        wire!(self.orders => self.answers; data_out as order);
        self.answers.order_valid.next = !self.orders.empty.val();
        self.orders.read.next = self.answers.order_ready.val();
        wire!(self => self.answers; read_data);
        self.answers.read_end.next.octets = self.read_octets.val();
        self.answers.read_end.next.last = self.read_last.val();
        self.answers.read_end.next.error = self.read_error.val();
        self.answers.read_valid.next = self.read_valid.val();
        self.read_ready.next = self.answers.read_ready.val();
        wire!(self.answers => self.units; data as unit_data);
        self.units.unit_octets.next = self.answers.beat_end.val().octets;
        self.units.unit_last.next = self.answers.beat_end.val().last;
        self.units.unit_error.next = self.answers.beat_end.val().error;
        self.units.unit_ring.next = self.orders.data_out.val().ring;
        self.units.unit_valid.next = self.answers.unit_valid.val();
        self.answers.unit_ready.next = self.units.unit_ready.val();
        wire!(self.answers => self.intake; data as beat_data);
        self.intake.beat_last.next = self.answers.beat_end.val().last;
        self.intake.beat_error.next = self.answers.beat_end.val().error;
        self.intake.beat_valid.next = self.answers.beat_valid.val();
        self.answers.beat_ready.next = self.intake.beat_ready.val();

        // Frames.
        self.intake.job.next = self.jobs.data_out.val();
        self.intake.job_valid.next = !self.jobs.empty.val();
        self.jobs.read.next = self.intake.job_ready.val();
        wire!(self.intake => self.store;
            store_data as data_in, store_write as write, store_commit as commit,
            store_rollback as rollback, refund);
        wire!(self.heads => self.store; reserve);
        wire!(self.store => self.heads; free);
        wire!(self.intake => self.finisher;
            finish_start as start, finish_job as job, sum, crc_state);
        self.intake.finish_ready.next = self.finisher.ready.val();
        wire!(self.finisher => self.patches; patch as data_in, patch_valid as write);
        self.finisher.patch_ready.next = !self.patches.full.val();
        wire!(self => self.sender; pause);
        self.sender.patch.next = self.patches.data_out.val();
        self.sender.patch_valid.next = !self.patches.empty.val();
        self.patches.read.next = self.sender.patch_ready.val();
        self.sender.word.next = self.store.data_out.val();
        self.sender.word_valid.next = !self.store.empty.val();
        self.store.read.next = self.sender.word_ready.val();
        wire!(self.sender => self; frame_data, frame_octets, frame_last, frame_valid);
        self.sender.frame_ready.next = self.frame_ready.val();

        // What becomes of them.
        wire!(self.intake => self.ends; frame_end as data_in, frame_end_valid as write);
        self.intake.frame_end_room.next = !self.ends.full.val();
        self.writer.frame_end.next = self.ends.data_out.val();
        self.writer.frame_end_valid.next = !self.ends.empty.val();
        self.ends.read.next = self.writer.frame_end_ready.val();
        wire!(self => self.writer; device_id);
        tlps!(self.writer => self; tlp);

        self.gathered.next = 0.into();
        self.gathered.next = self.gathered.val().replace_bit(0, self.sender.sent.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(1, self.writer.refused.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(2, self.writer.gave_up.val() & !self.writer.refused.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(3, self.control.stops.val() | self.bulk.stops.val());
        self.gathered.next = self.gathered.val().replace_bit(
            4,
            self.control.tail_ignored.val() | self.bulk.tail_ignored.val(),
        );
        self.counts.next = self.gathered.val();
    }
}

#[cfg(test)]
mod tests;
