//! A device that was used, and reset in mid-traffic: what it then does must not differ from what a
//! fresh one does.
//!
//! ```text
//!  Use::start --> frames of all peers, some lost --> Use::end, at any time --> Remains --> free
//!                                                      pin, close or kill
//! ```
//!
//! Connections with regions and posted buffers send at once, some with segments missing, and both
//! transmit rings are full; at a random time the use ends, whatever the device is at. When the
//! device has been reset, all memory is given back: a write to it from then on is a violation that
//! the monitor records.

use crate::play::used_frames::{fill_rings, with_rings};
use crate::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use crate::traffic::{Sender, StreamConfig};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{Config, Device, Dma, DmaBuffer, DriverError, RegionConfig};
use rnic_sim::{attach, attach_at, SimBar, SimDma, Simulation};
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
/// Cycles in which the reset comes: all frames take more.
pub const RESET_WITHIN: usize = 20_000;
/// Bus address from which on the driver after a killed one has its memory.
pub const NEXT_ADDRESS: u64 = 0x8_0000_0000;
const PROTECTION_DOMAIN: u16 = 5;
const WINDOW: u32 = 1 << 20;

/// The ends of connection `number`: of addresses that captures rarely have.
fn peer_ends(number: usize) -> FrameBuilder {
    let end = |host: u8, port: u16| Endpoint {
        mac: [2, 0, 0, 0, 9, host],
        address: ([10, 99, 0, host], port).into(),
    };
    FrameBuilder::new(end(1, 50_000 + number as u16), end(2, 4_420))
}

/// How the use of a device ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The reset pin, as the system pulls it for a driver that hangs.
    Pin,
    /// The driver closes the device.
    Close,
    /// The driver's process is killed. The device goes on until the next driver opens it.
    Kill,
}

/// Every way.
pub const ENDINGS: [Ending; 3] = [Ending::Pin, Ending::Close, Ending::Kill];

/// Memory of the simulated host that survives its driver.
#[derive(Debug)]
struct Lent {
    dma: SimDma,
    /// Allocated and not freed.
    buffers: Rc<RefCell<Vec<DmaBuffer>>>,
}

impl Dma for Lent {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        let buffer = self.dma.allocate(name, octets, align)?;
        self.buffers.borrow_mut().push(buffer);
        Ok(buffer)
    }

    fn free(&mut self, buffer: DmaBuffer) {
        self.dma.free(buffer);
        self.buffers.borrow_mut().retain(|lent| *lent != buffer);
    }

    fn read_u32_acquire(&self, address: u64) -> u32 {
        self.dma.read_u32_acquire(address)
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        self.dma.read(address, out);
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        self.dma.write(address, data);
    }
}

/// A peer of a use.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Builds its frames.
    pub builder: FrameBuilder,
    /// STag of the region open to it.
    pub stag: u32,
}

/// What a use leaves behind.
#[derive(Debug)]
pub struct Remains {
    /// Memory that the driver had given to the device and had not freed.
    pub memory: Vec<DmaBuffer>,
    /// Its peers, who do not know that it has ended.
    pub peers: Vec<Peer>,
    /// All that they have sent.
    pub frames: Vec<Vec<u8>>,
}

impl Remains {
    /// Give the memory back: the device has been reset.
    pub fn free(self, simulation: &Rc<RefCell<Simulation>>) {
        let (_, mut dma) = attach(simulation);
        for buffer in self.memory {
            dma.free(buffer);
        }
    }
}

/// One use of a device.
#[derive(Debug)]
pub struct Use {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, Lent>,
    buffers: Rc<RefCell<Vec<DmaBuffer>>>,
    peers: Vec<Peer>,
    frames: Vec<Vec<u8>>,
    random: ChaCha8Rng,
}

impl Use {
    /// Open the device and all connections, put what their peers send on the wire, and fill the
    /// transmit rings.
    ///
    /// # Errors
    /// A refusal of the driver.
    pub fn start(
        simulation: &Rc<RefCell<Simulation>>,
        seed: u64,
        max_payload_octets: u32,
    ) -> Result<Self, DriverError> {
        let (bar, dma) = attach(simulation);
        let config = with_rings(Config {
            max_payload_octets,
            ..Config::default()
        });
        let buffers = Rc::default();
        let lent = Lent {
            dma,
            buffers: Rc::clone(&buffers),
        };
        let mut used = Self {
            simulation: Rc::clone(simulation),
            device: Device::open(bar, lent, config)?,
            buffers,
            peers: Vec::new(),
            frames: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        for number in 0..PEERS {
            used.open(number)?;
        }
        for frame in &used.frames {
            simulation.borrow_mut().push_frame(frame.clone(), false);
        }
        fill_rings(&mut used.device, &mut used.random)?;
        Ok(used)
    }

    /// End it now. The peers go on sending.
    ///
    /// # Errors
    /// The device does not end its reset.
    pub fn end(self, ending: Ending) -> Result<Remains, DriverError> {
        match ending {
            Ending::Pin => {
                self.simulation.borrow_mut().reset();
                drop(self.device);
            }
            Ending::Close => {
                self.device.close()?;
            }
            Ending::Kill => drop(self.device),
        }
        Ok(Remains {
            memory: self.buffers.take(),
            peers: self.peers,
            frames: self.frames,
        })
    }

    /// Connection `number` with its region, its buffers and its frames.
    fn open(&mut self, number: usize) -> Result<(), DriverError> {
        let stream = StreamConfig {
            markers: number % 2 == 1,
            sequence_start: self.random.next_u32(),
            ..StreamConfig::default()
        };
        let builder = peer_ends(number);
        let config = builder.connection(&stream, WINDOW, PROTECTION_DOMAIN);
        let connection = self.device.open_connection(&config)?;
        let octets = MESSAGES * MESSAGE_OCTETS;
        let region = self.device.dma().allocate("used region", octets, 64)?;
        let buffers = self.device.dma().allocate("used buffers", octets, 64)?;
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
        self.peers.push(Peer { builder, stag });
        Ok(())
    }

    /// Segments of a stream in order, one of eight missing, at random between those of the others.
    fn cut(&mut self, builder: &FrameBuilder, sender: &Sender) {
        let mut others = std::mem::take(&mut self.frames).into_iter();
        let chunks = sender.stream().chunks(SEGMENT_OCTETS).enumerate();
        let chunk_count = chunks.len();
        for (index, octets) in chunks {
            let ahead = self
                .random
                .random_range(0..=2 * others.len() / (chunk_count - index));
            self.frames.extend(others.by_ref().take(ahead));
            if !self.random.random_ratio(1, 8) {
                let sequence = sender.sequence(index * SEGMENT_OCTETS);
                let frame = builder.segment(sequence, 1, FLAG_ACK, octets);
                self.frames.push(frame);
            }
        }
        self.frames.extend(others);
    }
}

/// Use the device of `simulation` until it is reset in mid-traffic, in one of the [`ENDINGS`], and
/// take its memory away.
///
/// # Errors
/// A refusal of the driver.
pub fn use_and_reset(
    simulation: &Rc<RefCell<Simulation>>,
    seed: u64,
    max_payload_octets: u32,
) -> Result<(), DriverError> {
    let mut used = Use::start(simulation, seed, max_payload_octets)?;
    let cycles = used.random.random_range(1..RESET_WITHIN);
    let ending = ENDINGS[used.random.random_range(0..ENDINGS.len())];
    simulation.borrow_mut().run(cycles);
    let remains = used.end(ending)?;
    if ending == Ending::Kill {
        let (bar, dma) = attach_at(simulation, NEXT_ADDRESS);
        let config = Config {
            max_payload_octets,
            ..Config::default()
        };
        Device::open(bar, dma, config)?.close()?;
    }
    {
        let mut simulation = simulation.borrow_mut();
        simulation.frames_mut().clear();
        // The rest of a frame that the reset has cut, in a device that takes none.
        simulation.run_until_idle();
        simulation.clear_verdicts();
        while simulation.next_sent().is_some() {}
    }
    remains.free(simulation);
    Ok(())
}
