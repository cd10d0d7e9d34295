//! IP room: reads the IPv4 or IPv6 header, checks the IPv4 header checksum.
//!
//! ```text
//! beats, LinkInfo --+--> IpParse         captures the header words --> IpFields
//!                   \--> HeaderChecksum  one's complement sum of the IPv4 header
//! ```
//!
//! | enters  | beats of the stored frame, [`crate::receive::front_end::ethernet::beat::LinkInfo`] beside them      |
//! | leaves  | [`fields::IpFields`], final two cycles after the frame's `end` entered; the sum |
//! | units   | words of four octets from the start of the stored frame; octets                  |
//! | latency | 2 cycles                                                                         |
//! | source  | RFC 791 (IPv4), RFC 1071 (checksum), RFC 8200 (IPv6)                             |
//!
//! Drop reasons, in order of decision:
//!
//! | reason                                                   | counter             |
//! |----------------------------------------------------------|---------------------|
//! | the header does not fit the frame, the version is not    | `drop_ip_malformed` |
//! | the type's, IHL is below 5, or the lengths contradict    |                     |
//! | each other or the frame                                  |                     |
//! | the IPv4 header checksum is wrong                        | `drop_ip_checksum`  |
//!
//! To the host: what is neither IPv4 nor IPv6, IPv4 fragments, and all that does not carry TCP
//! directly; IPv6 extension headers are not walked.
pub mod checksum;
pub mod fields;
pub mod ones_sum;
pub mod stream_sum;
pub mod parse;
