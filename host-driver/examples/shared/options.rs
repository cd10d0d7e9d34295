//! The command line of the programs about connections: device, role, interface, MPA.

use crate::address::{mac, mac_for, prefix, resolve};
use crate::failure::Failure;
use clap::builder::RangedU64ValueParser;
use rnic_driver::stack::{self, AddressPrefix};
use rnic_iwarp::startup::{self, REVISION_MAX};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Where `rping` listens on other systems, too.
pub const PORT: u16 = 7174;

/// What all of them take.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// `vfio:0000:01:00.0`, `vfio-user:PATH`, `sim:rtl,LINK` or `sim:model,LINK`
    pub device: String,
    /// Which end this is.
    #[command(flatten)]
    pub role: Role,
    /// Client: the server, ADDR, ADDR:PORT, `[IPV6]:PORT` or a host name. Server: which address of
    /// --own to listen on, by default the first
    #[arg(short, long, value_name = "ADDR")]
    pub address: Option<String>,
    /// The server's port, if the address has none
    #[arg(short, long, default_value_t = PORT)]
    pub port: u16,
    /// How long the peer may keep this program waiting. A server waits for clients without end
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
          value_parser = RangedU64ValueParser::<u64>::new().range(1..=3600))]
    pub timeout: u64,
    /// The interface.
    #[command(flatten)]
    pub interface: InterfaceOptions,
    /// MPA.
    #[command(flatten)]
    pub startup: StartupOptions,
}

/// Which end a program is.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Role {
    /// Wait for a client
    #[arg(short, long)]
    pub server: bool,
    /// Open the connection
    #[arg(short, long)]
    pub client: bool,
}

/// The interface of the device: it shares nothing with those of the operating system.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Interface")]
pub struct InterfaceOptions {
    /// An address of the interface and its prefix, such as 192.0.2.1/24; may be repeated
    #[arg(long, value_name = "ADDR/PREFIX", required = true, value_parser = prefix)]
    pub own: Vec<AddressPrefix>,
    /// MAC address [default: 02:04 or 02:06, then the last octets of the first --own]
    #[arg(long, value_parser = mac)]
    pub mac: Option<[u8; 6]>,
    /// Where packets to other links go; one for IPv4, one for IPv6
    #[arg(long, value_name = "ADDR")]
    pub gateway: Vec<IpAddr>,
    /// Tag frames with this VLAN id
    #[arg(long, value_name = "ID")]
    pub vlan: Option<u16>,
    /// Largest IP packet in octets
    #[arg(long, value_name = "OCTETS", default_value_t = 1500)]
    pub mtu: u16,
    /// Write the frames that this end itself sends and receives, as pcapng. What the device places
    /// is not among them
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Probe a peer that has been silent for so long, and again as often; one that does not answer
    /// for --timeout is gone [default: nfs_server 60, nfs_copy and rpc_ping a quarter of --timeout,
    /// others probe none]
    #[arg(long, value_name = "SECONDS",
          value_parser = RangedU64ValueParser::<u64>::new().range(1..=3600))]
    pub keepalive: Option<u64>,
    /// Answer there, at a Unix socket, what `rnicctl` asks about the device and its connections
    #[arg(long, value_name = "PATH")]
    pub monitor: Option<PathBuf>,
}

/// MPA's start-up. The defaults suit Linux' software iWARP driver.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "MPA")]
pub struct StartupOptions {
    /// This revision and no other: 0, 1 or 2 [default: 2, then 1 if the peer closes]
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=REVISION_MAX as i64))]
    pub revision: Option<u8>,
    /// Ask the peer to put markers into what it sends
    #[arg(long)]
    pub markers: bool,
    /// Do not ask for CRC32C; it is in use all the same if the peer asks for it
    #[arg(long)]
    pub no_crc: bool,
    /// Client: ask for the peer-to-peer model of revision 2, in which the server may send first
    #[arg(long)]
    pub peer_to_peer: bool,
}

impl Options {
    /// How long to wait for the peer.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Where a server listens.
    ///
    /// # Errors
    /// `--address` is none.
    pub fn own_address(&self) -> Result<SocketAddr, Failure> {
        match &self.address {
            None => Ok(SocketAddr::new(self.interface.own[0].address, self.port)),
            Some(text) => self.choose(text),
        }
    }

    /// Whom a client connects to.
    ///
    /// # Errors
    /// There is no `--address`, or it is none.
    pub fn peer_address(&self) -> Result<SocketAddr, Failure> {
        match &self.address {
            None => Err("a client needs the server's --address".to_owned().into()),
            Some(text) => self.choose(text),
        }
    }

    /// Of the addresses that `text` has, the first of a family that the interface speaks.
    fn choose(&self, text: &str) -> Result<SocketAddr, Failure> {
        let found = resolve(text, self.port).map_err(|why| format!("--address: {why}"))?;
        let own = &self.interface.own;
        let can_speak = |other: &&SocketAddr| {
            own.iter()
                .any(|own| own.address.is_ipv4() == other.is_ipv4())
        };
        let chosen = found.iter().find(can_speak).unwrap_or(&found[0]);
        Ok(SocketAddr::new(chosen.ip(), chosen.port()))
    }
}

impl InterfaceOptions {
    /// For the endpoint, which checks it.
    pub fn settings(&self) -> stack::Settings {
        let own = self.own[0].address;
        stack::Settings {
            mac: self.mac.unwrap_or_else(|| mac_for(own)),
            addresses: self.own.clone(),
            gateways: self.gateway.clone(),
            vlan: self.vlan,
            mtu_octets: self.mtu,
        }
    }
}

impl StartupOptions {
    /// For a connection with `reads` RDMA Reads outstanding each way.
    pub fn settings(&self, reads: u16) -> startup::Settings {
        startup::Settings {
            revision: self.revision.unwrap_or(REVISION_MAX),
            revision_min: self.revision.unwrap_or(1),
            // A revision that was asked for is not bargained about.
            answer_newer: self.revision.is_none(),
            markers: self.markers,
            crc: !self.no_crc,
            peer_to_peer: self.peer_to_peer,
            ird: reads,
            ord: reads,
            ..startup::Settings::default()
        }
    }
}
