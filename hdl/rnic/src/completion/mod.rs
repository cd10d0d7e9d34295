//! Completion: queue entries and slot headers, each one TLP, each after what it announces.
//!
//! ```text
//! request --> [FIFO 16] --+
//! payload_done --> count -+--> writer --> one TLP (32 octets to the CQ, 16 to a host slot)
//!      cq_base, entries, consumer --^
//! ```
//!
//! A request waits for its `payload_done`: by then the TLPs with its octets have been taken by the
//! TLP mux, so the entry comes behind them on the stream. An entry of the completion queue further
//! waits while the queue is full or off; requests behind it then wait too, and in the end placement
//! does. Nothing is dropped here. Latency: 5 cycles from `payload_done` to the TLP's first beat.
//! An entry takes 4 cycles.
//!
//! | counter       | when                                        |
//! |---------------|---------------------------------------------|
//! | `Completions` | an entry's TLP has been taken               |
//! | `HostFrames`  | a slot header's TLP has been taken          |
pub mod writer;

use rust_hdl::prelude::*;

/// Placement to completion: what to write when the octets have left.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletionRequest {
    /// A slot header of the host ring ([`SlotHeaderWords`]) instead of a completion queue entry.
    pub host: Bit,
    /// Words 0 to 6 of the entry, word 0 in bits 31:0.
    pub words: Bits<224>,
}

/// [`CompletionRequest::words`] for a slot header.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotHeaderWords {
    /// Octets of the frame.
    pub octets: Bits<32>,
    /// Bus address of the slot.
    pub address: Bits<64>,
    /// Phase and number of the slot.
    pub word_3: Bits<32>,
    /// Zero.
    pub unused: Bits<96>,
}
