//! Opens a device, says what it is, and prints its counters that are not zero.
//!
//! ```text
//! rnic serve --vfio-user rnic.sock
//! counters vfio-user:rnic.sock
//! ```
//!
//! Opening a device resets it, so only its owner sees counters at work: this one sends a few frames
//! to itself first.

use clap::Parser;
use rnic_driver::bus;
use rnic_driver::{Config, InterruptSource, Piece, TransmitFrame, TransmitRing};
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// Frames that are looped back.
const FRAMES: usize = 5;
/// Vector of the host receive ring.
const VECTOR: u8 = 0;
/// How long a frame may take before something must be wrong.
const PATIENCE: Duration = Duration::from_secs(10);

/// Print what a device is, and its counters.
#[derive(Debug, Parser)]
struct Arguments {
    /// `vfio-user:PATH` or `vfio:0000:01:00.0`.
    address: String,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("counters: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = Config {
        control_units_log2: 4,
        ..Config::default()
    };
    let mut device = bus::open(&arguments.address, config)?;
    let (width, sizes) = (device.frame_path_bits()?, device.sizes());
    println!("{}: frame path of {width} bits", arguments.address);
    println!(
        "{} connections, {} regions, {} free pages of packet memory",
        sizes.connections(),
        sizes.regions(),
        device.free_pages()?
    );
    device.set_loopback(true)?;
    device.route_interrupt(InterruptSource::HostFrame, Some(VECTOR))?;
    for cookie in 0..FRAMES as u64 {
        device.transmit(
            TransmitRing::Control,
            &TransmitFrame {
                pieces: &[Piece::Octets(&[0xff; 60])],
                checksum: None,
                crc: None,
                cookie,
            },
        )?;
        while device.poll_host_frame().is_none() {
            if !device.wait(VECTOR, Some(PATIENCE))? {
                return Err(format!("no frame came back within {} s", PATIENCE.as_secs()).into());
            }
        }
    }
    for (counter, value) in device.counters()? {
        if value != 0 {
            println!("{} {value}", counter.name());
        }
    }
    device.close()?;
    Ok(())
}
