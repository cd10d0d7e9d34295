//! Occasional irregularities of networks and peers other than loss and bit errors, each with its
//! own rate.
//!
//! | kind | of | what happens |
//! |---|---|---|
//! | `ip_options` | segment | its IPv4 header has options |
//! | `fragments` | segment | its datagram comes in two fragments; a whole one follows as after loss |
//! | `too_long` | segment | its frame is padded to one octet too many; a good one follows as after loss |
//! | `longest` | segment | its frame is padded to the longest there may be |
//! | `runt` | segment | a frame shorter than an Ethernet header comes before it |
//! | `stranger` | segment | a copy from a neighbour in the connection table comes before it |
//! | `window` | segment | it advertises another window |
//! | `sack` | segment | an acknowledgement with a SACK block comes before it |
//! | `differ` | segment | its octets that arrived before are others now |
//! | `fin` | segment | it ends the stream and has FIN |
//! | `terminate` | message | a Terminate instead of it |
//! | `reuse` | message | a tagged message goes to an STag that the stream has invalidated |

use serde::Serialize;

/// A kind of oddity.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Oddity {
    /// The IPv4 header of a frame has options (RFC 791 section 3.1).
    IpOptions,
    /// A datagram comes in two fragments: IPv4's, or by the header of RFC 8200 section 4.5. The
    /// device does not put them together, so a good frame follows as after loss.
    Fragments,
    /// A frame is padded to one octet more than the device takes; a good frame follows as after
    /// loss.
    TooLong,
    /// A frame is padded to the most octets that the device takes.
    Longest,
    /// A frame is shorter than an Ethernet header.
    Runt,
    /// A copy of a segment under another key: in one 16-bit piece, and with the same slot in one
    /// way of the device's table.
    Stranger,
    /// A segment advertises a window of its own.
    Window,
    /// A copy of octets that arrived before holds others; the first copy counts. Needs the CRC.
    Differ,
    /// The last segment of a stream has FIN.
    Fin,
    /// A Terminate in the middle of a stream, which goes on.
    Terminate,
    /// A tagged message to an STag that was invalidated.
    Reuse,
    /// An acknowledgement without payload has a SACK block (RFC 2018).
    Sack,
}

impl Oddity {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::IpOptions,
        Self::Fragments,
        Self::TooLong,
        Self::Longest,
        Self::Runt,
        Self::Stranger,
        Self::Window,
        Self::Differ,
        Self::Fin,
        Self::Terminate,
        Self::Reuse,
        Self::Sack,
    ];

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IpOptions => "ip_options",
            Self::Fragments => "fragments",
            Self::TooLong => "too_long",
            Self::Longest => "longest",
            Self::Runt => "runt",
            Self::Stranger => "stranger",
            Self::Window => "window",
            Self::Differ => "differ",
            Self::Fin => "fin",
            Self::Terminate => "terminate",
            Self::Reuse => "reuse",
            Self::Sack => "sack",
        }
    }

    /// Does its segment not arrive, so that it is sent again?
    pub const fn is_loss(self) -> bool {
        matches!(self, Self::Fragments | Self::TooLong)
    }
}
