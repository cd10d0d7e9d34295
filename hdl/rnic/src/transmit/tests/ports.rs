//! The room's ports as the rig sees them: what is shown in a cycle, what is set for it.
//!
//! ```text
//! room --> Outputs --> rig --> Inputs --> room
//! ```
//!
//! Both are of one cycle; octets are in the order of memory. `engine` has the same for a
//! room with the read engine behind it.
use crate::transmit::TransmitRoom;
use rnic_hdl_tools::testkit::{bits_of, octets_of, settle, words_of};

/// Requester id of the room.
pub const DEVICE_ID: u16 = 0x0318;

/// A beat of a stream: its octets, and whether it is the last one.
pub type Beat = (Vec<u8>, bool);
/// A TLP: header and payload.
pub type Tlp = ([u32; 4], Vec<u8>);

/// What the room shows in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Address, octets, whether more follows.
    pub command: Option<(u64, usize, bool)>,
    pub read_ready: bool,
    /// The last beat of a read leaves the slice: what comes of its frame is decided.
    pub read_ends: bool,
    pub tlp: Option<Tlp>,
    pub frame: Option<Beat>,
    pub counts: u64,
    /// Head, frames given up, stopped, settles.
    pub rings: [(u32, u32, bool, bool); 2],
}

/// What the room gets in a cycle. The rings' registers stay.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub reset: bool,
    pub base: [u64; 2],
    pub report: [u64; 2],
    pub set_up: [Option<u32>; 2],
    pub tail: [Option<u32>; 2],
    pub command_ready: bool,
    /// Octets, last, error.
    pub read: Option<(Vec<u8>, bool, bool)>,
    pub tlp_ready: bool,
    pub frame_ready: bool,
    pub pause: bool,
}

/// A room, with or without the read engine behind it.
pub trait Room {
    /// Octets of a beat of the inner path, and of the frame path.
    const INNER: usize;
    const FRAME: usize;
    fn show(&mut self) -> Outputs;
    fn set(&mut self, inputs: &Inputs);
    fn settle(&mut self);
}

/// Sets the ports that a room shares with what contains it.
#[macro_export]
macro_rules! set_transmit_ports {
    ($room:expr, $inputs:expr) => {
        let (room, inputs) = ($room, $inputs);
        room.reset.next = inputs.reset;
        room.device_id.next = u64::from(DEVICE_ID).into();
        room.control_base.next = inputs.base[0].into();
        room.bulk_base.next = inputs.base[1].into();
        room.control_report.next = inputs.report[0].into();
        room.bulk_report.next = inputs.report[1].into();
        room.control_set_up.next = inputs.set_up[0].is_some();
        room.bulk_set_up.next = inputs.set_up[1].is_some();
        room.control_units_log2.next = u64::from(inputs.set_up[0].unwrap_or(31)).into();
        room.bulk_units_log2.next = u64::from(inputs.set_up[1].unwrap_or(31)).into();
        room.control_tail_valid.next = inputs.tail[0].is_some();
        room.bulk_tail_valid.next = inputs.tail[1].is_some();
        room.control_tail.next = u64::from(inputs.tail[0].unwrap_or(0x5555_5555)).into();
        room.bulk_tail.next = u64::from(inputs.tail[1].unwrap_or(0x5555_5555)).into();
        room.tlp_ready.next = inputs.tlp_ready;
        room.frame_ready.next = inputs.frame_ready;
        room.pause.next = inputs.pause;
    };
}

/// Reads the same ports.
#[macro_export]
macro_rules! show_transmit_ports {
    ($room:expr) => {{
        let room = $room;
        let word = |value: rust_hdl::prelude::Bits<32>| value.to_u64() as u32;
        let frame_octets = room.frame_octets.val().to_u64() as usize;
        Outputs {
            tlp: room.tlp_valid.val().then(|| {
                assert!(room.tlp_last.val(), "statuses and reports take one beat");
                let lanes = room.tlp_keep.val().to_u64().trailing_ones() as usize;
                assert_eq!(room.tlp_keep.val().to_u64(), (1 << lanes) - 1);
                let data = octets_of(room.tlp_data.val())[..4 * lanes].to_vec();
                (words_of(room.tlp_header.val()), data)
            }),
            frame: room.frame_valid.val().then(|| {
                let data = octets_of(room.frame_data.val())[..frame_octets].to_vec();
                (data, room.frame_last.val())
            }),
            counts: room.counts.val().to_u64(),
            rings: [
                (
                    word(room.control_head.val()),
                    word(room.control_given_up.val()),
                    room.control_stopped.val(),
                    room.control_settles.val(),
                ),
                (
                    word(room.bulk_head.val()),
                    word(room.bulk_given_up.val()),
                    room.bulk_stopped.val(),
                    room.bulk_settles.val(),
                ),
            ],
            ..Outputs::default()
        }
    }};
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
    > Room for TransmitRoom<W, WK, WO, WH, D, L, K, O, H, P, A, G, NW, KN, AW, AK>
{
    const INNER: usize = K;
    const FRAME: usize = WK;

    fn show(&mut self) -> Outputs {
        let command = self.read_command.val();
        Outputs {
            command: self.read_command_valid.val().then(|| {
                let octets = command.octets.to_u64() as usize;
                (command.address.to_u64(), octets, command.more)
            }),
            read_ready: self.read_ready.val(),
            read_ends: self.answers.order_ready.val(),
            ..show_transmit_ports!(&*self)
        }
    }

    fn set(&mut self, inputs: &Inputs) {
        set_transmit_ports!(&mut *self, inputs);
        self.read_command_ready.next = inputs.command_ready;
        self.read_valid.next = inputs.read.is_some();
        if let Some((octets, last, error)) = &inputs.read {
            self.read_data.next = bits_of(octets);
            self.read_octets.next = (octets.len() as u64).into();
            self.read_last.next = *last;
            self.read_error.next = *error;
        }
    }

    fn settle(&mut self) {
        settle(self);
    }
}
