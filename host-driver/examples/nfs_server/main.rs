//! A server of NFSv3 over RPC over RDMA, with its files in registered memory; Linux mounts it.
//!
//! ```text
//! nfs_server vfio-user:rnic.sock --own 192.0.2.1/24 --tcp 10.0.2.1:2049
//!
//! mount -o vers=3,proto=rdma,port=20049,nolock,mountaddr=10.0.2.1,mountport=2049,mountproto=tcp \
//!       192.0.2.1:/ /mnt
//!
//!  RDMA: device --> rdma ----+
//!                            +--> Service: NFS and MOUNT --> Files in registered memory
//!  TCP: std::net --> tcp ----+
//! ```
//!
//! The data of READ goes from the file's memory to the client without a copy by software. That of
//! WRITE is read into memory of the transport, or comes with the call, and is copied from there.
//! Files are gone when the server ends, and handles of an earlier life answer NFS3ERR_STALE.
//! There is no access control: whoever reaches the server may do everything.

mod memory;
mod rdma;
mod service;
mod tcp;

use clap::Parser;
use memory::Registered;
use rnic_examples::end::End;
use rnic_examples::failure::{finish, say, Failure};
use rnic_examples::files::{Files, Limits, RUN_OCTETS_MAX};
use rnic_examples::nfs::RpcOptions;
use rnic_rpcrdma::Memories;
use service::{now, Service};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Serve files in memory over RPC over RDMA.
#[derive(Debug, Parser)]
#[command(name = "nfs_server")]
struct Arguments {
    #[command(flatten)]
    options: RpcOptions,
    /// Memory of all files, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=2048))]
    memory: u32,
    /// Files, directories and symbolic links at most
    #[arg(long, value_name = "COUNT", default_value_t = 65_536,
          value_parser = clap::value_parser!(u32).range(1..))]
    files: u32,
    /// Clients over RDMA at a time
    #[arg(long, value_name = "COUNT", default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(1..=48))]
    clients: u32,
    /// Serve NFS and MOUNT over TCP, too, at an address of the operating system; may be repeated
    #[arg(long, value_name = "ADDR:PORT")]
    tcp: Vec<SocketAddr>,
    /// Print a line for each client that comes or goes
    #[arg(short, long)]
    verbose: bool,
}

/// The service of both transports.
type Shared = Arc<Mutex<Service<Registered>>>;

/// A thread that has failed leaves the files whole, or the program ends.
fn lock(shared: &Shared) -> MutexGuard<'_, Service<Registered>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    finish("nfs_server", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = arguments.options.options(true);
    let own = options.own_address()?;
    let end = End::open(&options)?;
    let memories = Arc::new(Memories::new(
        &end.context,
        end.context.protection_domain()?,
    ));
    // One run of the largest size is the zeros of holes.
    let octets = arguments.memory * (1 << 20) + RUN_OCTETS_MAX;
    let place = memories.allocate(octets)?;
    let limits = Limits {
        files: arguments.files,
    };
    let start = now();
    let files = Files::new(Registered(Arc::clone(&memories)), place, limits, start);
    let files = files.map_err(|error| format!("--memory {}: {error}", arguments.memory))?;
    let instance = u64::from(start.seconds) << 32 | u64::from(start.nanoseconds);
    let shared = Arc::new(Mutex::new(Service::new(files, instance)));
    for address in &arguments.tcp {
        let bound = tcp::listen(*address, &shared)?;
        say(format!("listening on {bound} over TCP"))?;
    }
    rdma::serve(&end, &memories, own, &shared, arguments)
}
