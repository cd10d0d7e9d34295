//! Front end: frames from the MAC in; stored frames, and all that was read of each, out.
//!
//! ```text
//! frame -> Intake -> PadShift -> EthernetParser -+-> Delay S --+--> Delay 2 ---> store
//!                                                |             +--> TcpHeader --\
//!                                                |             +--> checksums ---> Verdict
//!                                                \-> IpParser --+--> Delay S ---/ --> frame_info
//! ```
//!
//! | enters     | `frame_*`: no ready, the wire does not wait; spacing: see [`intake`]           |
//! | leaves     | `store_*`: no ready; `frame_info` one cycle after the frame's `store_last` (of |
//! |            | a frame that is too long: after its true last beat), before the next one       |
//! | units      | one beat is W bits; `counts`: pulses, bit numbers in [`verdict`]               |
//! | latency    | last beat to `frame_info`: 6 cycles at W = 64, 7 at 128, 8 at 512; one more if |
//! |            | the last beat has no room for the pad's two octets                             |
//! | throughput | one beat per cycle                                                             |
//! | source     | IEEE 802.3, 802.1Q; RFC 791 (IPv4), RFC 1071, RFC 8200 (IPv6), RFC 9293 (TCP)  |
//!
//! A frame is dropped for the first of these reasons; `Verdict` holds them all:
//!
//! | reason                                                       | counter               |
//! |--------------------------------------------------------------|-----------------------|
//! | the device was off at the frame's first beat                 | `drop_disabled`       |
//! | the MAC reported an error, or the frame came too early       | `drop_mac_error`      |
//! | fewer than 14 octets                                         | `drop_runt`           |
//! | more than 9216 octets                                        | `drop_frame_too_long` |
//! | the IP header does not fit the frame, its version is not the | `drop_ip_malformed`   |
//! | type's, IHL is below 5, or the lengths contradict each other |                       |
//! | or the frame                                                 |                       |
//! | the IPv4 header checksum is wrong                            | `drop_ip_checksum`    |
//! | the TCP header does not fit the IP payload                   | `drop_tcp_malformed`  |
//!
//! The segment's bounds are known one cycle after the first word of the IP header was captured. At
//! W = 64 that word comes two beats before the first word that depends on them, at 128 one, at 512
//! none: the delay `S` = 0, 1, 2 makes up for it.
//!
//! | W   | LUT4  | registers | clock   | measured with                                     |
//! |-----|-------|-----------|---------|---------------------------------------------------|
//! | 64  | 1,081 | 2,570     | 213 MHz | LFE5UM5G-85F speed 8, nextpnr-ecp5 seed 1, out of |
//! |     |       |           |         | context                                           |
//! | 128 | 2,040 | 3,535     | 199 MHz | the same                                          |
pub mod intake;
pub mod headers;
pub mod checksums;
pub mod verdict;

mod delay;
pub mod ones_sum;

use crate::messages::FrameInfo;
use checksums::{HeaderChecksum, TcpChecksum};
use delay::Delay;
use headers::{EthernetParser, IpFields, IpParser, LinkInfo};
use intake::{FrameControl, Intake, PadShift};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;
use verdict::{TcpHeader, Verdict};

/// Front end for beats of `W` bits: `L` words, `K` octets; `S`: see above; `G`, `NW`, `KN`, `AW`,
/// `AK`: see [`ones_sum::StreamSum`]. Use [`FrontEnd64`], [`FrontEnd128`] or
/// [`FrontEnd512`].
#[derive(LogicBlock, Init)]
#[init(
    // From the IPv4 header's first word to the first one that may be payload there are at least 5
    // words, 5 / L beats.
    assert!(
        matches!((W, S), (64, 0) | (128, 1) | (512, 2)),
        "FrontEnd: S = {S} does not fit W = {W}: 0 at 64, 1 at 128, 2 at 512"
    );
)]
pub struct FrontEnd<
    const W: usize,
    const L: usize,
    const K: usize,
    const S: usize,
    const G: usize,
    const NW: usize,
    const KN: usize,
    const AW: usize,
    const AK: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The reset pin, see [`Intake`].
    pub wire_reset: Signal<In, Bit>,
    /// The device is on; sampled with a frame's first beat.
    pub enable: Signal<In, Bit>,
    // Frames from the MAC, without FCS.
    /// Octet 0 in bits 7:0.
    pub frame_data: Signal<In, Bits<W>>,
    /// Valid octets of the beat: 1 to W/8, W/8 unless `frame_last`.
    pub frame_octets: Signal<In, Bits<7>>,
    /// Last beat of the frame.
    pub frame_last: Signal<In, Bit>,
    /// With `frame_last`: the FCS is wrong.
    pub frame_error: Signal<In, Bit>,
    pub frame_valid: Signal<In, Bit>,
    // Stored frames, for packet memory.
    /// Two zero octets, then the frame.
    pub store_data: Signal<Out, Bits<W>>,
    pub store_valid: Signal<Out, Bit>,
    /// With `store_valid`: last beat of the frame.
    pub store_last: Signal<Out, Bit>,
    pub frame_info: Signal<Out, FrameInfo>,
    pub frame_info_valid: Signal<Out, Bit>,
    /// `COUNT_*` of [`verdict`], for one cycle a frame.
    pub counts: Signal<Out, Bits<8>>,
    intake: Intake<W>,
    pad: PadShift<W>,
    parse: EthernetParser<W, L>,
    ip: IpParser<W, L>,
    tap_data: Delay<Bits<W>, S>,
    tap_control: Delay<FrameControl, S>,
    tap_link: Delay<LinkInfo, S>,
    later_data: Delay<Bits<W>, 1>,
    store_delay: Delay<Bits<W>, 1>,
    later_control: Delay<FrameControl, 2>,
    fields: Delay<IpFields, S>,
    header_checksum: HeaderChecksum<W, L, K, G, NW, KN, AW, AK>,
    tcp_head: TcpHeader<W, L>,
    tcp_checksum: TcpChecksum<W, L, K, G, NW, KN, AW, AK>,
    verdict: Verdict,
    read: Signal<Local, IpFields>,
    settled: Signal<Local, IpFields>,
    stored: Signal<Local, FrameControl>,
}

/// Front end at W = 64.
pub type FrontEnd64 = FrontEnd<64, 2, 8, 0, 1, 64, 8, 64, 8>;
/// Front end at W = 128.
pub type FrontEnd128 = FrontEnd<128, 4, 16, 1, 1, 128, 16, 64, 8>;
/// Front end at W = 512.
pub type FrontEnd512 = FrontEnd<512, 16, 64, 2, 4, 128, 16, 160, 20>;

impl<
        const W: usize,
        const L: usize,
        const K: usize,
        const S: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > Logic for FrontEnd<W, L, K, S, G, NW, KN, AW, AK>
{
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.{
            intake, pad, parse, ip, tap_data, tap_control, tap_link, later_data, store_delay,
            later_control, fields, header_checksum, tcp_head, tcp_checksum, verdict
        }; clock);
        wire!(self => self.{intake, pad, verdict}; reset);

        // Ethernet.
        wire!(self => self.intake;
            wire_reset, enable, frame_data, frame_octets, frame_last, frame_error, frame_valid);
        self.intake.overrun_counted.next = self.verdict.overrun_counted.val();
        wire!(self.intake => self.pad; beat_valid, beat, beat_data);
        wire!(self.pad => self.parse; control as control_in, data as data_in);

        // IP.
        wire!(self.parse => self.ip; control, data, link);
        self.read.next = self.ip.fields.val();
        self.fields.data_in.next = self.read.val();
        self.settled.next = self.fields.data_out.val();
        self.tap_data.data_in.next = self.parse.data.val();
        self.tap_control.data_in.next = self.parse.control.val();
        self.tap_link.data_in.next = self.parse.link.val();
        self.later_data.data_in.next = self.tap_data.data_out.val();
        self.later_control.data_in.next = self.tap_control.data_out.val();
        self.header_checksum.control.next = self.tap_control.data_out.val();
        self.header_checksum.link.next = self.tap_link.data_out.val();
        self.header_checksum.payload_start.next = self.read.val().payload_start;
        self.header_checksum.data_later.next = self.later_data.data_out.val();

        // TCP.
        self.tcp_head.control.next = self.tap_control.data_out.val();
        self.tcp_head.data.next = self.tap_data.data_out.val();
        self.tcp_head.payload_start.next = self.read.val().payload_start;
        self.tcp_checksum.control.next = self.tap_control.data_out.val();
        self.tcp_checksum.link.next = self.tap_link.data_out.val();
        self.tcp_checksum.payload_start.next = self.read.val().payload_start;
        self.tcp_checksum.ip_end.next = self.read.val().ip_end;
        self.tcp_checksum.data_later.next = self.later_data.data_out.val();
        self.tcp_checksum.segment_octets.next = self.settled.val().segment_octets;

        // The verdict.
        self.verdict.control.next = self.later_control.data_out.val();
        self.verdict.fields.next = self.settled.val();
        wire!(self.tcp_head => self.verdict; word0, word1, word2, word3, word5);
        self.verdict.header_good.next = self.header_checksum.good.val();
        self.verdict.tcp_good.next = self.tcp_checksum.good.val();
        self.verdict.overrun.next = self.intake.overrun.val();
        wire!(self.verdict => self; frame_info, frame_info_valid, counts);

        // The stored frame, one cycle ahead of its FrameInfo.
        self.stored.next = self.later_control.data_out.val();
        self.store_delay.data_in.next = self.later_data.data_out.val();
        self.store_data.next = self.store_delay.data_out.val();
        self.store_valid.next = self.stored.val().valid;
        self.store_last.next = self.stored.val().store_last;
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
