//! The ddp room: from an FPDU of MPA to a place command, by the rules of DDP and RDMAP.
//!
//! ```text
//!             +--------------------------------------------------------------+
//!  record --->| FIFO 16 --> lookups --> checks --> verdict --> compose       |---> command
//!  verdict -->| FIFO 32 ---------------------------^  |                      |---> stopped
//!             |    ^                                  v                      |---> fpdu_event,
//!             |    +--- records of early FPDUs, by span -------------------- |     counts
//!  replay --->|               ^           ^                                  |---> early_result
//!  table  <-->|      table port --> stag, region, queue, pool, context RAMs  |---> replayed
//!             +--------------------------------------------------------------+
//! ```
//!
//! | message                 | unit and meaning                                               |
//! |-------------------------|----------------------------------------------------------------|
//! | `record: FpduRecord` in | one FPDU, or one frame for the host; of a connection in stream |
//! |                         | order but for the early ones; no ready                         |
//! | `record_room`           | two records more can be taken                                  |
//! | `fpdu_verdict` in       | CRC and markers of one FPDU, in the order of the records that  |
//! |                         | have one, and after its record; no ready                       |
//! | `early_result`          | one cycle, for each `FPDU_EARLY`, with its command; no ready   |
//! | `early_octets`          | one cycle, payload octets of a good one (0 if it has none)     |
//! | `replay: Replay` in     | what becomes of the records of a span                          |
//! | `replayed: Replayed`    | the records are in the FIFO, or forgotten                      |
//! | `command: PlaceCommand` | one for each record that occupies beats or owes an entry       |
//! | `stopped: Bits<10>`     | the connection that ends with the FPDU of the last command     |
//! | `fpdu_event: FpduEvent` | one cycle, for each FPDU of a connection not in error          |
//! | `count_fpdu`            | one cycle, counter `fpdus`                                     |
//! | `error_number`          | with `error_valid`, one cycle, counter `FIRST_REFUSAL + n - 1` |
//! | table bus               | tables DDP, QUEUE, QUEUE_TAIL, RECEIVE_POOL, STAG, REGION      |
//!
//! | latency    | 11 cycles, `record_valid` to `command_valid`, in an empty room, or 3 from  |
//! |            | `fpdu_verdict_valid`, if that is later;                                    |
//! |            | no FPDU takes longer (an STag to invalidate is looked up like any other);  |
//! |            | 8 cycles, `replay_valid` to its first record in the FIFO, then 4 from one  |
//! |            | to the next, and 2 from the last one to `replayed_valid`                   |
//! | throughput | one record per 6 cycles, whatever its verdict                              |
//! | units      | octets, beats of the placement buffer, words of 32 bits                    |
//! | size       | 2,166 LUT4, 375 carry cells, 3,454 FF, 84 LUT RAMs, 54 block RAMs (ECP5),  |
//! |            | 8 of them for the records of early FPDUs                                   |
//! | speed      | 180 MHz, LFE5UM5G-85F speed 8, out of context, seed 1; its worst path,     |
//! |            | from a push to the links of [`spans`], is gone and was not measured again  |
//!
//! The tests, in their order, are the table "ddp, stag" of ARCHITECTURE.md; each refusal is an
//! `rnic_abi::errors::StreamError` with a counter of its own (`refuse_*`). A refused FPDU writes
//! not one octet; its connection is in error until the driver writes its DDP context, and what
//! follows on it is thrown away in silence (RFC 5041 section 7.1).
//!
//! A Terminate of the peer is delivered, and then its connection is in error likewise, without an
//! entry of its own (RFC 5040 section 5.6).
//!
//! **Early FPDUs** lie beyond a gap. `FPDU_EARLY` meets the same tests, but that its MSN may be
//! any posted one. If it passes, and begins with an FPDU for sure, and does not follow one of its
//! job that failed, and there is a place for its record, then its payload goes to memory at once:
//! RFC 5041 section 5.3 allows placement in any order. Nothing else comes of it: no completion
//! entry, no MSN, no invalidation, no event. If it fails, nothing at all comes of it. When the gap
//! has closed, its record is replayed in its place in the stream, as `FPDU_DELIVER`, through all
//! tests once more, and gives what it would have given in order; only its octets are not moved
//! again. A connection in error discards it in silence like all else. `FPDU_FAULT` has no octets
//! and no header: it is refused as a marker error at `sequence`, with ULPDU_Length 0 and the same
//! sequence number after it.
//!
//! 511 records are kept at most. In the first 512 cycles after a reset there is room for none.
//!
//! `FPDU_HOST` records pass without a test: `PLACE_HOST`, `octets` = `ulpdu_length`, the frame's
//! first page in bits 8:0 and last page in bits 24:16 of `cqe`. In an Error entry QN is the low two
//! bits of what was received. `cqe` is zero where no entry is due.
//!
//! | block         | does                                                                      |
//! |---------------|---------------------------------------------------------------------------|
//! | [`room`]      | outputs, FIFO of verdicts, joins the others                               |
//! | [`entrance`]  | FIFO of records, those of MPA and the replayed ones                       |
//! | [`deferred`]  | records of early FPDUs and their replay; joins [`kept`], which holds them |
//! |               | in block RAM, and [`spans`]: which place is whose                         |
//! | [`early`]     | does an early FPDU follow a bad one?                                      |
//! | [`sequencer`] | when a record enters the checks and leaves them                           |
//! | [`checks`]    | all memories and tests                                                    |
//! | [`header`]    | octets to fields, payload, ends; [`octet_order`] turns the octets round   |
//! | [`untagged`]  | joins [`pool`]: queue and MSN to buffer, MO and length against it, and    |
//! |               | [`queue`]: MSN against the expected and the posted ones                   |
//! | [`context`]   | Protection Domain, version, error, first FPDU                             |
//! | [`envelope`]  | the tests from length to opcode                                           |
//! | [`verdict`]   | CRC and markers, the tests from STag or MSN on, the first failing one,    |
//! |               | and what is due                                                           |
//! | [`command`]   | command, completion entry, event; [`terminate`] knows the Terminate codes |
//! | [`tables`]    | table operations, atomic between records                                  |
//! | [`segment`]   | what they hand each other                                                 |
//!
//! A table operation waits for at most one record's checks, and never for `command_ready` or for a
//! verdict: a record in the checks that waits for its verdict has changed nothing, is still the
//! head of the FIFO, goes back in front, and looks everything up again after the operation. It says
//! nothing of commands that were given before: whoever revokes an STag must also see those through.
//!
//! Source: RFC 5041, RFC 5040, RFC 6581 section 8; draft-ietf-rddp-mpa-02 for version 0.
pub mod segment;
pub mod octet_order;
pub mod header;
pub mod context;
pub mod pool;
pub mod queue;
pub mod untagged;
pub mod envelope;
pub mod verdict;
pub mod terminate;
pub mod command;
pub mod early;
pub mod entrance;
pub mod kept;
pub mod spans;
pub mod deferred;
pub mod tables;
pub mod sequencer;
pub mod checks;
pub mod room;
