//! `rnicctl self-test`: whether an unused device works.
//!
//! ```text
//!  bus::connect -> registers -> Device::open -> loopback on -> frames -> RDMA Write -> refusal
//!               -> closed, opened again -> tables empty -> closed
//! ```
//!
//! The device sends everything to itself: its link does not matter, and nothing goes out. Each
//! check is a line; one that fails does not keep the next ones from running, unless there is no
//! device any more.

mod checked;
mod bench;
mod loopback;
mod registers;
mod rdma;

use crate::address::Address;
use crate::outcome::{Failure, Outcome};
use bench::Bench;
use checked::{expect, Checked};
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{Config, Device};
use rnic_output::{stdout, StdoutError};
use std::time::Duration;

const EXAMPLE: &str = "\
Example:
  rnicctl self-test vfio-user:/tmp/rnic.sock

Opening the device resets it; a device that a process has open is not touched. Exit status 1: a
check failed.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// vfio:0000:01:00.0 or vfio-user:PATH.
    address: Address,
    /// Seconds in which whatever is expected of the device must happen.
    #[arg(long, value_name = "SECONDS", default_value = "20",
          value_parser = clap::value_parser!(u16).range(1..))]
    patience: u16,
}

/// Prints the checks, and counts them.
#[derive(Debug, Default)]
struct Report {
    checks: usize,
    failed: usize,
}

impl Report {
    /// One line.
    fn add(&mut self, name: &str, checked: Checked) -> Result<(), StdoutError> {
        self.checks += 1;
        match checked {
            Ok(what) => stdout::print(&format!("ok: {name}: {what}\n")),
            Err(what) => {
                self.failed += 1;
                stdout::print(&format!("failed: {name}: {what}\n"))
            }
        }
    }

    fn outcome(&self) -> Result<Outcome, Failure> {
        let (checks, failed) = (self.checks, self.failed);
        stdout::print(&format!("{checks} checks, {failed} failed\n"))?;
        Ok(match failed {
            0 => Outcome::Good,
            _ => Outcome::Bad,
        })
    }
}

/// Small rings, and both of transmit.
fn config() -> Config {
    Config {
        control_units_log2: 6,
        bulk_units_log2: 6,
        ..(crate::source::SMALL)()
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let address = arguments.address.device("test")?;
    let patience = Duration::from_secs(arguments.patience.into());
    let mut report = Report::default();
    let (mut bar, memory) = bus::connect(address)?;
    report.add("registers", registers::check(&mut bar, patience))?;
    let device = match open(bar, memory) {
        Ok(device) => device,
        Err(error) => {
            report.add("open", Err(error))?;
            return report.outcome();
        }
    };
    let mut bench = Bench::new(device, patience);
    report.add("open", identity(&mut bench.device))?;
    report.add(
        "loopback",
        bench.begin().and_then(|()| loopback::frames(&mut bench)),
    )?;
    report.add("interrupts", loopback::interrupts(&mut bench))?;
    let placed = rdma::write_is_placed(&mut bench);
    let (left, checked) = match placed {
        Ok((left, what)) => (Some(left), Ok(what)),
        Err(error) => (None, Err(error)),
    };
    report.add("RDMA Write", checked)?;
    report.add("refusal", rdma::write_is_refused(&mut bench, left.as_ref()))?;
    reset(&mut report, bench, left)?;
    report.outcome()
}

fn open(bar: bus::FunctionBar, memory: bus::FunctionMemory) -> Result<AnyDevice, Failure> {
    let function = memory.function().clone();
    let device = Device::open(bar, memory, function.fit(config())?)?;
    function.enable_interrupts()?;
    Ok(device)
}

fn identity(device: &mut AnyDevice) -> Checked {
    let (bits, sizes, vectors) = (
        device.frame_path_bits()?,
        device.sizes(),
        device.function().vectors(),
    );
    expect(
        [64, 128, 512].contains(&bits),
        format!("a frame path of {bits} bits; 64, 128 and 512 are built"),
    )?;
    expect(vectors > 0, "the function has no MSI-X vector")?;
    let (connections, regions) = (sizes.connections(), sizes.regions());
    Ok(format!(
        "{bits} bits, {connections} connections, {regions} regions, {vectors} vectors"
    ))
}

/// A reset with a connection and a region in place, and the same device from the beginning.
fn reset(report: &mut Report, bench: Bench, left: Option<rdma::Left>) -> Result<(), Failure> {
    let patience = bench.patience;
    let reopened = bench
        .device
        .close()
        .map_err(Failure::from)
        .and_then(|(bar, memory)| open(bar, memory));
    let device = match reopened {
        Ok(device) => device,
        Err(error) => {
            report.add("reset", Err(error))?;
            return Ok(());
        }
    };
    let mut bench = Bench::new(device, patience);
    report.add("reset", rdma::nothing_is_left(&mut bench, left))?;
    report.add(
        "close",
        bench
            .device
            .close()
            .map_err(Failure::from)
            .map(|_| "the device is reset, its memory is free".to_owned()),
    )?;
    Ok(())
}
