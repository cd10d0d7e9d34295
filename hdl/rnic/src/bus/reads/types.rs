//! Messages of the read engine and the sizes of its store.
use rust_hdl::prelude::*;

/// Octets of a tag's place in the store; no request asks for more.
pub const PLACE_OCTETS: usize = 512;
/// Words of the store: the places of 16 tags in words of 128 bits, or of 64 in words of 512.
pub const STORE_WORDS_LOG2: usize = 9;

/// Client to engine: octets of host memory to read.
///
/// A *read* is one command, or several of which all but the last have `more`; the octets of all of
/// them leave as one run, answered once.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadCommand {
    /// Bus address of the first octet.
    pub address: Bits<64>,
    /// Octets; 0 is refused, as is a range that passes the end of the address space.
    pub octets: Bits<14>,
    /// The octets of the next command follow in the same run.
    pub more: Bit,
    /// Comes back with the last beat, that of the last command of the read.
    pub cookie: Bits<8>,
}

/// The octets of one request, in its tag's place; both ends are part of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadSpan {
    /// The first one, which is its bus address modulo `PLACE_OCTETS`.
    pub first: Bits<9>,
    /// The last one.
    pub last: Bits<9>,
}

/// Requester to walker: a request that was sent, or what stands for those that cannot be.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadPart {
    /// The tag, unless `refused`.
    pub tag: Bits<6>,
    /// Tick in which the request was sent.
    pub issued: Bits<16>,
    /// As in [`ReadSpan`].
    pub first: Bits<9>,
    /// As in [`ReadSpan`].
    pub last: Bits<9>,
    /// There is no request: the rest of the command is not read.
    pub refused: Bit,
    /// The read ends with this part.
    pub ends: Bit,
    /// As in [`ReadCommand`].
    pub cookie: Bits<8>,
}

/// End of a read, in the order of the reads.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadEnd {
    /// As in [`ReadCommand`].
    pub cookie: Bits<8>,
    /// Octets are missing: the read has failed.
    pub error: Bit,
}

/// A completion for an open tag has passed.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletionReport {
    /// The tag.
    pub tag: Bits<6>,
    /// No further completion is due for it.
    pub over: Bit,
    /// Its octets are not all good.
    pub failed: Bit,
}

/// Causes, by their bit in the counts of the engine.
pub mod cause {
    /// The oldest request was not answered in time.
    pub const TIMED_OUT: usize = 0;
    /// A completion with status Unsupported Request, or one that is reserved for other requests.
    pub const UNSUPPORTED: usize = 1;
    /// A completion with status Completer Abort.
    pub const ABORTED: usize = 2;
    /// A poisoned completion.
    pub const POISONED: usize = 3;
    /// A completion that is not what is due next for its tag, or has not the payload that its
    /// header says.
    pub const MALFORMED: usize = 4;
    /// A completion for no open tag; it has no effect.
    pub const UNEXPECTED: usize = 5;
    /// A completion for a tag in quarantine.
    pub const LATE: usize = 6;
    /// A command that cannot be read: no octets, past the end of memory, or every tag in
    /// quarantine.
    pub const REFUSED: usize = 7;
    /// Number of causes.
    pub const COUNT: usize = 8;
}
