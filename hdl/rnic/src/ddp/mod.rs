//! The ddp room: from an FPDU of MPA to a place command, by the rules of DDP and RDMAP.
//!
//! ```text
//!             +--------------------------------------------------------------+
//!  record --->| FIFO 16 --> lookups --> checks --> verdict --> compose       |---> command
//!  verdict -->| FIFO 32 ---------------------------^                         |
//!             |               ^           ^           |                      |---> stopped
//!             |      table port --> stag, region, queue, pool, context RAMs  |---> fpdu_event,
//!  table  <-->|                                                              |     counts
//!             +--------------------------------------------------------------+
//! ```
//!
//! | message                 | unit and meaning                                               |
//! |-------------------------|----------------------------------------------------------------|
//! | `record: FpduRecord` in | one FPDU, or one frame for the host, in stream order; no ready |
//! | `record_room`           | two records more can be taken                                  |
//! | `fpdu_verdict` in       | CRC and markers of one FPDU, in the order of the records that  |
//! |                         | have one, and after its record; no ready                       |
//! | `command: PlaceCommand` | one for each record that occupies beats or owes an Error entry |
//! | `stopped: Bits<10>`     | the connection that the FPDU of the last command put in error  |
//! | `fpdu_event: FpduEvent` | one cycle, for each FPDU of a connection not in error          |
//! | `count_fpdu`            | one cycle, counter `fpdus`                                     |
//! | `error_number`          | with `error_valid`, one cycle, counter `FIRST_REFUSAL + n - 1` |
//! | table bus               | tables DDP, QUEUE, QUEUE_TAIL, RECEIVE_POOL, STAG, REGION      |
//!
//! | latency    | 11 cycles, `record_valid` to `command_valid`, in an empty room, or 3 from  |
//! |            | `fpdu_verdict_valid`, if that is later;                                    |
//! |            | no FPDU takes longer (an STag to invalidate is looked up like any other)   |
//! | throughput | one record per 6 cycles, whatever its verdict                              |
//! | units      | octets, beats of the placement buffer, words of 32 bits                    |
//! | size       | before the verdict had a FIFO of its own, not measured again since:        |
//! |            | 1,104 LUT4, 318 carry cells, 2,666 FF, 76 LUT RAMs, 46 block RAMs (ECP5)   |
//! | speed      | 198 MHz, LFE5UM5G-85F speed 8, out of context, seed 1, before `commit` had |
//! |            | a register; not measured again since                                       |
//!
//! The tests, in their order, are the table "ddp, stag" of ARCHITECTURE.md; each refusal is an
//! `rnic_abi::errors::StreamError` with a counter of its own (`refuse_*`). A refused FPDU writes
//! not one octet; its connection is in error until the driver writes its DDP context, and what
//! follows on it is thrown away in silence (RFC 5041 section 7.1).
//!
//! `FPDU_HOST` records pass without a test: `PLACE_HOST`, `octets` = `ulpdu_length`, the frame's
//! first page in bits 8:0 and last page in bits 24:16 of `cqe`. In an Error entry QN is the low two
//! bits of what was received. `cqe` is zero where no entry is due.
//!
//! | block         | does                                                                      |
//! |---------------|---------------------------------------------------------------------------|
//! | [`room`]      | FIFOs, outputs, joins the others                                          |
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
pub mod tables;
pub mod sequencer;
pub mod checks;
pub mod room;
