//! Flow control of one direction of a link: what the receiver has room for, and who must wait.
//!
//! ```text
//!   transmitter                                                    receiver
//!     ready(class)?   --- TLP: consumes credits of its class --->    buffer
//!     credit limit    <-- credits returned, some ticks later ----    release
//! ```
//!
//! - `class`: the three classes of packets and what each packet costs.
//! - `advertised`: what a receiver offers at the start, finite or infinite.
//! - `ledger`: [`FlowControl`], the counters of one direction.
//! - `stall`: [`Stall`], cycles in which a class does not move although it has credits.
//!
//! A class without credits waits alone; the others go on (section 2.4.1 depends on it).
//! Source: PCI Express Base Specification 5.0, section 2.6.1. Not modelled: scaled flow control
//! (section 3.4.2), the packets of the data link layer that carry the counters, and virtual
//! channels other than 0.

mod class;
mod advertised;
mod ledger;
mod stall;

pub use advertised::{Advertised, AdvertisedError, Units};
pub use class::{CreditKind, Credits, FlowClass, DATA_CREDIT_OCTETS};
pub use ledger::{FlowControl, NotHeld, Shortage};
pub use stall::Stall;
