//! Stored frames made octet by octet, for the tests of the blocks that read them.
use super::headers::LinkInfo;
use super::intake::FrameControl;
use rnic_hdl_tools::testkit::{bits_of, Random};
use rust_hdl::prelude::*;

/// `octets` as a beat; the rest is random.
pub fn beat<const W: usize>(octets: &[u8], random: &mut Random) -> Bits<W> {
    let mut beat = octets.to_vec();
    beat.resize_with(W / 8, || random.bits() as u8);
    bits_of(&beat)
}

/// The checksum of RFC 1071 over `octets`, a field of 0 among them.
pub fn checksum(octets: &[u8]) -> [u8; 2] {
    let words = octets.chunks(2);
    let words = words.map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

/// Whether the checksum block `$uut` finds `$frame` good; data come one beat after control.
macro_rules! is_good {
    ($uut:expr, $width:literal, $frame:expr, $random:expr) => {{
        let (uut, mut later) = (&mut $uut, Default::default());
        for (control, data) in stored::<$width>($frame, $random) {
            uut.control.next = control;
            uut.data_later.next = later;
            later = data;
            uut.tick();
        }
        uut.control.next.valid = false;
        uut.data_later.next = later;
        uut.ticks(2);
        uut.good.val()
    }};
}
pub(in crate::receive::front_end) use is_good;

/// The beats of `frame` as `PadShift` gives them.
pub fn stored<const W: usize>(frame: &[u8], random: &mut Random) -> Vec<(FrameControl, Bits<W>)> {
    let padded = [&[0, 0], frame].concat();
    let beats = padded.chunks(W / 8).enumerate().map(|(number, octets)| {
        let last = (number + 1) * (W / 8) >= padded.len();
        let control = FrameControl {
            valid: true,
            first: number == 0,
            store_last: last,
            end: last,
            row: (number.min(15) as u64).into(),
            beat: (number as u64).into(),
            frame_octets: (padded.len().min((number + 1) * (W / 8)) as u64 - 2).into(),
            ..Default::default()
        };
        (control, beat(octets, random))
    });
    beats.collect()
}

/// The decoded Ethernet header of a frame with `tags` VLAN tags.
pub fn link(tags: u64, ipv6: bool) -> LinkInfo {
    LinkInfo {
        vlan_one: tags == 1,
        vlan_two: tags == 2,
        ipv4: !ipv6,
        ipv6,
        start: (4 + tags).into(),
        address_start: (4 + tags + if ipv6 { 2 } else { 3 }).into(),
        payload_floor: (4 + tags + if ipv6 { 10 } else { 5 }).into(),
        type_octets: (14 + 4 * tags).into(),
        header_octets: (14 + 4 * tags + if ipv6 { 40 } else { 20 }).into(),
    }
}
