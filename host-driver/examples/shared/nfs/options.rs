//! The command line of the programs about RPC over RDMA: what others have, without a role.

use super::RDMA_PORT;
use crate::options::{InterfaceOptions, Options, Role, StartupOptions};
use clap::builder::RangedU64ValueParser;
use rpcrdma::Settings;
use std::path::PathBuf;

/// A client whose reset was lost would otherwise stay one of `--clients` until the server's end.
const SERVER_KEEPALIVE_S: u64 = 60;
/// A client that waits for a reply has nothing to send: without probes it would not notice that its
/// server has started again. So many fit into its time-out.
const CLIENT_PROBES: u64 = 4;

/// Device, address, interface and MPA. By default a server probes silent clients each minute, a
/// client its server four times in its time-out.
#[derive(Clone, Debug, clap::Args)]
pub struct RpcOptions {
    /// `vfio:0000:01:00.0`, `vfio-user:PATH`, `sim:rtl,LINK` or `sim:model,LINK`
    pub device: String,
    /// Client: the server, ADDR, ADDR:PORT, `[IPV6]:PORT` or a host name. Server: which address of
    /// --own to listen on, by default the first
    #[arg(short, long, value_name = "ADDR")]
    pub address: Option<String>,
    /// The server's port, if the address has none
    #[arg(short, long, default_value_t = RDMA_PORT)]
    pub port: u16,
    /// How long the peer may keep this program waiting. A server waits for clients without end
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
          value_parser = RangedU64ValueParser::<u64>::new().range(1..=3600))]
    pub timeout: u64,
    /// Calls in flight on a connection: asked for by a client, granted by a server
    #[arg(long, value_name = "CALLS", default_value_t = Settings::default().credits,
          value_parser = clap::value_parser!(u32).range(1..=128))]
    pub credits: u32,
    /// Octets of the longest Send, a multiple of 1024
    #[arg(long = "inline", value_name = "OCTETS",
          default_value_t = Settings::default().inline_octets, value_parser = inline_octets)]
    pub inline_octets: u32,
    /// Write the header of each message, sent or received, as a line into this file
    #[arg(long, value_name = "FILE")]
    pub headers: Option<PathBuf>,
    /// The interface.
    #[command(flatten)]
    pub interface: InterfaceOptions,
    /// MPA.
    #[command(flatten)]
    pub startup: StartupOptions,
}

/// A length that private data can tell (RFC 8797, 4.1): in units of 1024 octets, up to 256.
fn inline_octets(text: &str) -> Result<u32, String> {
    let octets = text.parse().ok();
    let octets = octets.filter(|octets: &u32| octets % 1024 == 0);
    let octets = octets.filter(|octets| (1024..=65_536).contains(octets));
    octets.ok_or_else(|| "write a multiple of 1024 up to 65536".to_owned())
}

impl RpcOptions {
    /// As the other programs have them.
    #[must_use]
    pub fn options(&self, is_server: bool) -> Options {
        let mut interface = self.interface.clone();
        interface.keepalive.get_or_insert(match is_server {
            true => SERVER_KEEPALIVE_S,
            false => (self.timeout / CLIENT_PROBES).max(1),
        });
        Options {
            device: self.device.clone(),
            role: Role {
                server: is_server,
                client: !is_server,
            },
            address: self.address.clone(),
            port: self.port,
            timeout: self.timeout,
            interface,
            startup: self.startup,
        }
    }

    /// Sizes of RPC over RDMA.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            credits: self.credits,
            inline_octets: self.inline_octets,
            call_time_out_us: self.timeout * 1_000_000,
            log_headers: self.headers.is_some(),
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: RpcOptions,
    }

    fn keepalive(is_server: bool, more: &[&str]) -> Option<u64> {
        let words = ["program", "sim:model,unix:wire", "--own", "192.0.2.1/24"];
        let parsed = Arguments::parse_from(words.iter().chain(more));
        parsed.options.options(is_server).interface.keepalive
    }

    #[test]
    fn silent_peers_are_probed_by_default() {
        assert_eq!(keepalive(true, &[]), Some(SERVER_KEEPALIVE_S));
        assert_eq!(keepalive(true, &["--keepalive", "5"]), Some(5));
        assert_eq!(keepalive(false, &[]), Some(7));
        assert_eq!(keepalive(false, &["--timeout", "2"]), Some(1));
        assert_eq!(keepalive(false, &["--keepalive", "5"]), Some(5));
    }
}
