//! Files to and from a server of NFSv3, or NFSv4.0, over RPC over RDMA.
//!
//! ```text
//! nfs_copy sim:model,unix-connect:wire.sock --own 192.0.2.2/24 -a 192.0.2.1 put LOCAL REMOTE
//! nfs_copy sim:model,unix-connect:wire.sock --own 192.0.2.2/24 -a 192.0.2.1 get REMOTE LOCAL
//! nfs_copy sim:model,unix-connect:wire.sock --own 192.0.2.2/24 -a 192.0.2.1 list REMOTE
//! nfs_copy sim:model,unix-connect:wire.sock --own 192.0.2.2/24 -a 192.0.2.1 link PATH REMOTE
//! ```
//!
//! Linux' server has no MOUNT over RDMA: the handle of its export is given by `--handle`.

mod get;
mod link;
mod list;
mod put;
mod v4;
mod window;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand};
use rnic_examples::end::End;
use rnic_examples::failure::{finish, say, Failure};
use rnic_examples::nfs::{Caller, FileAttributes, Handle, RpcOptions, IO_OCTETS_MAX};
use rnic_output::stdout::complain;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Copy files to and from a server of NFSv3 over RPC over RDMA.
#[derive(Debug, Parser)]
#[command(name = "nfs_copy")]
struct Arguments {
    #[command(flatten)]
    options: RpcOptions,
    /// The directory that remote paths begin at, as the server's MOUNT program knows it
    #[arg(long, value_name = "PATH", default_value = "/")]
    export: String,
    /// That directory's handle in hexadecimal digits, without MOUNT
    #[arg(long, value_name = "HEX", conflicts_with = "export", value_parser = Handle::parse)]
    handle: Option<Handle>,
    /// The version of NFS. In 4, which is 4.0, nothing is opened: `put` writes into a file that is
    /// there, and paths begin at the server's root or at --handle
    #[arg(long, value_name = "VERSION", default_value_t = 3, conflicts_with = "export",
          value_parser = clap::value_parser!(u8).range(3..=4))]
    vers: u8,
    /// Octets of a READ or WRITE
    #[arg(long, value_name = "OCTETS", default_value_t = 65_536,
          value_parser = RangedU64ValueParser::<u32>::new().range(1..=IO_OCTETS_MAX.into()))]
    block: u32,
    /// READs or WRITEs in flight
    #[arg(long, value_name = "COUNT", default_value_t = 8,
          value_parser = RangedU64ValueParser::<u32>::new().range(1..=64))]
    calls: u32,
    #[command(subcommand)]
    what: What,
}

/// What is done.
#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Copy a file from the server; `-` is standard output
    Get {
        /// The server's file, from the export on
        remote: String,
        /// The file here
        local: PathBuf,
    },
    /// Copy a file to the server
    Put {
        /// The file here
        local: PathBuf,
        /// The server's file, from the export on
        remote: String,
    },
    /// List a directory of the server
    List {
        /// The directory, from the export on
        #[arg(default_value = "")]
        remote: String,
    },
    /// Make a symbolic link; NFSv3 alone
    Link {
        /// What it points to
        path: String,
        /// The server's link, from the export on
        remote: String,
    },
    /// Print what a symbolic link points to; NFSv3 alone
    Readlink {
        /// The server's link, from the export on
        remote: String,
    },
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    finish("nfs_copy", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let end = End::open(&arguments.options.options(false))?;
    let mut caller = Caller::connect(&end, &arguments.options)?;
    match arguments.vers {
        3 => in_version_3(&mut caller, arguments)?,
        _ => in_version_4(&mut caller, arguments)?,
    }
    caller.client.close();
    Ok(())
}

fn in_version_3(caller: &mut Caller<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let root = match arguments.handle {
        Some(handle) => handle,
        None => caller.mount(&arguments.export)?,
    };
    match &arguments.what {
        What::Get { remote, local } => get::run(caller, arguments, root, (remote, local)),
        What::Put { local, remote } => put::run(caller, arguments, root, (local, remote)),
        What::List { remote } => list::run(caller, root, remote),
        What::Link { path, remote } => link::make(caller, root, (path, remote)),
        What::Readlink { remote } => link::print(caller, root, remote),
    }
}

fn in_version_4(caller: &mut Caller<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let root = arguments.handle.as_ref();
    match &arguments.what {
        What::Get { remote, local } => v4::get::run(caller, arguments, root, (remote, local)),
        What::Put { local, remote } => v4::put::run(caller, arguments, root, (local, remote)),
        What::List { remote } => v4::list::run(caller, root, remote),
        What::Link { .. } | What::Readlink { .. } => {
            Err("links are of NFSv3 here: leave --vers 4 out"
                .to_owned()
                .into())
        }
    }
}

/// The file that a path from `root` on names.
fn walk(
    caller: &mut Caller<'_>,
    root: Handle,
    path: &str,
) -> Result<(Handle, Option<FileAttributes>), Failure> {
    let names = path.split('/').filter(|name| !name.is_empty());
    let mut at = (root, None);
    for name in names {
        let found = caller.look_up(&at.0, name);
        at = found.map_err(|failure| match name == path {
            true => failure,
            false => format!("{path}: {failure}").into(),
        })?;
    }
    Ok(at)
}

/// What was copied.
struct Copied {
    begun: Instant,
    octets: u64,
    sha256: String,
}

impl Copied {
    /// Say so; where standard output is the copy, on standard error.
    fn report(&self, what: &str, on_stdout: bool) -> Result<(), Failure> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = self.octets as f64 / seconds.max(1e-9);
        let Self { octets, sha256, .. } = self;
        let text = format!(
            "{what}: {octets} octets in {seconds:.3} s, {rate:.0} octets/s, SHA-256 {sha256}"
        );
        match on_stdout {
            true => say(text),
            false => {
                complain(&text);
                Ok(())
            }
        }
    }
}

/// Octets in hexadecimal digits.
fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
