//! How many frames a second the device in software takes, and the verilated one: RDMA Writes of
//! 1,000 octets to one region, in one process, without a socket.
//!
//! ```text
//!  soak [FRAMES]      frames of the model, 200,000 by default; the verilated device gets 1 of 100
//! ```

use rnic_abi::counters::Counter;
use rnic_abi::sizes::Sizes;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_device::model::DeviceModel;
use rnic_driver::{Bar, Config, Device, Dma, RegionConfig};
use rnic_sim::{DeviceCore, Simulation, SimulationConfig};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::Instant;

const FRAMES: usize = 200_000;
/// Of so many frames of the model the verilated device gets one.
const RTL_SHARE: usize = 100;
const OCTETS: usize = 1_000;
const STAG: u32 = 0x0101;
const PROTECTION_DOMAIN: u16 = 1;
/// Frames on the wire at one time, and cycles until they are polled again.
const BATCH: usize = 16;
const BATCH_CYCLES: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let frames = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => FRAMES,
    };
    let model = Rc::new(RefCell::new(DeviceModel::new(64, Sizes::LARGEST)));
    let (bar, dma) = rnic_device::model::attach(&model);
    soak("model", bar, dma, &model, frames)?;
    let simulation = Simulation::new(&SimulationConfig::default())?;
    let simulation = Rc::new(RefCell::new(simulation));
    let (bar, dma) = rnic_sim::attach(&simulation);
    soak("rtl", bar, dma, &simulation, (frames / RTL_SHARE).max(1))
}

fn soak<B: Bar, D: Dma>(
    name: &str,
    bar: B,
    dma: D,
    core: &Rc<RefCell<impl DeviceCore>>,
    count: usize,
) -> Result<(), Box<dyn Error>> {
    let mut device = Device::open(bar, dma, Config::default())?;
    let builder = FrameBuilder::new(Endpoint::host(1, 1), Endpoint::host(2, 2));
    let stream = StreamConfig::default();
    device.open_connection(&builder.connection(&stream, 1 << 20, PROTECTION_DOMAIN))?;
    let buffer = device.dma().allocate("region", OCTETS, 64)?;
    device.register_region(&RegionConfig {
        stag: STAG,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: PROTECTION_DOMAIN,
        connection: None,
        tagged_offset: 0,
        octets: OCTETS as u64,
        address: buffer.address,
    })?;
    let mut sender = Sender::new(stream);
    (0..count).for_each(|_| sender.rdma_write(STAG, 0, &[0x5a; OCTETS]));
    let frames = sender.fpdus().iter().map(|fpdu| {
        let octets = &sender.stream()[fpdu.octets.clone()];
        builder.segment(sender.sequence(fpdu.octets.start), 1, FLAG_ACK, octets)
    });
    let frames: Vec<Vec<u8>> = frames.collect();
    let start = Instant::now();
    for batch in frames.chunks(BATCH) {
        let mut core = core.borrow_mut();
        for frame in batch {
            core.push_frame(frame.clone(), false);
        }
        while core.frames_waiting() > 0 {
            core.run(BATCH_CYCLES);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    // Those in the device are few: each frame has been received when the last ones are.
    core.borrow_mut().run(10 * BATCH_CYCLES);
    let placed = device.counter(Counter::Fpdus)? as usize;
    if placed != count {
        return Err(format!("{name}: {placed} of {count} Writes were placed").into());
    }
    let rate = count as f64 / seconds;
    println!("{name}: {count} frames in {seconds:.2} s, {rate:.0} frames/s");
    Ok(())
}
