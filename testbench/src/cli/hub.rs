//! `rnic hub`: joins served devices, guests and interfaces of Linux.

use crate::cli::interrupt::Polling;
use crate::cli::json::JsonSink;
use crate::cli::lines::Lines;
use crate::cli::outcome::{Failure, Outcome};
use rnic_device::hub::medium::Counts;
use rnic_device::hub::record::Record;
use rnic_device::hub::{Hub, Rate, Records, Settings};
use rnic_device::link::{Link, LinkError, LinkKind};
use rnic_output::Claims;
use serde::Serialize;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Example:
  rnic serve --vfio-user /tmp/a.sock --link unix:/tmp/a.wire
  rnic serve --vfio-user /tmp/b.sock --link unix:/tmp/b.wire
  rnic hub --port unix-connect:/tmp/a.wire --port unix-connect:/tmp/b.wire --loss 0.01

It runs until Ctrl-C or SIGTERM, and then says what has become of the frames. A guest of QEMU
connects to a port unix:PATH with `-netdev stream,id=net,server=off,addr.type=unix,addr.path=PATH`.
Every frame goes to all other ports. Which frames are lost depends on the seed, the port and how
many frames came before at that port; a frame that is reordered is overtaken by 1 to 3 others of its
port, or leaves 20 ms late.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// A port, 2 to 64 of them: unix:PATH (it listens, for this user), unix-connect:PATH or
    /// tap:NAME.
    #[arg(long = "port", value_name = "LINK", required = true, value_parser = port)]
    ports: Vec<LinkKind>,
    /// Frames that do not arrive, 0 to 1.
    #[arg(long, value_name = "P", default_value = "0")]
    loss: Rate,
    /// Frames that arrive twice, 0 to 1.
    #[arg(long, value_name = "P", default_value = "0")]
    duplicate: Rate,
    /// Frames that others overtake, 0 to 1.
    #[arg(long, value_name = "P", default_value = "0")]
    reorder: Rate,
    /// Microseconds from port to port.
    #[arg(long, value_name = "US", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=60_000_000))]
    delay: u64,
    /// Megabits a second into a port; a queue of 1 MiB before it. [default: no limit]
    #[arg(
        long,
        value_name = "MBIT",
        default_value_t = 0,
        hide_default_value = true
    )]
    rate: u32,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write frames as they are delivered, as pcapng; its interfaces are the ports by which they
    /// came.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write frames that are dropped, as pcapng.
    #[arg(long, value_name = "FILE")]
    dropped: Option<PathBuf>,
    /// Write the counts as JSON into this file; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn port(text: &str) -> Result<LinkKind, String> {
    match text.parse() {
        Ok(LinkKind::None | LinkKind::Pcap(_)) | Err(_) => {
            Err("use unix:PATH, unix-connect:PATH or tap:NAME".into())
        }
        Ok(kind) => Ok(kind),
    }
}

/// The counts, as JSON.
#[derive(Debug, Serialize)]
struct HubReport {
    tool: &'static str,
    version: &'static str,
    seed: u64,
    ports: Vec<PortReport>,
}

/// Those of a port.
#[derive(Debug, Serialize)]
struct PortReport {
    port: String,
    #[serde(flatten)]
    counts: Counts,
}

impl PortReport {
    fn text(&self) -> String {
        let (port, counts) = (&self.port, self.counts);
        format!(
            "{port}: {} frames in ({} octets), {} lost, {} at a full queue, {} doubled, {} late; \
             {} frames out, {} unread",
            counts.received,
            counts.octets,
            counts.lost,
            counts.full,
            counts.duplicated,
            counts.late,
            counts.sent,
            counts.unread
        )
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut claims = Claims::new();
    let names: Vec<String> = arguments.ports.iter().map(LinkKind::to_string).collect();
    let mut record = |option, path: Option<&Path>| -> Result<Option<Record>, Failure> {
        let output = path.map(|path| claims.output(option, path)).transpose()?;
        let names = names.iter().map(String::as_str);
        let record = output.map(|output| Record::begin(output, names));
        Ok(record.transpose()?)
    };
    let records = Records {
        delivered: record("--pcap", arguments.pcap.as_deref())?,
        dropped: record("--dropped", arguments.dropped.as_deref())?,
    };
    let mut json = JsonSink::open(&mut claims, arguments.json.as_deref())?;
    let lines = Lines::unless(json.is_stdout());
    let ports = arguments.ports.iter().map(LinkKind::open_privately);
    let ports: Result<Vec<Box<dyn Link>>, LinkError> = ports.collect();
    let settings = Settings {
        loss: arguments.loss,
        duplicate: arguments.duplicate,
        reorder: arguments.reorder,
        delay_us: arguments.delay,
        megabits: arguments.rate,
        seed: arguments.seed,
    };
    // A signal ends the hub, and with it its sockets are removed.
    let polling = Polling::begin();
    let mut hub = Hub::new(ports?, settings, records, polling.socket()?)?;
    lines.say(format!(
        "seed {}; joining {}",
        arguments.seed,
        names.join(", ")
    ))?;
    hub.run()?;
    let reports = names.iter().zip(hub.counts());
    let reports = reports.map(|(port, counts)| PortReport {
        port: port.clone(),
        counts,
    });
    let report = HubReport {
        tool: "rnic",
        version: env!("CARGO_PKG_VERSION"),
        seed: arguments.seed,
        ports: reports.collect(),
    };
    for port in &report.ports {
        lines.say(port.text())?;
    }
    json.write(&report)?;
    json.finish()?;
    Ok(Outcome::Good)
}
