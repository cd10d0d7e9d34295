//! What can receive frames.

use crate::play::events::Acknowledgement;
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_abi::events::{FpduTrace, SegmentTrace};
use rnic_capture::CaptureError;
use rnic_driver::{
    Completion, ConnectionConfig, ConnectionId, DriverError, Event, OutOfOrderRange, Posted,
    QueueId, RegionConfig, WindowConfig,
};
use rnic_model::Room;
use rnic_sim::{Record, SimError};
use std::ops::Range;
use thiserror::Error;

/// Which receiver plays.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DutKind {
    /// The verilated hardware.
    Rtl,
    /// The software model.
    Model,
    /// Both, compared.
    Both,
    /// The verilated netlist of the hardware and the model, compared.
    Netlist,
}

impl DutKind {
    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rtl => "rtl",
            Self::Model => "model",
            Self::Both => "both",
            Self::Netlist => "netlist",
        }
    }
}

/// Why a playback could not be done.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The capture is not usable.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The core cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The driver refused.
    #[error("frame {frame}, flow {flow}: {source}{}", advice(source))]
    Driver {
        /// Frame before which it happened, counted from 1.
        frame: usize,
        /// Flow concerned.
        flow: usize,
        /// Why.
        source: DriverError,
    },
    /// An option names something that is not there.
    #[error("{0}")]
    Option(String),
}

/// What somebody who plays captures can do about a refusal.
fn advice(source: &DriverError) -> &'static str {
    match source {
        DriverError::Exhausted { .. } => {
            "; more are in use at one time than the device has: play one connection with \
             `--only-flow N`, or cut the capture by time with `editcap -A -B`"
        }
        DriverError::OutOfMemory { .. } => {
            "; the capture writes to places too far apart: play one connection with `--only-flow N`"
        }
        _ => "",
    }
}

impl PlayError {
    /// The driver refused an operation for `flow` before frame `frame`, counted from 1.
    pub fn at(frame: usize, flow: usize, source: DriverError) -> Self {
        Self::Driver {
            frame,
            flow,
            source,
        }
    }
}

/// A receiver under test. Addresses are bus addresses that the player chose; they are the same for
/// every receiver.
pub trait Dut {
    /// Map zeroed memory for the receiver to write; false if there is no room for it.
    fn map(&mut self, name: &str, address: u64, octets: usize) -> bool;
    /// Add a completion queue of `1 << entries_log2` entries. Software's have no end.
    fn create_completion_queue(
        &mut self,
        _queue: QueueId,
        _entries_log2: u32,
    ) -> Result<(), DriverError> {
        Ok(())
    }
    /// Offload a connection.
    fn open(&mut self, config: &ConnectionConfig) -> Result<ConnectionId, DriverError>;
    /// End an offload.
    fn close(&mut self, connection: ConnectionId) -> Result<(), DriverError>;
    /// Change the window of a connection.
    fn set_window(&mut self, connection: ConnectionId, window: u32) -> Result<(), DriverError>;
    /// Open an untagged queue, or that of reads; its next message has `first_msn`.
    fn open_queue(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError>;
    /// Post a receive buffer. `posted` is where another receiver of this run has put it.
    fn post(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        buffer: Buffer,
        posted: Option<Posted>,
    ) -> Result<Posted, DriverError>;
    /// Make a read outstanding. `posted` is where another receiver of this run has put it.
    fn post_read(
        &mut self,
        connection: ConnectionId,
        read: ReadSink,
        posted: Option<Posted>,
    ) -> Result<Posted, DriverError>;
    /// Register a region.
    fn register(&mut self, config: &RegionConfig) -> Result<(), DriverError>;
    /// Make a region valid again.
    fn renew(&mut self, config: &RegionConfig) -> Result<(), DriverError>;
    /// Take a region away.
    fn deregister(&mut self, stag: u32) -> Result<(), DriverError>;
    /// Open a window of a region to a connection; to the device it is the region `config`.
    fn bind(&mut self, window: &WindowConfig, config: &RegionConfig) -> Result<(), DriverError>;
    /// Close a window.
    fn unbind(&mut self, stag: u32) -> Result<(), DriverError>;
    /// TCP state of an open connection; nothing if it cannot be read.
    fn state(&mut self, connection: ConnectionId) -> Option<StreamState>;
    /// What all events of an open connection together must have said; unknown for hardware.
    fn expected_events(&self, _connection: ConnectionId) -> Option<Event> {
        None
    }
    /// SEG.ACK and SEG.WND that an open connection began with, and those of its acceptable
    /// segments, equal ones in a row once; unknown for hardware.
    fn acknowledged(&self, _connection: ConnectionId) -> Vec<Acknowledgement> {
        Vec::new()
    }
    /// Every event that is still to be seen; all else is idle.
    fn finish_events(&mut self) -> Vec<Event> {
        Vec::new()
    }
    /// Segments of an open connection that were cut off at the window's right edge; 0 if unknown.
    fn cut_at_window(&self, _connection: ConnectionId) -> u64 {
        0
    }
    /// Receive a frame. `room` is what another receiver has said of it, or [`Room::Enough`]; the
    /// answer is what this one says. Only hardware can be short of room, and it says so only if
    /// few pages are left.
    fn push(&mut self, frame: &[u8], room: Room) -> Room;
    /// Finish everything that has come in.
    fn settle(&mut self);
    /// Let `cycles` cycles pass; software knows none.
    fn wait(&mut self, _cycles: usize) {}
    /// What was seen since the last call.
    fn observe(&mut self) -> Observation;
    /// Memory as the receiver left it.
    fn read(&self, address: u64, octets: usize) -> Vec<u8>;
    /// Where the receiver has written in `octets` octets from `address` on, all mapped as one: bus
    /// addresses in order. All others are zero.
    fn written(&self, address: u64, octets: u64) -> Vec<Range<u64>>;
    /// Octets that memory may hold instead of those this receiver has left there, as another one
    /// may have placed FPDUs beyond a gap: bus addresses and octets.
    fn may_hold(&self) -> Vec<(u64, Vec<u8>)> {
        Vec::new()
    }
    /// Descriptions of what is still held with no connection open and nothing in flight.
    fn leaks(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// Every counter.
    fn counters(&mut self) -> Vec<(Counter, u32)>;
    /// Faults observed outside of the receiver: malformed TLPs, writes outside mapped memory.
    fn violations(&self) -> Vec<String>;
    /// Cycles taken so far; 0 for software.
    fn cycles(&self) -> u64 {
        0
    }
    /// Pages of packet memory in use; 0 for software.
    fn pages(&self) -> u32 {
        0
    }
    /// Were octets accepted beyond a gap that is still there? Unknown, and `false`, for hardware.
    fn waits_beyond_gap(&self, _connection: ConnectionId) -> bool {
        false
    }
    /// Sequence numbers of the FPDU that a stream without an error has begun, as its length field
    /// says; unknown for hardware.
    fn fpdu_begun(&self, _connection: ConnectionId) -> Option<Range<u32>> {
        None
    }
    /// Another receiver has reported MPA error 3 at the FPDU that begins at `sequence`, before it
    /// was whole: look whether what is here says so too. Only software has to ([`rnic_model`]).
    fn starts_disagree(&mut self, _connection: ConnectionId, _sequence: u32) {}
    /// Keep a record of the run from now on; software has no cycles and keeps none.
    fn start_record(&mut self) {}
    /// The record, which ends here, and the rings by their bus addresses; `None` for software.
    fn take_record(&mut self) -> Option<(Record, RingAddresses)> {
        None
    }
    /// Waveform on or off.
    fn set_traced(&mut self, _traced: bool) {}
}

/// Bus addresses of a device's rings.
#[derive(Clone, Debug, Default)]
pub struct RingAddresses {
    /// The completion queues.
    pub completions: Vec<Range<u64>>,
    /// The host receive ring.
    pub host: Range<u64>,
    /// The event ring.
    pub events: Range<u64>,
}

/// TCP state of a connection, as its owner reads it for acknowledgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// Next octet expected.
    pub rcv_nxt: u32,
    /// Last SEG.ACK and SEG.WND.
    pub seg_ack: u32,
    /// See `seg_ack`; unscaled.
    pub seg_wnd: u16,
    /// A FIN came with payload.
    pub fin_seen: bool,
    /// What was received beyond gaps, in sequence order.
    pub ranges: Vec<OutOfOrderRange>,
    /// Pages charged for it.
    pub pages: u32,
    /// Duplicate ACKs that were due at once, modulo 256.
    pub duplicate_acks: u8,
}

/// Memory for one message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bus address.
    pub address: u64,
    /// Octets.
    pub octets: u32,
}

/// What a read asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReadSink {
    /// STag of the sink.
    pub stag: u32,
    /// Tagged Offset of its first octet.
    pub offset: u64,
    /// Octets.
    pub octets: u32,
}

/// A completion entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The completion queue that it is in.
    pub queue: QueueId,
    /// Words 0 to 6; the last one numbers all entries of a queue and is compared by itself.
    pub words: [u32; 7],
    /// The octets that it announces, as they were in memory when it was written: the message, or
    /// the last ones of a Read Response; `None` for an entry that announces none.
    pub announced: Option<Vec<u8>>,
}

impl Entry {
    /// The connection it is of.
    pub fn connection(&self) -> u16 {
        (self.words[0] >> 16) as u16
    }
}

/// What a receiver has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Completion entries in order, as they were written; of several queues in no order.
    pub entries: Vec<Entry>,
    /// The same as the driver decodes them.
    pub completions: Vec<Completion>,
    /// Slots of the host ring as they were written, in order: words 0 to 2 of the header, and the
    /// frame; word 3 numbers the slots and is compared by itself.
    pub host_slots: Vec<Vec<u8>>,
    /// Verdicts on segments, in order.
    pub segments: Vec<SegmentTrace>,
    /// Verdicts on FPDUs, in order of each connection.
    pub fpdus: Vec<FpduTrace>,
    /// Events in order; of hardware only.
    pub events: Vec<Event>,
}

impl Observation {
    /// FPDUs whose start disagrees with that of one beyond it, reported before they were whole:
    /// connection and sequence number.
    fn disagreements(&self) -> impl Iterator<Item = (ConnectionId, u32)> + '_ {
        let is_one = |trace: &&FpduTrace| {
            trace.error == StreamError::MpaMarker as u8 && trace.ulpdu_length == 0
        };
        let traces = self.fpdus.iter().filter(is_one);
        traces.map(|trace| (ConnectionId(trace.connection), trace.sequence))
    }
}

/// Run receivers of the same frames until they are idle, hardware first, and observe them.
pub fn settle<'a>(duts: impl Iterator<Item = &'a mut dyn Dut>) -> Vec<Observation> {
    let mut disagreements = Vec::new();
    let seen = duts.map(|dut| {
        dut.settle();
        for &(connection, sequence) in &disagreements {
            dut.starts_disagree(connection, sequence);
        }
        let seen = dut.observe();
        disagreements.extend(seen.disagreements());
        seen
    });
    seen.collect()
}

/// Do the same on every receiver; they agree on what they give back.
pub fn each<T: PartialEq + std::fmt::Debug>(
    duts: &mut [Box<dyn Dut>],
    mut act: impl FnMut(&mut dyn Dut) -> Result<T, DriverError>,
) -> Result<T, DriverError> {
    let mut result = None;
    for dut in duts {
        let given = act(dut.as_mut())?;
        if let Some(before) = &result {
            assert_eq!(before, &given, "both receivers number connections alike");
        }
        result = Some(given);
    }
    Ok(result.expect("there is at least one receiver"))
}
