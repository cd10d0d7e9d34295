//! `rnicctl info`: what a device is, and what it has free.

use crate::address::Address;
use crate::outcome::{Failure, Outcome};
use crate::source::Source;
use rnic_driver::monitor::Info;
use rnic_output::names::one_line;
use rnic_output::stdout;
use std::fmt::Write;

const EXAMPLE: &str = "\
Example:
  rnicctl info vfio-user:/tmp/rnic.sock
  rnicctl info monitor:$XDG_RUNTIME_DIR/ferrowarp/storage.sock --json

Opening a vfio: or vfio-user: device resets it; only an unused device can be opened.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// vfio:0000:01:00.0, vfio-user:PATH or monitor:PATH.
    address: Address,
    /// Print one JSON object; a flag, the file is standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut source = Source::open(&arguments.address)?;
    let info = source.info()?;
    match arguments.json {
        true => stdout::write(format!("{}\n", serde_json::to_string(&info)?).as_bytes())?,
        false => stdout::print(&as_text(&arguments.address, &info))?,
    }
    source.close()?;
    Ok(Outcome::Good)
}

fn as_text(address: &Address, info: &Info) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:14}{value}").expect("a text has room");
    };
    line("device", one_line(&address.to_string()).into_owned());
    let owner = match address {
        Address::Device(_) => "none; it was reset to read it".to_owned(),
        Address::Monitor(_) => format!("process {}", info.process),
    };
    line("opened by", owner);
    line("frame path", format!("{} bits", info.frame_path_bits));
    let (used, size) = (info.connections_open, info.connections);
    line("connections", format!("{used} of {size}"));
    let (used, size) = (info.regions_registered, info.regions);
    line("regions", format!("{used} of {size}"));
    line("free pages", info.free_pages.to_string());
    for (name, pool) in info.present_pools() {
        line(name, format!("{} of {}", pool.used, pool.size));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_driver::monitor::PoolReport;

    #[test]
    fn info_says_who_has_the_device_and_what_is_in_use() {
        let info = Info {
            process: 42,
            frame_path_bits: 64,
            connections: 1024,
            connections_open: 3,
            regions: 512,
            regions_registered: 2,
            free_pages: 500,
            pools: [("spans".to_owned(), PoolReport { used: 1, size: 512 })].into(),
        };
        let Ok(address) = "monitor:/run/x".parse::<Address>();
        let text = "\
device        monitor:/run/x
opened by     process 42
frame path    64 bits
connections   3 of 1024
regions       2 of 512
free pages    500
spans         1 of 512
";
        assert_eq!(as_text(&address, &info), text);
    }
}
