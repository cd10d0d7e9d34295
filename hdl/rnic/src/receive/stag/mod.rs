//! The stag room: from an STag to a memory region, and the checks against that region.
//!
//! ```text
//! ddp: record --> hash --> lookup --> region check --> ddp: verdict, bus address
//! ```
//!
//! The room has no stream of its own; its blocks are stations of the pipeline of
//! [`crate::receive::ddp`], which owns the tables' bus, the order of records and the verdict.
//!
//! | block      | decides                                                          | latency |
//! |------------|------------------------------------------------------------------|---------|
//! | [`hash`]   | the slot of each way                                             | 0       |
//! | [`lookup`] | whether and where the STag is known (three ways, one read)       | 4       |
//! | [`region`] | key, validity, PD or stream, rights, octet-exact bounds, address | 2 to 4  |
//!
//! Refusals and their counters: `refuse_ddp_stag` (unknown, not valid, another key),
//! `refuse_ddp_association`, `refuse_rdmap_access`, `refuse_ddp_bounds`, and for a Send with
//! Invalidate `refuse_rdmap_invalidate`. `refuse_ddp_wrap` needs no region; ddp finds it.
//!
//! Source: RFC 5041 sections 7.1, 8.2 and 8.3; RFC 5040 sections 5.2 and 5.3.
pub mod hash;
pub mod lookup;
pub mod region;
pub mod room;
