//! MPA's stream half: octets that TCP accepted become jobs for the packet reader.
//!
//! ```text
//! Accepted -> manager -> ReadJob -> (packet reader, fpdu) -> JobDone -> [ settle ] -> manager
//!                |
//!                +-> [ replays ] -> records that DDP keeps, to be delivered or forgotten
//! ```
//!
//! What lies beyond a gap is read as a stream of its own, a *span* (docs/adr/0014): `settle` holds
//! the end of its job back until DDP has reported on each of its FPDUs.
//!
//! A job begins at an FPDU's first octet, a leading marker included; its one `JobDone` follows the
//! last beat of its last whole FPDU. What it leaves unconsumed stays in packet memory; the pages
//! before it are released. Nothing is dropped here.
//!
//! Sources: RFC 5044; what TCP commits to is MPA-037, MPA-038.
pub mod context;
pub mod inbox;
pub mod event_decode;
pub mod manager_step;
pub mod manager_control;
pub mod stream_update;
pub mod slots;
pub mod frame_shares;
pub mod page_walk;
pub mod frame_queue;
pub mod job_sender;
pub mod early_runs;
pub mod span_store;
pub mod span_advance;
pub mod span_drop;
pub mod manager;
pub mod settle;
pub mod replays;
