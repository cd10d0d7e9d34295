//! What travels beside the beats of a frame.
//!
//! The *stored frame* is the frame behind two zero octets, so that everything after the Ethernet
//! header is aligned to words of four octets. Word i of it is in beat i / L, lane i % L.
use rust_hdl::prelude::*;

/// Beside a beat as the MAC gave it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RawBeat {
    /// Valid octets of the beat.
    pub octets: Bits<7>,
    /// First beat of the frame.
    pub first: Bit,
    /// Last beat of the frame.
    pub last: Bit,
    /// With `last`: the MAC marked the frame bad.
    pub error: Bit,
    /// The device was off when the frame began.
    pub disabled: Bit,
    /// With `last`: the pad pushes octets of this beat into one beat more.
    pub spills: Bit,
    /// The frame has one beat, and so has the stored frame.
    pub short: Bit,
}

/// Beside a beat of the stored frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameControl {
    /// The beat belongs to the stored frame.
    pub valid: Bit,
    /// First beat (with `valid`).
    pub first: Bit,
    /// Last beat (with `valid`).
    pub store_last: Bit,
    /// All is known of the frame; what stands below is final. May come without `valid`.
    pub end: Bit,
    /// Number of the beat, 15 for all from the 16th on: no header reaches that far.
    pub row: Bits<4>,
    /// Number of the beat in the stored frame.
    pub beat: Bits<11>,
    /// Octets of the frame until here, without pad; above 9216 only known to be above.
    pub frame_octets: Bits<14>,
    /// The device was off when the frame began.
    pub disabled: Bit,
    /// The MAC marked the frame bad.
    pub mac_error: Bit,
    /// The frame has more than 9216 octets.
    pub too_long: Bit,
}

/// What the Ethernet header says, from the beat on in which the network layer begins.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LinkInfo {
    /// Exactly one VLAN tag.
    pub vlan_one: Bit,
    /// Two VLAN tags.
    pub vlan_two: Bit,
    /// The type after the tags is IPv4.
    pub ipv4: Bit,
    /// The type after the tags is IPv6.
    pub ipv6: Bit,
    /// Word of the stored frame at which the network layer begins: 4, 5 or 6.
    pub start: Bits<3>,
    /// Word at which the IP addresses begin.
    pub address_start: Bits<4>,
    /// First word that can hold IP payload: after the addresses.
    pub payload_floor: Bits<5>,
    /// Octets of a frame that has a whole type field.
    pub type_octets: Bits<5>,
    /// Octets of a frame that has a whole fixed IP header.
    pub header_octets: Bits<6>,
}
