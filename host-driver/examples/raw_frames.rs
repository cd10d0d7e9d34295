//! Ethernet frames through the device's rings, both ways, over any device that the driver can open.
//!
//! ```text
//! raw_frames sim:model,unix:link.sock link.sock    (a device of its own)
//! raw_frames vfio-user:rnic.sock link.sock
//!                      (of `rnic serve --vfio-user rnic.sock --link unix:link.sock`)
//! ```
//!
//! This process is both ends: it owns the device, and it is the peer on the link's socket. Frames
//! of 60 to 1514 octets go from the bulk transmit ring to the peer, and from the peer to the host
//! receive ring; each is compared. An interrupt says when to look.

use clap::Parser;
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{Config, InterruptSource, Piece, TransmitFrame, TransmitResult, TransmitRing};
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Frames each way.
const FRAMES: usize = 64;
/// Vector of both rings.
const VECTOR: u8 = 0;
/// How long a frame may take before something must be wrong.
const PATIENCE: Duration = Duration::from_secs(10);

/// Send Ethernet frames both ways, and compare them.
#[derive(Debug, Parser)]
struct Arguments {
    /// `vfio:0000:01:00.0`, `vfio-user:PATH`, `sim:rtl,LINK` or `sim:model,LINK`.
    address: String,
    /// The socket of the device's link (`rnic serve --link unix:PATH`).
    link: PathBuf,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("raw_frames: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = Config {
        bulk_units_log2: 6,
        ..Config::default()
    };
    let mut device = bus::open(&arguments.address, config)?;
    for source in [InterruptSource::HostFrame, InterruptSource::Transmitted] {
        device.route_interrupt(source, Some(VECTOR))?;
    }
    let mut peer = UnixStream::connect(&arguments.link)?;
    peer.set_read_timeout(Some(PATIENCE))?;
    let mut octets = 0;
    for number in 0..FRAMES {
        let frame = frame(number);
        send(&mut device, &frame)?;
        if read_frame(&mut peer)? != frame {
            return Err(format!("frame {number} of the device has other octets").into());
        }
        peer.write_all(&(frame.len() as u32).to_be_bytes())?;
        peer.write_all(&frame)?;
        if receive(&mut device)? != frame {
            return Err(format!("frame {number} of the peer has other octets").into());
        }
        octets += frame.len();
    }
    println!("{FRAMES} frames, {octets} octets each way: equal");
    device.close()?;
    Ok(())
}

/// A frame for nobody in particular, of another length and other octets for each number.
fn frame(number: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..60 + number * 23)
        .map(|at| (at * 7 + number) as u8)
        .collect();
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    // The EtherType that IEEE 802 leaves for experiments.
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// Send a frame, and wait until the device has read it.
fn send(device: &mut AnyDevice, frame: &[u8]) -> Result<(), Box<dyn Error>> {
    device.transmit(
        TransmitRing::Bulk,
        &TransmitFrame {
            pieces: &[Piece::Octets(frame)],
            checksum: None,
            crc: None,
            cookie: 0,
        },
    )?;
    loop {
        if let Some(transmitted) = device.poll_transmitted()? {
            return match transmitted.result {
                TransmitResult::Sent => Ok(()),
                other => Err(format!("a frame was not sent: {other:?}").into()),
            };
        }
        wait(device)?;
    }
}

fn receive(device: &mut AnyDevice) -> Result<Vec<u8>, Box<dyn Error>> {
    loop {
        if let Some(frame) = device.poll_host_frame() {
            return Ok(frame);
        }
        wait(device)?;
    }
}

fn wait(device: &AnyDevice) -> Result<(), Box<dyn Error>> {
    match device.wait(VECTOR, Some(PATIENCE))? {
        true => Ok(()),
        false => Err(format!("no interrupt within {} s", PATIENCE.as_secs()).into()),
    }
}

/// A frame after its length.
fn read_frame(peer: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    peer.read_exact(&mut length)?;
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    peer.read_exact(&mut frame)?;
    Ok(frame)
}
