//! What the wrapper calls the core's ports, and what they mean to a reader who has never seen the
//! core.
//!
//! A port belongs to a stream if its name is the stream's and one of [`SIGNALS`]; otherwise it is a
//! sideband. So two signals of a stream cannot be swapped by a slip in a table of ports.

/// A stream of the core.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Its name in the core.
    pub(crate) core: &'static str,
    /// Its name in the wrapper.
    pub(crate) name: &'static str,
    /// What it carries.
    pub(crate) meaning: &'static str,
    /// The core has no ready: it takes every beat.
    pub(crate) always_taken: bool,
}

/// All streams.
pub(crate) const STREAMS: [Stream; 6] = [
    Stream {
        core: "frame",
        name: "rx_frame",
        meaning:
            "Frames from the MAC, without FCS. The core never waits: `tready` is always 1, and \
                  what it has no room for is dropped and counted.",
        always_taken: true,
    },
    Stream {
        core: "tx",
        name: "tx_frame",
        meaning:
            "Frames to the MAC, without FCS. Once a frame has begun, `tvalid` stays high until \
                  its end.",
        always_taken: false,
    },
    Stream {
        core: "request",
        name: "tlp_request",
        meaning:
            "Requests to the function: reads and writes of BAR0. Other requests get Unsupported \
                  Request, or are dropped if they are posted.",
        always_taken: false,
    },
    Stream {
        core: "tlp",
        name: "tlp_send",
        meaning: "From the core: memory writes, MSI-X messages, and completions of BAR0 reads, in \
                  the order in which they must stay.",
        always_taken: false,
    },
    Stream {
        core: "read_request",
        name: "tlp_read",
        meaning:
            "From the core: memory read requests, a beat each. They may wait while `tlp_send` \
                  goes on.",
        always_taken: false,
    },
    Stream {
        core: "completion",
        name: "tlp_completion",
        meaning:
            "Completions of the core's reads, in any order that PCI Express allows. `tready` is \
                  always 1: the core asks for no more than it has room for.",
        always_taken: true,
    },
];

/// How a signal of the core becomes one of the wrapper.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The same bits.
    Same,
    /// A number of octets; outside one bit for each octet, contiguous from bit 0 on.
    Octets,
    /// One bit for each doubleword; outside one for each octet.
    Doublewords,
}

/// A signal of a stream.
#[derive(Debug)]
pub(crate) struct Signal {
    /// The end of its name in the core.
    pub(crate) core: &'static str,
    /// The end of its name in the wrapper.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) meaning: &'static str,
}

/// Signals of streams; a stream has some of them.
pub(crate) const SIGNALS: [Signal; 8] = [
    signal(
        "data",
        "tdata",
        Form::Same,
        "octets, the first one in bits 7:0",
    ),
    signal(
        "octets",
        "tkeep",
        Form::Octets,
        "a bit for each octet, contiguous from bit 0; all set but in the last beat",
    ),
    signal(
        "keep",
        "tkeep",
        Form::Doublewords,
        "a bit for each octet, alike in the four of a doubleword; all clear without payload",
    ),
    signal("last", "tlast", Form::Same, "last beat of the frame or TLP"),
    signal(
        "error",
        "tuser",
        Form::Same,
        "with the last beat: the frame is damaged (received: wrong FCS; sent: make it wrong)",
    ),
    signal(
        "header",
        "tuser",
        Form::Same,
        "header of the TLP, with its first beat: doubleword 0 (format and type in bits 31:24) in \
         bits 31:0, doubleword 3 in bits 127:96, unused if the header has three",
    ),
    signal("valid", "tvalid", Form::Same, "there is a beat"),
    signal("ready", "tready", Form::Same, "the beat is taken"),
];

const fn signal(
    core: &'static str,
    name: &'static str,
    form: Form,
    meaning: &'static str,
) -> Signal {
    Signal {
        core,
        name,
        form,
        meaning,
    }
}

/// A port that belongs to no stream.
#[derive(Debug)]
pub(crate) struct Sideband {
    /// Its name in the core.
    pub(crate) core: &'static str,
    /// Its name in the wrapper.
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

const fn sideband(core: &'static str, name: &'static str, meaning: &'static str) -> Sideband {
    Sideband {
        core,
        name,
        meaning,
    }
}

/// All sidebands.
pub(crate) const SIDEBANDS: [Sideband; 23] = [
    sideband(
        "clock",
        "clk",
        "the only clock; every port is synchronous to its rising edge",
    ),
    sideband(
        "reset",
        "rst",
        "synchronous, active high: power-up, or a reset of the link",
    ),
    sideband(
        "device_id",
        "function_id",
        "bus, device and function number, as configuration space was last addressed",
    ),
    sideband(
        "msix_enable",
        "msix_enable",
        "MSI-X Enable, of configuration space",
    ),
    sideband(
        "msix_mask",
        "msix_mask",
        "MSI-X Function Mask, of configuration space",
    ),
    sideband(
        "tick",
        "tick",
        "high for one cycle each microsecond: time-outs and hold-offs",
    ),
    sideband(
        "tx_pause",
        "tx_pause",
        "no frame may begin (IEEE 802.3, annex 31B)",
    ),
    sideband(
        "free_pages",
        "free_pages",
        "trace: free pages of packet memory",
    ),
    sideband(
        "stored_frames",
        "stored_frames",
        "trace: stored frames that wait for TCP",
    ),
    sideband(
        "segment_event_valid",
        "segment_event_valid",
        "trace: verdict on a segment",
    ),
    sideband(
        "segment_event_connection",
        "segment_event_connection",
        "its connection",
    ),
    sideband(
        "segment_event_verdict",
        "segment_event_verdict",
        "what became of it",
    ),
    sideband("segment_event_seg_seq", "segment_event_seg_seq", "SEG.SEQ"),
    sideband(
        "segment_event_seg_len",
        "segment_event_seg_len",
        "payload octets",
    ),
    sideband(
        "fpdu_event_valid",
        "fpdu_event_valid",
        "trace: outcome of an FPDU",
    ),
    sideband(
        "fpdu_event_connection",
        "fpdu_event_connection",
        "its connection",
    ),
    sideband(
        "fpdu_event_sequence",
        "fpdu_event_sequence",
        "sequence number of its first octet",
    ),
    sideband(
        "fpdu_event_ulpdu_length",
        "fpdu_event_ulpdu_length",
        "ULPDU_Length in octets",
    ),
    sideband(
        "fpdu_event_error",
        "fpdu_event_error",
        "its error, 0 for none",
    ),
    sideband("fpdu_event_opcode", "fpdu_event_opcode", "RDMAP opcode"),
    sideband(
        "fpdu_event_opcode_valid",
        "fpdu_event_opcode_valid",
        "the opcode is valid",
    ),
    sideband(
        "fpdu_event_placed_octets",
        "fpdu_event_placed_octets",
        "octets placed",
    ),
    sideband(
        "fpdu_event_placed_ooo",
        "fpdu_event_placed_ooo",
        "they were placed while octets before the FPDU were still missing",
    ),
];
