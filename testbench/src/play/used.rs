//! A device that was used, and reset in mid-traffic: what it then does must not differ from what a
//! fresh one does.
//!
//! Connections with regions and posted buffers send at once, some with segments missing; after a
//! random number of cycles the device is reset, whatever it is at, and its driver gives all memory
//! back: a write to it from then on is a violation that the monitor records.

use crate::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use crate::traffic::{Sender, StreamConfig};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{Config, Device, Dma, DmaBuffer, DriverError, RegionConfig};
use rnic_sim::{attach, SimBar, SimDma, Simulation};
use std::cell::RefCell;
use std::rc::Rc;

/// Connections of a use.
const PEERS: usize = 12;
/// Messages of each.
const MESSAGES: usize = 6;
/// Longest message in octets.
const MESSAGE_OCTETS: usize = 6_000;
/// Segments are cut here.
const SEGMENT_OCTETS: usize = 1_400;
/// Cycles in which the reset may come: all frames take more.
const RESET_WITHIN: usize = 40_000;
const PROTECTION_DOMAIN: u16 = 5;
const WINDOW: u32 = 1 << 20;

/// The ends of connection `number`: of addresses that captures rarely have.
fn ends(number: usize) -> FrameBuilder {
    let end = |host: u8, port: u16| Endpoint {
        mac: [2, 0, 0, 0, 9, host],
        address: ([10, 99, 0, host], port).into(),
    };
    FrameBuilder::new(end(1, 50_000 + number as u16), end(2, 4_420))
}

/// One use of a device.
struct Use {
    device: Device<SimBar, SimDma>,
    memory: Vec<DmaBuffer>,
    frames: Vec<Vec<u8>>,
    random: ChaCha8Rng,
}

impl Use {
    /// Connection `number` with its region, its buffers and its frames.
    fn open(&mut self, number: usize) -> Result<(), DriverError> {
        let stream = StreamConfig {
            markers: number % 2 == 1,
            sequence_start: self.random.next_u32(),
            ..StreamConfig::default()
        };
        let builder = ends(number);
        let config = builder.connection(&stream, WINDOW, PROTECTION_DOMAIN);
        let connection = self.device.open_connection(&config)?;
        let octets = MESSAGES * MESSAGE_OCTETS;
        let region = self.device.dma().allocate("used region", octets, 64)?;
        let buffers = self.device.dma().allocate("used buffers", octets, 64)?;
        self.memory.extend([region, buffers]);
        let stag = 0x00a1_0000 + ((number as u32) << 8);
        self.device.register_region(&RegionConfig {
            stag,
            rights: RIGHT_REMOTE_WRITE,
            protection_domain: PROTECTION_DOMAIN,
            connection: None,
            tagged_offset: 0,
            octets: octets as u64,
            address: region.address,
        })?;
        self.device.open_queue(connection, 0, 3)?;
        let mut sender = Sender::new(stream);
        for message in 0..MESSAGES {
            let at = (message * MESSAGE_OCTETS) as u64;
            let mut data = vec![0; self.random.random_range(1..=MESSAGE_OCTETS)];
            self.random.fill_bytes(&mut data);
            if self.random.random() {
                sender.rdma_write(stag, at, &data);
                continue;
            }
            sender.send(&data);
            let buffer = DmaBuffer {
                address: buffers.address + at,
                octets: MESSAGE_OCTETS,
            };
            self.device.post_receive(connection, 0, buffer)?;
        }
        self.cut(&builder, &sender);
        Ok(())
    }

    /// Segments of a stream; one of eight is missing. Those of several streams come in turn.
    fn cut(&mut self, builder: &FrameBuilder, sender: &Sender) {
        for (index, octets) in sender.stream().chunks(SEGMENT_OCTETS).enumerate() {
            if self.random.random_ratio(1, 8) {
                continue;
            }
            let sequence = sender.sequence(index * SEGMENT_OCTETS);
            let at = self.random.random_range(0..=self.frames.len());
            let frame = builder.segment(sequence, 1, FLAG_ACK, octets);
            self.frames.insert(at, frame);
        }
    }
}

/// Use the device of `simulation` until it is reset in mid-traffic, and take its memory away. The
/// next driver's configuration must not say `fresh`.
///
/// # Errors
/// A refusal of the driver.
pub fn use_and_reset(
    simulation: &Rc<RefCell<Simulation>>,
    seed: u64,
    max_payload_octets: u32,
) -> Result<(), DriverError> {
    let (bar, dma) = attach(simulation);
    let config = Config {
        fresh: true,
        max_payload_octets,
        ..Config::default()
    };
    let mut used = Use {
        device: Device::open(bar, dma, config)?,
        memory: Vec::new(),
        frames: Vec::new(),
        random: ChaCha8Rng::seed_from_u64(seed),
    };
    for number in 0..PEERS {
        used.open(number)?;
    }
    let cycles = used.random.random_range(1..RESET_WITHIN);
    {
        let mut simulation = simulation.borrow_mut();
        for frame in used.frames {
            simulation.push_frame(frame, false);
        }
        simulation.run(cycles);
        simulation.reset();
        simulation.frames_mut().clear();
        // The rest of a frame that the reset has cut, in a device that takes none.
        simulation.run_until_idle();
    }
    let (_, mut dma) = used.device.close();
    for buffer in used.memory {
        dma.free(buffer);
    }
    Ok(())
}
