//! `rnic serve`: the simulated device, or its model, as a PCI device over vfio-user.

use crate::cli::interrupt::Polling;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::play::{sizes, width};
use rnic_abi::limits::{CONNECTIONS, REGIONS};
use rnic_device::link::{Link, LinkKind};
use rnic_device::model::DeviceModel;
use rnic_device::{Service, PAYLOAD_OCTETS_MAX};
use rnic_output::{shown, stdout};
use rnic_sim::{DeviceCore, Simulation, SimulationConfig};
use rnic_vfio_user::Server;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  rnic serve --vfio-user /tmp/rnic.sock --link pcap:testbench/captures/rping-v4-crc.pcap

A client opens it as vfio-user:/tmp/rnic.sock; clients are served one after another. The capture is
played when the device sends its first frame, for each client anew. The peer of unix:PATH connects
to that socket and speaks the framing of QEMU's `-netdev stream`. tap:NAME is an interface of Linux:
  sudo ip tuntap add dev rnic0 mode tap user $USER; sudo ip link set rnic0 up";

/// What is served.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ServedKind {
    /// The verilated core.
    Rtl,
    /// The device in software: fast, and built without Verilator; its time is its own.
    Model,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Socket on which clients are served. Who may write to it owns the device: put it into a
    /// folder of yours.
    #[arg(long, value_name = "PATH")]
    vfio_user: PathBuf,
    /// The other end of the wire: none, pcap:FILE, unix:PATH, unix-connect:PATH or
    /// tap:NAME.
    #[arg(long, value_name = "LINK", default_value = "none")]
    link: LinkKind,
    /// The device.
    #[arg(long, value_enum, default_value_t = ServedKind::Rtl)]
    dut: ServedKind,
    /// Frame path in bits: 64, 128 or 512. The model reports it, and times frames by it.
    #[arg(long, default_value_t = 64, value_parser = width)]
    width: usize,
    /// Connections of the build: 256, 512 or 1024.
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS)]
    connections: usize,
    /// Memory regions of the build: 256, 512 or 1024, whatever its connections.
    #[arg(long, value_name = "N", default_value_t = REGIONS)]
    regions: usize,
    /// Refuse memory of a client whose file could shrink under its mapping, which would end this
    /// process: EPERM. Memory of `memfd_create` must be sealed, files of a folder cannot be.
    #[arg(long)]
    require_sealed: bool,
    /// End when so many clients have come and gone. [default: never]
    #[arg(long, value_name = "N")]
    clients: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let sizes = sizes(arguments.connections, arguments.regions)?;
    let link = arguments.link.open()?;
    match arguments.dut {
        ServedKind::Model => serve(arguments, DeviceModel::new(arguments.width, sizes), link),
        ServedKind::Rtl => {
            let simulation = Simulation::new(&SimulationConfig {
                width: arguments.width,
                sizes,
                max_payload_octets: PAYLOAD_OCTETS_MAX,
                ..SimulationConfig::default()
            })?;
            serve(arguments, simulation, link)
        }
    }
}

fn serve(
    arguments: &Arguments,
    device: impl DeviceCore,
    link: Box<dyn Link>,
) -> Result<Outcome, Failure> {
    // Last: who finds the socket finds a device that answers.
    let mut server = Server::bind(&arguments.vfio_user)?;
    if arguments.require_sealed {
        server.require_sealed();
    }
    // A signal ends the service, and with it its sockets are removed.
    let polling = Polling::begin();
    let mut service = Service::new(server, device, link).end_with(polling.socket()?);
    stdout::print(&format!(
        "serving vfio-user:{}\n",
        shown(&arguments.vfio_user)
    ))?;
    service.run(arguments.clients)?;
    Ok(Outcome::Good)
}
