//! TCP: which connection a stored frame belongs to, and which of its octets are taken.
//!
//! ```text
//!            +--> [ lookup: hash, 4 ways ] --> results --+
//! stored --->|                                           +--> [ acceptance ] --> accepted (MPA)
//!            +--> [ frames that wait, 16 ] --------------+       |   ^   |-----> host_frame
//!                                                                v   |   +-----> page_release
//!                                        ranges <--> walk <--> contexts
//!                                   free_pages --> reserve <--> (MPA: what is unfinished)
//! ```
//!
//! Enters: [`StoredFrame`](crate::messages::StoredFrame), each frame once. Leaves: each frame once,
//! as [`Accepted`](crate::messages::Accepted) octets (one message for each run of new octets, one
//! after the other), as a [`HostFrame`](crate::messages::HostFrame), or as a
//! [`PageChain`](crate::messages::PageChain) given back; in the order of arrival per destination.
//!
//! | what the segment is                          | leaves as      | counter                    |
//! |----------------------------------------------|----------------|----------------------------|
//! | `VERDICT_HOST`, or no connection has its key | `host_frame`   |                            |
//! | TCP checksum wrong                           | `page_release` | `DropTcpChecksum`          |
//! | SYN, RST or URG; FIN without payload         | `host_frame`   | `TcpControl`               |
//! | no payload                                   | `page_release` | `TcpPureAck`               |
//! | few pages are left, and they are not for it  | `page_release` | `DropTcpNoRoom`            |
//! | begins at or beyond the right edge           | `page_release` | `DropTcpOutsideWindow`     |
//! | begins beyond rcv_nxt (it is *early*):       |                |                            |
//! | ... and nothing of it is new                 | `page_release` | `DropTcpDuplicate`         |
//! | ... and early segments have their pages      | `page_release` | `DropTcpNoRoom`            |
//! | ... touches no range, and none can be opened | `page_release` | `DropTcpNoRange`           |
//! | ... else                                     | `accepted`     | `TcpOutOfOrder`            |
//! | ends at or before rcv_nxt                    | `page_release` | `DropTcpDuplicate`         |
//! | new octets, but the window is 0              | `page_release` | `DropTcpOutsideWindow`     |
//! | else: has the octet at rcv_nxt               | `accepted`     | `TcpInOrder`               |
//!
//! Tests in this order; accepted octets end at the window's right edge. An accepted segment that
//! begins before rcv_nxt, or of which octets were received before or not taken, counts as
//! `TcpTrimmed` too. SEG.ACK and SEG.WND are kept from "no payload" on. What reaches MPA is what
//! TCP commits to (MPA-037), each octet once (MPA-038).
//!
//! **Ranges.** What was received beyond gaps is kept as ranges `[left, right)` in a pool of 256
//! that all connections share, at most 16 a connection, in sequence order; no two of a connection
//! overlap or touch. `accepted` names them by number. A frame in early ranges is charged to its
//! connection (`EARLY_SHARE`) and to the device (`EARLY_PAGES`) with all its pages until the range
//! it became part of is in order or purged; 40 pages stay for segments in order. A segment that
//! goes over ranges is told in several runs; each but the last takes one of 64 keys until MPA is
//! done with it (`key_free`). Without a key the run is the last one taken of its segment; the peer
//! sends the rest again.
//!
//! **The reserve.** While fewer pages are free than register `IN_ORDER_RESERVE` says, a segment
//! with payload waits until MPA has said what its connection has unfinished. It is then judged with
//! the window that [`reserve`] gives it: to the end of its FPDU, its own if it is its connection's
//! turn, or none. What is old is a duplicate all the same; what lies in no window has no room.
//!
//! A duplicate ACK is due at once for an early segment, taken or not, and for one with nothing new
//! (RFC 5681 section 3.2), for one beyond the window (RFC 9293 section 3.10.7.4), and for one that
//! had no room: the context counts them for the driver.
//!
//! | latency    | 12 cycles, `stored` taken to `accepted_valid` (nothing else waiting)       |
//! | throughput | one frame per 5 cycles; with ranges or beyond a gap see [`walk`]           |
//! | tables     | `LOOKUP` (write), `TCP` (read, write, release); `EARLY`, `RANGE`, `IN_USE` |
//! |            | (read)                                                                     |
//! | ECP5-5G -8 | 5200 LUT4, 5862 FF, 49 DP16KD in the whole core at W = 64                      |

pub mod hash;
pub mod records;
pub mod way;
pub mod lookup;
pub mod class;
pub mod judge;
pub mod budget;
pub mod credits;
pub mod piece;
pub mod list;
pub mod walk;
pub mod reserve;
pub mod tables;
pub mod outcome;
pub mod outputs;
pub mod contexts;
pub mod accept;
pub mod room;

#[cfg(test)]
mod tests;
