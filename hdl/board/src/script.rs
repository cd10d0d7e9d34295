//! The script of a self-test: what the player gives the core, in which order, what it waits for,
//! and what the report says.
//!
//! | entered by | the generator, from a run that was compared with the model                    |
//! | left as    | words of 72 bits: operation in bits 67:64, flags in 71:68, data in bits 63:0  |
//! | units      | cycles of the core's clock; TLPs and read requests since [`Word::Begin`]      |
//! | signatures | CRC32C over the doublewords of headers, as many as their format says, and of  |
//! |            | payload, least significant octet first                                        |

/// Bits of a word.
pub const WORD_BITS: usize = 72;
/// log2 of the words that the script memory holds.
pub const ADDRESS_BITS: usize = 12;
/// Words that the script memory holds.
pub const WORDS: usize = 1 << ADDRESS_BITS;
/// Cycles from one word to the next, if the first one does not wait.
pub const WORD_CYCLES: usize = 4;
/// Cycles for which [`Word::Begin`] holds the core's reset pin.
pub const RESET_CYCLES: usize = 16;
/// Cycles after which a [`Word::Wait`] no longer waits for counts; the scene has failed then.
pub const TIMEOUT_CYCLES: usize = 1 << 16;
/// Bit of the first doubleword of a header that has four.
pub const FOUR_DWORDS: u32 = 1 << 29;
/// Octets of a report.
pub const REPORT_OCTETS: usize = 4096;

/// Operations, bits 67:64.
mod operation {
    pub const END: u64 = 0;
    pub const HEADER_LOW: u64 = 1;
    pub const HEADER_HIGH: u64 = 2;
    pub const PAYLOAD_HIGH: u64 = 3;
    pub const REQUEST: u64 = 4;
    pub const COMPLETION: u64 = 5;
    pub const FRAME: u64 = 6;
    pub const WAIT: u64 = 7;
    pub const BEGIN: u64 = 8;
    pub const EXPECT: u64 = 9;
    pub const TEXT: u64 = 10;
    pub const HEX: u64 = 11;
}

/// When a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always = 0,
    /// If the last [`Word::Expect`] held.
    Held = 1,
    /// If it did not.
    Failed = 2,
    /// If every one of the run has held.
    AllHeld = 3,
    /// If one of the run has not.
    AnyFailed = 4,
}

/// What [`Word::Hex`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The first doubleword of payload of the last completion that the core has sent.
    Answer = 0,
    /// The signature of posted requests and completions.
    Tlps = 1,
    /// The signature of read requests.
    Reads = 2,
}

/// One step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The run has ended; nothing follows.
    End,
    /// Doublewords 0 and 1 of the header of what follows, the first one in bits 31:0; kept until
    /// the next such word, as are the two below.
    HeaderLow(u64),
    /// Doublewords 2 and 3 of the header.
    HeaderHigh(u64),
    /// Doublewords 2 and 3 of the beats that follow.
    PayloadHigh(u64),
    /// A beat of a BAR request, when the core takes it.
    Request {
        /// Doublewords 0 and 1 of the beat.
        low: u64,
        /// Last beat of the TLP.
        last: bool,
    },
    /// A beat of a completion for a read request of the core.
    Completion {
        /// Doublewords 0 and 1 of the beat.
        low: u64,
        /// Doublewords that count, 0 to 4.
        dwords: u8,
        /// Last beat of the TLP.
        last: bool,
    },
    /// A beat of a frame from the wire.
    Frame {
        /// Octets, the first in bits 7:0.
        octets: u64,
        /// Those that count, 1 to 8.
        count: u8,
        /// Last beat of the frame.
        last: bool,
    },
    /// Goes on when the core has sent so many TLPs since the last [`Word::Begin`], and then
    /// `cycles` cycles later. If it has not in [`TIMEOUT_CYCLES`], the run has failed, and no word
    /// waits for TLPs until the next [`Word::Begin`].
    Wait {
        /// Cycles beyond that.
        cycles: u32,
        /// Posted requests and completions.
        tlps: u16,
        /// Read requests.
        reads: u16,
    },
    /// A scene: resets the core, and counts and signs what it sends from here on.
    Begin,
    /// Compares the signatures of what the core has sent since [`Word::Begin`]; fails if a word has
    /// waited in vain since then.
    Expect {
        /// Of posted requests and completions.
        tlps: u32,
        /// Of read requests.
        reads: u32,
    },
    /// Eight characters of the report; those that are 0 are left out.
    Text {
        /// Whether they are written.
        when: When,
        /// The characters, the first in bits 7:0.
        text: u64,
    },
    /// A value of 32 bits in the report, as eight hexadecimal digits.
    Hex(Value),
}

impl Word {
    /// The word as it stands in the memory.
    pub fn encode(self) -> u128 {
        use operation::*;
        let (operation, flags, data) = match self {
            Word::End => (END, 0, 0),
            Word::HeaderLow(data) => (HEADER_LOW, 0, data),
            Word::HeaderHigh(data) => (HEADER_HIGH, 0, data),
            Word::PayloadHigh(data) => (PAYLOAD_HIGH, 0, data),
            Word::Request { low, last } => (REQUEST, u64::from(last) << 3, low),
            Word::Completion { low, dwords, last } => {
                (COMPLETION, u64::from(last) << 3 | u64::from(dwords), low)
            }
            Word::Frame {
                octets,
                count,
                last,
            } => (FRAME, u64::from(last) << 3 | u64::from(count - 1), octets),
            Word::Wait {
                cycles,
                tlps,
                reads,
            } => {
                let counts = u64::from(tlps) << 48 | u64::from(reads) << 32;
                (WAIT, 0, counts | u64::from(cycles))
            }
            Word::Begin => (BEGIN, 0, 0),
            Word::Expect { tlps, reads } => (EXPECT, 0, u64::from(reads) << 32 | u64::from(tlps)),
            Word::Text { when, text } => (TEXT, when as u64, text),
            Word::Hex(value) => (HEX, value as u64, 0),
        };
        u128::from(flags << 4 | operation) << 64 | u128::from(data)
    }
}

/// Words that write `text`, eight characters each.
pub fn text(when: When, text: &str) -> impl Iterator<Item = Word> + '_ {
    text.as_bytes().chunks(8).map(move |part| {
        let mut octets = [0; 8];
        octets[..part.len()].copy_from_slice(part);
        Word::Text {
            when,
            text: u64::from_le_bytes(octets),
        }
    })
}
