//! PCI Express: one TLP stream out, BAR0 requests in.
//!
//! ```text
//! payload TLPs -----+
//! completion TLPs --+--> mux --> register slice --> tlp
//! read completions -+
//!        ^
//! BAR endpoint <-- request          BAR endpoint <--> register bus (csr)
//! ```
//!
//! Enters: TLPs of placement and completion; BAR0 requests of one doubleword (`request_header`,
//! `request_data`). Leaves: the TLP stream, `tlp_last` ends a TLP, `tlp_header` stands beside all
//! its beats; accesses on the register bus. Latency: 1 cycle through the mux, 12 to 80 from a read
//! request to its completion. Throughput: one beat per cycle; one BAR request at a time.
//!
//! Nothing is dropped but what the endpoint ignores: posted requests other than a memory write of
//! one whole doubleword, poisoned writes, completions. Non-posted requests other than a memory read
//! of one doubleword are answered with Unsupported Request. Source: PCI Express Base Specification.

pub mod endpoint;
pub mod header;
pub mod mux;
pub mod room;

#[cfg(test)]
mod tests;
