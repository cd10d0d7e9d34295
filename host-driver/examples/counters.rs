//! Opens a device, says what it is, and prints its counters that are not zero.
//!
//! ```text
//! counters sim:model,none                          (a device of its own)
//! counters vfio-user:rnic.sock                     (of `rnic serve --vfio-user rnic.sock`)
//! ```
//!
//! Opening a device resets it, so only its owner sees counters at work: this one sends a few frames
//! to itself first. With `--monitor PATH` it goes on to send, ten frames a second or more, and
//! answers there for the device until it is ended:
//!
//! ```text
//! counters vfio-user:rnic.sock --monitor counters.sock
//! rnicctl counters monitor:counters.sock --watch 1
//! ```

use clap::Parser;
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::monitor::Monitor;
use rnic_driver::{Config, InterruptSource, Piece, TransmitFrame, TransmitRing};
use rnic_examples::failure::{finish, say};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Frames that are looped back.
const FRAMES: usize = 5;
/// Vector of the host receive ring.
const VECTOR: u8 = 0;
/// How long a frame may take before something must be wrong.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two frames while the monitor is served.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Print what a device is, and its counters.
#[derive(Debug, Parser)]
struct Arguments {
    /// `vfio:0000:01:00.0`, `vfio-user:PATH`, `sim:rtl,LINK` or `sim:model,LINK`.
    address: String,
    /// Then answer for the device on this socket, until ended: `rnicctl counters monitor:PATH`.
    #[arg(long, value_name = "PATH")]
    monitor: Option<PathBuf>,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    finish("counters", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = Config {
        control_units_log2: 4,
        ..Config::default()
    };
    let mut device = bus::open(&arguments.address, config)?;
    let (width, sizes) = (device.frame_path_bits()?, device.sizes());
    say(format!("{}: frame path of {width} bits", arguments.address))?;
    say(format!(
        "{} connections, {} regions, {} free pages of packet memory",
        sizes.connections(),
        sizes.regions(),
        device.free_pages()?
    ))?;
    device.set_loopback(true)?;
    device.route_interrupt(InterruptSource::HostFrame, Some(VECTOR))?;
    for cookie in 0..FRAMES as u64 {
        loop_back(&mut device, cookie)?;
    }
    for (counter, value) in device.counters()? {
        if value != 0 {
            say(format!("{} {value}", counter.name()))?;
        }
    }
    if let Some(path) = &arguments.monitor {
        serve(&mut device, path)?;
    }
    device.close()?;
    Ok(())
}

/// Send a frame, and wait until it came back.
fn loop_back(device: &mut AnyDevice, cookie: u64) -> Result<(), Box<dyn Error>> {
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
    while device.poll_transmitted()?.is_some() {}
    Ok(())
}

/// Answer for the device, and keep its counters moving, until something fails.
fn serve(device: &mut AnyDevice, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut monitor = Monitor::bind(path)?;
    say(format!(
        "look at it with `rnicctl counters monitor:{} --watch 1`",
        path.display()
    ))?;
    for cookie in (FRAMES as u64).. {
        loop_back(device, cookie)?;
        match poll(&mut [PollFd::new(&monitor, PollFlags::IN)], Some(&PAUSE)) {
            Ok(_) | Err(Errno::INTR) => monitor.serve(device)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
