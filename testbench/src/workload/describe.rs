//! What a capture is to hold: every choice of `rnic gen`, and the limits of each.
//!
//! Sizes are in octets, rates are probabilities from 0 to 1, distances count segments of one
//! direction.

use crate::traffic::Cutter;
use crate::workload::oddity::Oddity;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::mpa::fpdu::{MULPDU_MIN, ULPDU_OCTETS_MAX};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Most connections of one capture.
pub const CONNECTIONS_MAX: usize = 64;
/// Most VLAN tags of a frame.
pub const VLAN_TAGS_MAX: usize = 2;
/// Largest datagram of a frame that the device takes with two tags.
pub const MTU_MAX: usize = MAX_FRAME_OCTETS - 14 - 4 * VLAN_TAGS_MAX;
/// Smallest MTU of an IPv4 link that hosts must accept whole (RFC 1122 section 3.3.2).
pub const MTU_MIN_V4: usize = 576;
/// Smallest MTU of an IPv6 link (RFC 8200 section 5).
pub const MTU_MIN_V6: usize = 1280;
/// Most messages of one capture.
pub const MESSAGES_MAX: usize = 1 << 20;
/// Tagged Offset of the first octet, if no other is asked for: odd, and 2^32 is crossed soon.
pub const TO_START: u64 = 0xffff_8003;
/// Most octets of messages in one capture: all of it is made in memory.
pub const MESSAGE_OCTETS_MAX: usize = 1 << 30;

/// A workload and the faults in it. The same description gives the same capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Seed of every random choice.
    pub seed: u64,
    /// TCP connections: 1 to 64.
    pub connections: usize,
    /// How segments of the connections take turns.
    pub interleave: Interleave,
    /// Messages of each direction of each connection, after the Send that opens it.
    pub messages: usize,
    /// Octets of a message, every size as likely; Read Requests have their own.
    pub sizes: RangeInclusive<usize>,
    /// Kinds of messages.
    pub mix: Mix,
    /// Longest ULPDU, 128 to 64768; what fits a segment, if absent.
    pub mulpdu: Option<usize>,
    /// How FPDUs are put into segments.
    pub cutter: Cutter,
    /// Which receivers ask for markers.
    pub markers: Markers,
    /// CRC32C is in use.
    pub crc: bool,
    /// MPA revision: 0, 1 or 2.
    pub revision: u8,
    /// IP version.
    pub ip: IpFamily,
    /// VLAN ids, outermost first.
    pub vlan: Vec<u16>,
    /// Every segment has TCP timestamps.
    pub timestamps: bool,
    /// Largest IP datagram.
    pub mtu: usize,
    /// Sequence number of the first octet of full operation in each direction; random if absent.
    pub sequence_start: Option<u32>,
    /// Tagged Offset of the first octet of each region.
    pub to_start: u64,
    /// MSN of the first message on each queue.
    pub msn_start: u32,
    /// Keys of the connections, and stag indices of a direction, are neighbours in the hash tables
    /// ([`crate::workload::neighbours`]).
    pub neighbours: bool,
    /// Both hosts of a connection give the same stag indices.
    pub same_stags: bool,
    /// All connections are between the same two hosts.
    pub one_pair: bool,
    /// Faults.
    pub faults: Faults,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            seed: 1,
            connections: 1,
            interleave: Interleave::Segment,
            messages: 20,
            sizes: 0..=4096,
            mix: Mix::default(),
            mulpdu: None,
            cutter: Cutter::Aligned,
            markers: Markers::Off,
            crc: true,
            revision: 1,
            ip: IpFamily::V4,
            vlan: Vec::new(),
            timestamps: false,
            mtu: 1500,
            sequence_start: None,
            to_start: TO_START,
            msn_start: 1,
            neighbours: false,
            same_stags: false,
            one_pair: false,
            faults: Faults::default(),
        }
    }
}

/// How segments of the connections take turns.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Interleave {
    /// After any segment another direction may go on.
    Segment,
    /// Only after a segment in which an FPDU ends: a receiver holds few incomplete FPDUs.
    Fpdu,
}

/// Which receivers ask for markers in their start-up frames (START-027).
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Markers {
    /// None.
    Off,
    /// The initiator: the responder sends them.
    Initiator,
    /// The responder: the initiator sends them.
    Responder,
    /// Both.
    Both,
}

/// IP version of the connections.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IpFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
    /// IPv4 for every other connection from the first on, IPv6 for the rest.
    Both,
}

/// How often each kind of message is chosen, against the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix(pub BTreeMap<Opcode, u32>);

impl Mix {
    /// The kinds there are to choose from; a Terminate would end its stream.
    pub const KINDS: [Opcode; 7] = [
        Opcode::RdmaWrite,
        Opcode::ReadRequest,
        Opcode::ReadResponse,
        Opcode::Send,
        Opcode::SendInvalidate,
        Opcode::SendSolicited,
        Opcode::SendSolicitedInvalidate,
    ];

    /// The weight of `kind`.
    pub fn weight(&self, kind: Opcode) -> u32 {
        self.0.get(&kind).copied().unwrap_or(0)
    }
}

impl Default for Mix {
    /// Mostly RDMA Writes, some of everything.
    fn default() -> Self {
        let weight = |kind: Opcode| match kind {
            Opcode::RdmaWrite => 4,
            Opcode::ReadResponse | Opcode::Send => 2,
            _ => 1,
        };
        let weights = Self::KINDS.map(|kind| (kind, weight(kind)));
        Self(weights.into_iter().collect())
    }
}

/// Faults and how often they happen. What opens a stream, up to the end of its first Send, is
/// spared: a responder may not speak before it has heard (START-014).
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// A segment is cut in two at any of its octets.
    pub resegment: f64,
    /// A segment with octets before and after a border is sent before that border.
    pub overlap: f64,
    /// A segment does not arrive.
    pub loss: f64,
    /// What is sent again of what did not arrive.
    pub resend: Resend,
    /// Segments until it is sent again.
    pub resend_after: usize,
    /// A segment arrives twice.
    pub duplicate: f64,
    /// A segment arrives late.
    pub reorder: f64,
    /// It is passed by 1 to so many segments.
    pub reorder_window: usize,
    /// One bit is wrong, by field.
    pub errors: BTreeMap<Field, f64>,
    /// Oddities, by kind.
    pub oddities: BTreeMap<Oddity, f64>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            resegment: 0.0,
            overlap: 0.0,
            loss: 0.0,
            resend: Resend::Lost,
            resend_after: 8,
            duplicate: 0.0,
            reorder: 0.0,
            reorder_window: 4,
            errors: BTreeMap::new(),
            oddities: BTreeMap::new(),
        }
    }
}

/// What is sent again.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Resend {
    /// The segment that did not arrive, as to a receiver that keeps what comes out of order.
    Lost,
    /// All from the gap on, cut anew, as to a receiver that takes octets in order only.
    All,
    /// Nothing: the stream stays broken.
    Never,
}

/// Where a wrong bit is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// IP header of a frame; a good frame follows as after loss.
    Ip,
    /// TCP header of a frame; a good frame follows as after loss.
    Tcp,
    /// TCP payload of a frame; a good frame follows as after loss.
    Payload,
    /// ULPDU_Length of an FPDU, under a right TCP checksum.
    Length,
    /// DDP header of an FPDU, under a right TCP checksum.
    Header,
    /// Payload of an FPDU, under a right TCP checksum.
    Data,
    /// CRC of an FPDU, under a right TCP checksum.
    Crc,
    /// FPDUPTR of a marker in an FPDU, under a right TCP checksum.
    Marker,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 8] = [
        Self::Ip,
        Self::Tcp,
        Self::Payload,
        Self::Length,
        Self::Header,
        Self::Data,
        Self::Crc,
        Self::Marker,
    ];

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Tcp => "tcp",
            Self::Payload => "payload",
            Self::Length => "length",
            Self::Header => "header",
            Self::Data => "data",
            Self::Crc => "crc",
            Self::Marker => "marker",
        }
    }

    /// Is it a field of a frame (and not of the stream)?
    pub const fn is_of_frame(self) -> bool {
        matches!(self, Self::Ip | Self::Tcp | Self::Payload)
    }
}

/// What cannot be generated. The words name the option of `rnic gen`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WorkloadError(String);

impl Workload {
    /// Can it be generated?
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.check_messages()?;
        self.check_frames()?;
        self.faults.check()?;
        let asked = |field| {
            self.faults
                .errors
                .get(&field)
                .is_some_and(|&rate| rate > 0.0)
        };
        require(
            self.crc || !(asked(Field::Length) || asked(Field::Header)),
            || {
                "--error length and --error header need the CRC: without it nothing detects a \
                 damaged header from a good one; leave out --no-crc"
                    .into()
            },
        )?;
        require(self.crc || self.faults.rate(Oddity::Differ) == 0.0, || {
            "--odd differ needs the CRC: a receiver that has lost the first copy takes the other; \
             leave out --no-crc"
                .into()
        })?;
        require(
            self.markers != Markers::Off || !asked(Field::Marker),
            || "--error marker needs --markers".into(),
        )
    }

    fn check_messages(&self) -> Result<(), WorkloadError> {
        let Self {
            connections,
            messages,
            ..
        } = *self;
        require((1..=CONNECTIONS_MAX).contains(&connections), || {
            format!("--connections {connections}: use 1 to {CONNECTIONS_MAX}")
        })?;
        let (least, most) = (self.sizes.start(), self.sizes.end());
        require(least <= most, || {
            format!("--sizes {least}..{most}: the first must not be above the second")
        })?;
        let all = messages.saturating_mul(2 * connections);
        require(all <= MESSAGES_MAX, || {
            format!("--connections and --messages: {all} messages; use at most {MESSAGES_MAX}")
        })?;
        let octets = most
            .saturating_mul(messages)
            .saturating_mul(2 * connections);
        require(octets <= MESSAGE_OCTETS_MAX, || {
            format!(
                "--connections, --messages and --sizes: up to {octets} octets of messages; use \
                 at most {MESSAGE_OCTETS_MAX}"
            )
        })?;
        let weights = self.mix.0.values().map(|&weight| u64::from(weight));
        require((1..1 << 32).contains(&weights.sum::<u64>()), || {
            "--mix: give some kind of message a weight, all together below 2^32".into()
        })?;
        let mulpdu = self.mulpdu.unwrap_or(MULPDU_MIN);
        require((MULPDU_MIN..=ULPDU_OCTETS_MAX).contains(&mulpdu), || {
            format!("--mulpdu {mulpdu}: use {MULPDU_MIN} to {ULPDU_OCTETS_MAX} (MPA-032)")
        })
    }

    fn check_frames(&self) -> Result<(), WorkloadError> {
        let (revision, mtu) = (self.revision, self.mtu);
        require(revision <= 2, || {
            format!("--revision {revision}: use 0, 1 or 2")
        })?;
        let least = match self.ip {
            IpFamily::V4 => MTU_MIN_V4,
            IpFamily::V6 | IpFamily::Both => MTU_MIN_V6,
        };
        require((least..=MTU_MAX).contains(&mtu), || {
            format!("--mtu {mtu}: use {least} to {MTU_MAX} with this --ip")
        })?;
        require(self.vlan.len() <= VLAN_TAGS_MAX, || {
            format!("--vlan: give at most {VLAN_TAGS_MAX} ids")
        })?;
        let odd = self.vlan.iter().find(|id| !(1..=4094).contains(*id));
        odd.map_or(Ok(()), |id| {
            let what = format!("--vlan {id}: use ids from 1 to 4094");
            Err(WorkloadError(what))
        })
    }
}

impl Faults {
    /// How often an oddity happens.
    pub fn rate(&self, oddity: Oddity) -> f64 {
        self.oddities.get(&oddity).copied().unwrap_or(0.0)
    }

    fn check(&self) -> Result<(), WorkloadError> {
        let rates = [
            ("--resegment", self.resegment),
            ("--overlap", self.overlap),
            ("--loss", self.loss),
            ("--duplicate", self.duplicate),
            ("--reorder", self.reorder),
        ];
        let errors = self.errors.values().map(|&rate| ("--error", rate));
        let oddities = self.oddities.values().map(|&rate| ("--odd", rate));
        for (option, rate) in rates.into_iter().chain(errors).chain(oddities) {
            require((0.0..=1.0).contains(&rate), || {
                format!("{option} {rate}: a rate is a number from 0 to 1")
            })?;
        }
        let distances = [
            ("--resend-after", self.resend_after),
            ("--reorder-window", self.reorder_window),
        ];
        for (option, distance) in distances {
            require((1..=1 << 20).contains(&distance), || {
                format!("{option} {distance}: use 1 to {} segments", 1 << 20)
            })?;
        }
        Ok(())
    }
}

fn require(good: bool, what: impl FnOnce() -> String) -> Result<(), WorkloadError> {
    match good {
        true => Ok(()),
        false => Err(WorkloadError(what())),
    }
}
