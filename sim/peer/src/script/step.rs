//! What the peer can do, as it stands in a file of cases.

use serde::Deserialize;

/// One thing that the peer does.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// A good start-up: a Request and its Reply.
    Start(Start),
    /// A Request, as the case has it.
    Request(Frame),
    /// A Reply, as the case has it; the Request has been waited for.
    Reply(Frame),
    /// Octets of the stream that are no frame of any kind.
    Raw(Raw),
    /// A Send.
    Send(Segment),
    /// A Send with Invalidate.
    SendInvalidate(Segment),
    /// An RDMA Write.
    Write(Segment),
    /// An RDMA Read Request.
    Read(Segment),
    /// A segment of the Response to the target's Read Request.
    Response(Segment),
    /// A Terminate.
    Terminate(Segment),
    /// An FPDU without an octet.
    Empty(Segment),
    /// Wait for something of the target's.
    Await(Awaited),
    /// A good ping as `rping` has it, from its first message to its last.
    Ping(Ping),
    /// Do nothing for so many milliseconds.
    Pause(u64),
    /// A FIN.
    Close(Nothing),
    /// An RST.
    Reset(Nothing),
    /// What becomes of segments from here on.
    Faults(Faults),
    /// A segment that TCP has not made.
    Forge(Forge),
}

/// No options.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Ready-to-receive messages of the peer-to-peer model (RFC 6581 section 9.2).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rtr {
    /// A zero-length FPDU.
    Fpdu,
    /// A zero-length RDMA Write.
    Write,
    /// A zero-length RDMA Read Request.
    Read,
}

/// A good start-up.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Start {
    pub revision: u8,
    pub markers: bool,
    pub crc: bool,
    pub ird: u16,
    pub ord: u16,
    /// Ready-to-receive messages that are offered: the peer-to-peer model.
    pub rtr: Vec<Rtr>,
    /// Octet by octet.
    pub singly: bool,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            revision: 2,
            markers: false,
            crc: true,
            ird: 1,
            ord: 1,
            rtr: Vec::new(),
            singly: false,
        }
    }
}

/// A start-up frame.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Frame {
    pub revision: u8,
    /// Letters of M, C, R and S.
    pub flags: String,
    /// Reserved bits of the octet of flags.
    pub reserved: u8,
    /// The other frame's key.
    pub other_key: bool,
    /// An octet of the key, and the bits of it that are changed.
    pub key_flip: Option<[u8; 2]>,
    /// Words of the enhanced data: A, B and IRD, then C, D and ORD.
    pub enhanced: Option<[u16; 2]>,
    /// S without enhanced data.
    pub bare: bool,
    /// Octets of Private Data after that.
    pub private: u16,
    /// PD_Length, if it is not that of the Private Data.
    pub length: Option<u16>,
    /// Octets of the frame that are sent.
    pub keep: Option<usize>,
    /// An FPDU shares its last segment.
    pub early: bool,
    /// Octet by octet.
    pub singly: bool,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            revision: 2,
            flags: "CS".into(),
            reserved: 0,
            other_key: false,
            key_flip: None,
            enhanced: None,
            bare: false,
            private: 0,
            length: None,
            keep: None,
            early: false,
            singly: false,
        }
    }
}

/// Octets of the stream.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Raw {
    /// As text.
    pub text: String,
    /// So many zeros after it.
    pub zeros: usize,
}

/// A region of the target's, or a record of one's own.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Which {
    /// What is read.
    Source,
    /// What is written.
    Sink,
    /// Where the target wants its own Read's octets.
    Read,
}

/// A DDP segment in an FPDU.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Segment {
    /// Payload: where one's own buffer is, as `rping` says it.
    pub record: Option<Which>,
    /// From this octet of the record to before that one.
    pub part: Option<[usize; 2]>,
    /// Octets of payload, or of what is read.
    pub octets: Option<u32>,
    /// The target's region.
    pub at: Option<Which>,
    /// Octets from the region's first one on.
    pub offset: i64,
    /// They count from its end.
    pub end: bool,
    /// The Tagged Offset itself, as hex digits.
    pub to: Option<String>,
    /// The STag itself.
    pub stag: Option<u32>,
    /// Bits of the STag that are changed.
    pub stag_xor: u32,
    pub qn: Option<u32>,
    pub msn: Option<u32>,
    /// How far the MSN is from the one that is due.
    pub msn_off: i32,
    pub mo: u32,
    pub last: Option<bool>,
    pub tagged: Option<bool>,
    pub opcode: Option<u8>,
    pub ddp_version: Option<u8>,
    pub rdmap_version: Option<u8>,
    /// Reserved bits of both headers are set.
    pub reserved: bool,
    /// Layer, type and code of a Terminate.
    pub cause: Option<[u8; 3]>,
    /// Octets of the ULPDU that are left of it.
    pub keep: Option<usize>,
    /// Octets that follow it.
    pub more: usize,
    /// An octet of the FPDU, from its end if below zero, and the bits of it that are changed.
    pub flip: Option<[i64; 2]>,
    /// The CRC is right in spite of that.
    pub sealed: bool,
    /// What PAD is filled with, under a right CRC.
    pub pad: Option<u8>,
    /// A marker in it, and the bits of its four octets that are changed under a right CRC.
    pub marker: Option<[u32; 2]>,
    /// Octet by octet.
    pub singly: bool,
    /// Octets of each TCP segment but the last.
    pub pieces: Vec<usize>,
    /// It shares a TCP segment with the next one.
    pub joined: bool,
    /// So many of them.
    pub times: Option<u32>,
    /// The Terminate is to be about this one; by default the last one.
    pub bad: bool,
}

/// What can be waited for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Awaited {
    /// The target's Request.
    Request,
    /// The target's Reply, which accepts.
    Reply,
    /// Everything that was sent is acknowledged.
    Acknowledged,
    /// The target's Read Request.
    Read,
    /// A message that lets the peer go ahead.
    GoAhead,
    /// The target's Write, and the message after it.
    Write,
    /// The record of what is to be read.
    Source,
    /// The record of what is to be written.
    Sink,
    /// All of the Response to the peer's Read.
    Response,
    /// A FIN, without a Terminate.
    Fin,
}

/// A good ping.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ping {
    /// FPDUs leave octet by octet.
    pub singly: bool,
    /// FPDUs leave in TCP segments of so many octets.
    pub pieces: Option<usize>,
    /// Segments of the Response and the Write; otherwise one.
    pub segments: Option<u32>,
    /// Octets of the buffer; otherwise 64.
    pub octets: Option<u32>,
}

/// What becomes of segments with octets, which are numbered from 1 on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Faults {
    /// Of those that leave, these are lost.
    pub lost: Vec<u32>,
    /// Of those that leave, these do so twice.
    pub twice: Vec<u32>,
    /// Of those that leave, these do so after the next one.
    pub late: Vec<u32>,
    /// Of those that come, these are lost.
    pub unheard: Vec<u32>,
}

/// A forged segment: the last one that left, changed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Forge {
    pub rst: bool,
    pub syn: bool,
    /// How far its SEG.SEQ is from the next one that is due.
    pub off: i32,
    /// How far its SEG.ACK is from the last one.
    pub ack_off: i32,
    /// Octets of payload.
    pub octets: usize,
}
