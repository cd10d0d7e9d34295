//! Stored frames made octet by octet, for the tests of the blocks that read them.
use super::headers::LinkInfo;
use super::intake::FrameControl;
use rnic_hdl_tools::testkit::Random;
use rust_hdl::prelude::*;

/// `octets` as a beat; the rest is random.
pub fn beat<const W: usize>(octets: &[u8], random: &mut Random) -> Bits<W> {
    let mut beat: Bits<W> = random.wide();
    for (place, octet) in octets.iter().enumerate() {
        for bit in 0..8 {
            beat = beat.replace_bit(8 * place + bit, octet >> bit & 1 == 1);
        }
    }
    beat
}

/// The beats of `frame` as `PadShift` outputs them.
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
