//! Inline sizes and remote invalidation in the private data of a connection (RFC 8797).
//!
//! ```text
//!  |  f6 ab 0e 18  |  01   | flags | send size | receive size |
//!      format id    version  bit 0: remote     size / 1024 - 1
//!                            invalidation
//! ```
//!
//! The eight octets are the first of the private data; on iWARP they follow IRD and ORD, which the
//! connection's start-up takes away. An end without them has the limits of RFC 5666, 6.1.

/// Octets of the message.
pub const PRIVATE_DATA_OCTETS: usize = 8;
/// The octets by which the message is known.
const FORMAT: [u8; 4] = [0xf6, 0xab, 0x0e, 0x18];
/// The only version there is.
const VERSION: u8 = 1;
/// The unit of both sizes.
const UNIT_OCTETS: u32 = 1024;
/// The longest Send that the message can describe.
const SIZE_OCTETS_MAX: u32 = 256 * UNIT_OCTETS;
/// Flag: the sender lets its peer invalidate the handles that it offers.
const REMOTE_INVALIDATION: u8 = 1;

/// The octets that every end sends and receives in one Send, without a word about it
/// (RFC 5666, 6.1: RPC-035).
pub const INLINE_OCTETS_DEFAULT: u32 = 1024;

/// What an end says of itself while a connection starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivateData {
    /// The peer may invalidate a handle of this end by Send with Invalidate.
    pub remote_invalidation: bool,
    /// The longest Send of this end, in octets: a multiple of 1,024 up to 262,144.
    pub send_octets: u32,
    /// The longest Send that this end receives, in octets: a multiple of 1,024 up to 262,144.
    pub receive_octets: u32,
}

impl Default for PrivateData {
    /// What an end without the message is taken to be.
    fn default() -> Self {
        Self {
            remote_invalidation: false,
            send_octets: INLINE_OCTETS_DEFAULT,
            receive_octets: INLINE_OCTETS_DEFAULT,
        }
    }
}

/// A size as its octet; between two units it is the smaller one, so that nothing is promised that
/// is not there.
fn code(octets: u32) -> u8 {
    (octets.clamp(UNIT_OCTETS, SIZE_OCTETS_MAX) / UNIT_OCTETS - 1) as u8
}

fn octets(code: u8) -> u32 {
    (u32::from(code) + 1) * UNIT_OCTETS
}

impl PrivateData {
    /// The message at the head of private data; `None` if there is another one, or a version that
    /// is not known. What follows it is left alone.
    #[must_use]
    pub fn parse(private_data: &[u8]) -> Option<Self> {
        let message = private_data.first_chunk::<PRIVATE_DATA_OCTETS>()?;
        let [f0, f1, f2, f3, version, flags, send, receive] = *message;
        let known = [f0, f1, f2, f3] == FORMAT && version == VERSION;
        known.then(|| Self {
            remote_invalidation: flags & REMOTE_INVALIDATION != 0,
            send_octets: octets(send),
            receive_octets: octets(receive),
        })
    }

    /// The octets of the message. Sizes are rounded down to 1,024 octets, and are at least that.
    #[must_use]
    pub fn to_octets(self) -> [u8; PRIVATE_DATA_OCTETS] {
        let [f0, f1, f2, f3] = FORMAT;
        let flags = if self.remote_invalidation {
            REMOTE_INVALIDATION
        } else {
            0
        };
        let (send, receive) = (code(self.send_octets), code(self.receive_octets));
        [f0, f1, f2, f3, VERSION, flags, send, receive]
    }

    /// The longest Send from this end to `peer`.
    #[must_use]
    pub fn inline_octets_to(self, peer: Self) -> u32 {
        self.send_octets.min(peer.receive_octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of the capture `nfs-v3.pcap`.
    const CLIENT: [u8; 8] = [0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3];
    const SERVER: [u8; 8] = [0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3];

    #[test]
    fn octets_of_the_capture() {
        let client = PrivateData {
            remote_invalidation: true,
            send_octets: 4096,
            receive_octets: 4096,
        };
        assert_eq!(PrivateData::parse(&CLIENT), Some(client));
        assert_eq!(client.to_octets(), CLIENT);
        let server = PrivateData {
            remote_invalidation: false,
            ..client
        };
        assert_eq!(PrivateData::parse(&SERVER), Some(server));
        assert_eq!(server.to_octets(), SERVER);
    }

    /// RPC-035: without the message an end has what RFC 5666, 6.1 promises.
    #[test]
    fn what_is_not_the_message_is_not_read() {
        assert_eq!(PrivateData::parse(&CLIENT[..7]), None);
        for octet in 0..5 {
            let mut other = CLIENT;
            other[octet] ^= 4;
            assert_eq!(PrivateData::parse(&other), None, "octet {octet}");
        }
        let default = PrivateData::default();
        assert_eq!((default.send_octets, default.receive_octets), (1024, 1024));
        assert!(!default.remote_invalidation);
    }

    #[test]
    fn octets_after_and_other_flags_are_left_alone() {
        let longer = [CLIENT.as_slice(), &[0xff; 5]].concat();
        assert_eq!(PrivateData::parse(&longer), PrivateData::parse(&CLIENT));
        let mut flags = SERVER;
        flags[5] = 0xfe;
        assert_eq!(PrivateData::parse(&flags), PrivateData::parse(&SERVER));
    }

    #[test]
    fn sizes_at_their_limits() {
        let sized = |send_octets, receive_octets| {
            let data = PrivateData {
                send_octets,
                receive_octets,
                ..PrivateData::default()
            };
            let [.., send, receive] = data.to_octets();
            (send, receive)
        };
        assert_eq!(sized(0, 1024), (0, 0));
        assert_eq!(sized(2047, 2048), (0, 1));
        assert_eq!(sized(262_143, 262_144), (254, 255));
        assert_eq!(sized(u32::MAX, 1), (255, 0));
        let mut largest = CLIENT;
        largest[6] = 255;
        assert_eq!(
            PrivateData::parse(&largest).map(|data| data.send_octets),
            Some(262_144)
        );
    }

    #[test]
    fn the_smaller_of_two_sizes_counts_in_each_direction() {
        let (mut a, mut b) = (PrivateData::default(), PrivateData::default());
        (a.send_octets, a.receive_octets) = (8192, 2048);
        (b.send_octets, b.receive_octets) = (4096, 16_384);
        assert_eq!((a.inline_octets_to(b), b.inline_octets_to(a)), (8192, 2048));
    }
}
