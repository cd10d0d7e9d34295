//! What a host does on its wire, so that connections can be there: no I/O and no clock.
//!
//! ```text
//!  frames of the host ring --> Interface --> TCP segments, smaller MTUs
//!                                 |
//!      transmit rings <-----------+---- ARP, NDP, echo replies, packets whose next hop is known
//! ```
//!
//! | file           | what                                                                    |
//! |----------------|-------------------------------------------------------------------------|
//! | [`settings`]   | addresses, gateways, VLAN and MTU, and what is wrong with them          |
//! | `link`         | Ethernet and VLAN headers                                               |
//! | `neighbours`   | which MAC address has the next hop, and packets that wait for it        |
//! | `answers`      | packets that the interface sends of itself                              |
//! | `fragments`    | packets that come in parts                                              |
//! | [`interface`]  | what becomes of a frame, and where a packet goes                        |
//! | [`segments`]   | TCP segments between frames and `rnic-tcp`                              |
//!
//! Time is in microseconds from the caller. Formats are `smoltcp`'s.

pub mod settings;
mod link;
mod neighbours;
mod answers;
mod fragments;
pub mod interface;
pub mod segments;

pub use interface::{Arrived, Interface, InterfaceCounts, Unroutable};
pub use link::LinkHeader;
pub use segments::{Ends, SegmentError, SegmentHeader};
pub use settings::{AddressPrefix, Settings, SettingsError};
