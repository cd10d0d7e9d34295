//! TCP: which connection a stored frame belongs to, and which of its octets are taken.
//!
//! ```text
//!            +--> [ lookup: hash, 4 ways ] --> results --+
//! stored --->|                                           +--> [ acceptance ] --> accepted (MPA)
//!            +--> [ frames that wait, 16 ] --------------+       |   ^   |-----> host_frame
//!                                                                v   |   +-----> page_release
//!                                                             contexts
//! ```
//!
//! Enters: [`StoredFrame`](crate::messages::StoredFrame), each frame once. Leaves: each frame once,
//! as [`Accepted`](crate::messages::Accepted) octets, as a
//! [`HostFrame`](crate::messages::HostFrame), or as a [`PageChain`](crate::messages::PageChain)
//! given back; in the order of arrival per destination.
//!
//! | what the segment is                          | leaves as      | counter                    |
//! |----------------------------------------------|----------------|----------------------------|
//! | `VERDICT_HOST`, or no connection has its key | `host_frame`   |                            |
//! | TCP checksum wrong                           | `page_release` | `DropTcpChecksum`          |
//! | SYN, RST or URG; FIN without payload         | `host_frame`   | `TcpControl`               |
//! | no payload                                   | `page_release` | `TcpPureAck`               |
//! | begins at or beyond the right edge           | `page_release` | `DropTcpOutsideWindow`     |
//! | begins beyond rcv_nxt                        | `page_release` | `DropTcpOutOfOrder`        |
//! | ends at or before rcv_nxt                    | `page_release` | `DropTcpDuplicate`         |
//! | new octets, but the window is 0              | `page_release` | `DropTcpOutsideWindow`     |
//! | begins before rcv_nxt, has new octets        | `accepted`     | `TcpTrimmed`, `TcpInOrder` |
//! | begins at rcv_nxt                            | `accepted`     | `TcpInOrder`               |
//!
//! Tests in this order; accepted octets end at the window's right edge. SEG.ACK and SEG.WND are
//! kept from "no payload" on. What reaches MPA is what TCP commits to (MPA-037), each octet once
//! (MPA-038).
//!
//! | latency    | 12 cycles, `stored` taken to `accepted_valid` (nothing else waiting)       |
//! | throughput | one frame per 5 cycles                                                     |
//! | tables     | `LOOKUP` (write), `TCP` (read and write)                                   |

pub mod hash;
pub mod records;
pub mod way;
pub mod lookup;
pub mod judge;
pub mod head;
pub mod checksum;
pub mod accept;
pub mod room;

#[cfg(test)]
mod tests;
