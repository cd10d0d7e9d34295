//! What the self-test plays: small streams of one connection, each with something else to show.
//!
//! A capture without start-up frames keeps a scene short; how the stream begins is said beside it.

use crate::play::regions::RegionOverride;
use crate::play::{play, Conditions, DutKind, Options, PlayError, Report};
use crate::traffic::frame::{FLAG_ACK, FLAG_FIN, FLAG_PSH};
use crate::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};
use indicatif::ProgressBar;
use rnic_abi::sizes::Sizes;
use rnic_capture::{Capture, StartupOverride};
use rnic_sim::transcript::Entry;
use rnic_sim::Transcript;

/// Sequence number of the streams' first octets: it passes zero.
const SEQUENCE_START: u32 = 0xffff_ff80;
/// Acknowledged in every segment.
const ACKNOWLEDGEMENT: u32 = 0x1234_5678;
/// STag of the region that is written.
const STAG: u32 = 0x0012_3456;
/// Tagged Offset of its first octet.
const OFFSET: u64 = 0xffff_fff1;
/// Longest ULPDU, so that messages have several segments.
const MULPDU: usize = 128;

/// Cycles from one frame to the next: its way through the core, so that the order of what two
/// frames cause does not depend on how long the player takes for a frame.
const FRAME_CYCLES: u64 = 250;

/// A scene of the self-test.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name in the report.
    pub name: &'static str,
    /// Frames in the order of their arrival.
    pub frames: Vec<Vec<u8>>,
    /// How the stream begins.
    pub startup: StartupOverride,
    /// Regions instead of those that the stream needs.
    pub regions: Option<Vec<RegionOverride>>,
    /// The device sends the frames to itself.
    pub loopback: bool,
}

/// A scene that was played by hardware and model.
#[derive(Clone, Debug)]
pub struct PlayedScene {
    /// All that crossed the core's ports.
    pub transcript: Vec<Entry>,
    /// What the comparison says.
    pub report: Report,
}

/// All scenes in their order.
pub fn all() -> Vec<Scene> {
    vec![in_order(), out_of_order(), refused(), loopback()]
}

impl Scene {
    /// Play it on the smallest core and on the model.
    pub fn play(&self, progress: &ProgressBar) -> Result<PlayedScene, PlayError> {
        let capture = Capture::new(self.name, self.frames.clone());
        let flows = rnic_capture::flows(&capture, Some(self.startup));
        let transcript = Transcript::default();
        let mut conditions = Conditions::default();
        conditions.surroundings.frame_cycles_min = FRAME_CYCLES;
        let options = Options {
            dut: DutKind::Both,
            width: 64,
            sizes: Sizes::SMALLEST,
            regions: self.regions.clone(),
            loopback: self.loopback,
            conditions,
            transcript: Some(transcript.clone()),
            ..Options::default()
        };
        let report = play(&capture, &flows, &options, progress)?;
        Ok(PlayedScene {
            transcript: transcript.take(),
            report,
        })
    }
}

/// A stream that becomes frames, an FPDU in each.
struct Stream {
    sender: Sender,
    builder: FrameBuilder,
}

impl Stream {
    fn new(markers: bool) -> Self {
        Self {
            sender: Sender::new(StreamConfig {
                markers,
                crc: true,
                version: 1,
                sequence_start: SEQUENCE_START,
                mulpdu: MULPDU,
            }),
            builder: FrameBuilder::new(Endpoint::host(1, 40_000), Endpoint::host(2, 4420)),
        }
    }

    /// The segment that holds an FPDU.
    fn segment(&self, fpdu: usize) -> Vec<u8> {
        let octets = self.sender.fpdus()[fpdu].octets.clone();
        let sequence = self.sender.sequence(octets.start);
        let payload = &self.sender.stream()[octets];
        let flags = FLAG_ACK | FLAG_PSH;
        self.builder
            .segment(sequence, ACKNOWLEDGEMENT, flags, payload)
    }

    /// A segment without payload after the whole stream.
    fn empty(&self, flags: u8) -> Vec<u8> {
        let sequence = self.sender.sequence(self.sender.stream().len());
        self.builder.segment(sequence, ACKNOWLEDGEMENT, flags, &[])
    }

    fn startup(&self) -> StartupOverride {
        let config = self.sender.config();
        StartupOverride {
            markers: config.markers,
            crc: config.crc,
            start: config.sequence_start,
        }
    }

    /// A scene that plays `frames`.
    fn scene(&self, name: &'static str, frames: Vec<Vec<u8>>) -> Scene {
        Scene {
            name,
            frames,
            startup: self.startup(),
            regions: None,
            loopback: false,
        }
    }
}

/// Octets that differ from their neighbours.
fn octets(count: usize) -> Vec<u8> {
    (0..count).map(|octet| (octet * 89 + 7) as u8).collect()
}

/// A Send and an RDMA Write of several segments each, and the end of the stream for the host.
fn in_order() -> Scene {
    let mut stream = Stream::new(false);
    stream.sender.send(&octets(150));
    stream.sender.rdma_write(STAG, OFFSET, &octets(201));
    stream.sender.send_solicited(&octets(21));
    let fpdus = 0..stream.sender.fpdus().len();
    let mut frames: Vec<Vec<u8>> = fpdus.map(|fpdu| stream.segment(fpdu)).collect();
    frames.push(stream.empty(FLAG_ACK | FLAG_FIN));
    stream.scene("in order", frames)
}

/// With markers: segments are lost and come again in another order, one of them twice. The first
/// one beyond the gap is the one with a marker inside, which proves that an FPDU begins with it: it
/// is placed before its turn, and so is the one after it.
///
/// Each segment touches those that are there, so that they are one range. With a second one, the
/// numbers of ranges, which the driver reads, would depend on what was before a reset.
fn out_of_order() -> Scene {
    let mut stream = Stream::new(true);
    stream.sender.send(&octets(40));
    stream.sender.rdma_write(STAG, OFFSET, &octets(440));
    stream.sender.send(&octets(20));
    let order = [0, 4, 5, 3, 4, 2, 1];
    let frames = order.map(|fpdu| stream.segment(fpdu)).to_vec();
    stream.scene("out of order", frames)
}

/// The region ends within the second of two RDMA Writes: it is refused, and so is what follows.
fn refused() -> Scene {
    let mut stream = Stream::new(false);
    stream.sender.rdma_write(STAG, OFFSET, &octets(64));
    stream.sender.rdma_write(STAG, OFFSET + 64, &octets(64));
    stream.sender.send(&octets(16));
    let frames = [0, 1, 2].map(|fpdu| stream.segment(fpdu)).to_vec();
    let region = RegionOverride {
        stag: STAG,
        base: Some(OFFSET),
        length: Some(127),
        flow: None,
        rights: None,
        protection_domain: None,
    };
    Scene {
        regions: Some(vec![region]),
        ..stream.scene("refused", frames)
    }
}

/// Frames that the device reads from host memory and sends to itself, the last two for software.
///
/// The device asks for a frame in three reads, or in two if the driver has copied all of it, as it
/// does with a segment without payload. Together these are 16 reads: tags of reads are given in
/// turn, also across a reset, and so all 16 are used and a further run begins where this one did.
fn loopback() -> Scene {
    let mut stream = Stream::new(true);
    stream.sender.send(&octets(60));
    stream.sender.rdma_write(STAG, OFFSET, &octets(50));
    stream.sender.rdma_write(STAG, OFFSET + 50, &octets(13));
    stream.sender.send(&octets(5));
    let mut frames = [0, 1, 2, 3].map(|fpdu| stream.segment(fpdu)).to_vec();
    frames.push(stream.empty(FLAG_ACK));
    frames.push(stream.empty(FLAG_ACK | FLAG_FIN));
    Scene {
        loopback: true,
        ..stream.scene("loopback", frames)
    }
}
