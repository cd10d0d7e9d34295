//! A difference between hardware and model, as a person needs it: frames, flow, place, what was
//! expected and what was found.

use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Octets of memory shown from the first wrong one on.
const SHOWN_OCTETS: usize = 16;

/// What differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The verdict on a segment; the place is its number.
    Segment,
    /// A slot of the host receive ring; the place is its number.
    HostSlot,
    /// What became of an FPDU; the place is its number in the flow.
    Fpdu,
    /// A completion entry, or what it announces; the place is its number in the flow.
    Completion,
    /// A delivered message; the place is its number in the flow.
    Message,
    /// Memory of a region; the place is an octet from its start.
    Region {
        /// STag.
        stag: u32,
    },
    /// Memory of a receive buffer; the place is an octet from its start.
    Buffer {
        /// Queue.
        qn: u32,
        /// MSN of the message it was posted for.
        msn: u32,
    },
    /// Was memory written after a close had returned?
    AfterClose,
    /// TCP state of a connection when it is closed.
    TcpState,
    /// What the event ring said of a connection, when it is closed.
    Events,
    /// A counter.
    Counter(&'static str),
    /// A fault outside of the comparison: a malformed packet, a write outside mapped memory, a
    /// leak.
    Fault,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// First and last frame, counted from 1, among which it arose; absent if it may be any.
    pub frames: Option<[usize; 2]>,
    /// Flow concerned.
    pub flow: Option<usize>,
    /// What differs.
    pub what: What,
    /// Its number, or the octet in it.
    pub place: Option<u64>,
    /// What the model has.
    pub expected: String,
    /// What the hardware has.
    pub found: String,
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self.frames {
            Some([first, last]) if first == last => write!(f, "frame {first}: ")?,
            Some([first, last]) => write!(f, "frames {first} to {last}: ")?,
            None => {}
        }
        if let Some(flow) = self.flow {
            write!(f, "flow {flow}: ")?;
        }
        let place = self.place.unwrap_or(0);
        match &self.what {
            What::Segment => write!(f, "segment {place}")?,
            What::HostSlot => write!(f, "host ring slot {place}")?,
            What::Fpdu => write!(f, "FPDU {place}")?,
            What::Completion => write!(f, "completion entry {place}")?,
            What::Message => write!(f, "message {place}")?,
            What::Region { stag } => write!(f, "region {stag:#010x}, octet {place:#x}")?,
            What::Buffer { qn, msn } => {
                write!(f, "buffer of queue {qn} for MSN {msn}, octet {place:#x}")?;
            }
            What::AfterClose => write!(f, "memory written after its close had returned")?,
            What::TcpState => write!(f, "TCP state at the end")?,
            What::Events => write!(f, "events, the last one with the reasons of all")?,
            What::Counter(name) => write!(f, "counter {name}")?,
            What::Fault => return f.write_str(&self.found),
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

/// The first octets of `octets` in hexadecimal.
pub fn octets(octets: &[u8]) -> String {
    let shown = octets.iter().take(SHOWN_OCTETS);
    let shown: Vec<String> = shown.map(|octet| format!("{octet:02x}")).collect();
    let more = if octets.len() > SHOWN_OCTETS {
        " ..."
    } else {
        ""
    };
    format!("{}{more}", shown.join(" "))
}
