//! Ethernet room: takes frames from the MAC, puts them in step, finds the network layer.
//!
//! ```text
//! MAC -> Intake -> PadShift -> EthernetParse -> ip, tcp
//!        elastic   2 octets     VLAN tags, type
//!                     \------------------------> Delay -> packet memory
//! ```
//!
//! | enters  | `frame_*`: at most one beat of W bits a cycle, no ready: the wire does not wait  |
//! | leaves  | the stored frame (two zero octets, then the frame); beside each beat           |
//! |         | [`beat::FrameControl`], and [`beat::LinkInfo`]: where the network layer begins |
//! | last    | `frame_last` ends a frame, `store_last` the stored one; `end`: all is known of |
//! |         | the frame, with `store_last`, and later only if the frame is too long          |
//! | latency | 3 cycles: port to stored beat 1, tags found 1, network layer placed 1          |
//! | source  | IEEE 802.3 clause 3 (frame), IEEE 802.1Q clause 9 (tags), RFC 894, RFC 2464    |
//!
//! Drop reasons, in order of decision:
//!
//! | reason                                         | counter                |
//! |------------------------------------------------|------------------------|
//! | the device was off at the frame's first beat   | `drop_disabled`        |
//! | the MAC marked it bad, or it came too early    | `drop_mac_error`       |
//! | fewer than 14 octets                           | `drop_runt`            |
//! | more than 9216 octets                          | `drop_frame_too_long`  |
//!
//! # Spacing
//!
//! A frame of n beats needs n cycles on the way out, one more if its last beat has no room for the
//! two octets of the pad, and two in any case. [`intake::Intake`] lends up to about six cycles;
//! frames that keep Ethernet's gap of 20 octets (preamble and inter-packet gap) pay them back at
//! W = 64 and 128 at once, and at W = 512 whenever frames come no faster than one in two cycles.
//! A frame that comes sooner still is refused whole and counted as `drop_mac_error`: such a MAC
//! breaks IEEE 802.3, and no state does.
pub mod beat;
pub mod delay;
pub mod intake;
pub mod pad;
pub mod parse;

#[cfg(test)]
pub(crate) mod testing;
