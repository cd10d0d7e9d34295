//! Ethernet: type field after up to two VLAN tags (IEEE 802.3, 802.1Q).

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86dd;
const TYPE_CUSTOMER_TAG: u16 = 0x8100;
const TYPE_SERVICE_TAG: u16 = 0x88a8;
const TAGS_MAX: usize = 2;

/// An IP datagram with what follows it in the frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Datagram<'a> {
    /// The type field says IPv4.
    V4(&'a [u8]),
    /// The type field says IPv6.
    V6(&'a [u8]),
}

/// The datagram of a frame, or `None` if it carries something else.
pub fn payload(frame: &[u8]) -> Option<Datagram<'_>> {
    let mut at = 12;
    for tag in 0..=TAGS_MAX {
        let kind = u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        match kind {
            TYPE_IPV4 => return Some(Datagram::V4(&frame[at..])),
            TYPE_IPV6 => return Some(Datagram::V6(&frame[at..])),
            TYPE_CUSTOMER_TAG | TYPE_SERVICE_TAG if tag < TAGS_MAX => at += 2,
            _ => return None,
        }
    }
    None
}
