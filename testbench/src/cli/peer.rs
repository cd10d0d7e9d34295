//! `rnic peer`: a peer that misbehaves on purpose, played against an iWARP implementation.
//!
//! ```text
//!  --script, or the cases of this program --> chosen ones --> Player --> a line and a verdict each
//!                                                               |
//!                             Stranger <--socket--> Hub, --pcap <--> --link
//! ```

use crate::cli::interrupt::{self, Polling};
use crate::cli::json::JsonSink;
use crate::cli::lines::Lines;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::peer_report::{list, CaseReport, Counts, PeerReport, TargetsReport};
use rnic_device::hub::record::Record;
use rnic_device::hub::{Records, Running, Settings};
use rnic_device::link::{within, LinkKind};
use rnic_output::{shown, Claims};
use rnic_peer::limits::{Limits, Network};
use rnic_peer::script::{embedded, parse, Case, Player, Targets};
use rnic_peer::{Identity, Stranger};
use rnic_testbench::play::PlayError;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EXAMPLE: &str = "\
Example, at a hub, against a listening rping (its own, or that of Linux):
  rnic hub --port unix:/tmp/a.wire --port unix:/tmp/b.wire
  rping sim:model,unix-connect:/tmp/a.wire -s -P --own 10.0.0.1/24
  rnic peer --link unix-connect:/tmp/b.wire --own 10.0.0.9/24 --target 10.0.0.1 --pcap peer.pcapng

The target of most cases runs `rping -s -P`, or `while :; do rping -s; done`. With --clients those
cases are played, too, in which the peer waits; the target then runs, for as long as they last,
  while sleep 0.2; do rping -c -a 10.0.0.9 -C 1; done
Cases about markers and about CRC32C that is not in use need targets that are set so; ours are
`rping -s --markers` and `rping -s --no-crc`: --target markers=ADDR and --target no-crc=ADDR.

A verdict is \"as the standard asks\", \"differs\" or \"cannot tell\". Status 0: all are as the
standard asks; 1: not all. Targets are private and link-local addresses on a tap or socket of this
user; --allow NET permits others. docs/peer.md has the form of case files.";

/// Where `rping` listens.
const PORT: u16 = 7174;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// The peer's wire: unix-connect:PATH, such as a hub's port, unix:PATH or tap:NAME.
    #[arg(long, value_parser = link, required_unless_present = "list")]
    link: Option<LinkKind>,
    /// The peer's address and its prefix.
    #[arg(long, value_name = "ADDR/BITS", required_unless_present = "list")]
    own: Option<Network>,
    /// Who listens: ADDR, ADDR:PORT or `[IPV6]:PORT`; markers= or no-crc= before it names one that
    /// asks for markers, or not for CRC32C.
    #[arg(long = "target", value_name = "[KIND=]ADDR", value_parser = target)]
    targets: Vec<(Kind, SocketAddr)>,
    /// Play cases in which a client comes to the peer, at this port.
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "7174")]
    clients: Option<u16>,
    /// Cases of one's own, in place of those of this program.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// List the cases, and play none.
    #[arg(long)]
    list: bool,
    /// Play this case; may be repeated.
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Play the cases of this group; may be repeated.
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// Addresses of this network may be targets; may be repeated.
    #[arg(long, value_name = "NET")]
    allow: Vec<Network>,
    /// Play cases, too, that may crash a kernel.
    #[arg(long)]
    may_crash: bool,
    /// Milliseconds that an answer may take.
    #[arg(long, value_name = "MS", default_value_t = 3000,
          value_parser = clap::value_parser!(u64).range(10..=600_000))]
    patience: u64,
    /// Seconds that a target may take to listen again, or a client to come.
    #[arg(long, value_name = "S", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    arrival: u64,
    /// How often a case is tried that nothing comes of.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    tries: u32,
    /// Microseconds that a frame takes each way.
    #[arg(long, value_name = "US", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    delay: u64,
    /// Write all frames as pcapng; each case has a port of its own, which the JSON says.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write the verdicts as JSON into this file; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How a target is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Markers,
    NoCrc,
}

fn link(text: &str) -> Result<LinkKind, String> {
    match text.parse() {
        Ok(LinkKind::None | LinkKind::Pcap(_)) | Err(_) => {
            Err("use unix-connect:PATH, unix:PATH or tap:NAME".into())
        }
        Ok(kind) => Ok(kind),
    }
}

fn target(text: &str) -> Result<(Kind, SocketAddr), String> {
    let (kind, address) = match text.split_once('=') {
        None => (Kind::Plain, text),
        Some(("markers", address)) => (Kind::Markers, address),
        Some(("no-crc", address)) => (Kind::NoCrc, address),
        Some((other, _)) => return Err(format!("{other}= is no kind: use markers= or no-crc=")),
    };
    let alone = || Some(SocketAddr::new(address.parse::<IpAddr>().ok()?, PORT));
    let target = address.parse().ok().or_else(alone);
    let target = target.ok_or("use ADDR, ADDR:PORT or [IPV6]:PORT; names are not looked up")?;
    Ok((kind, target))
}

impl Arguments {
    fn targets(&self) -> Targets {
        let of = |kind| {
            let mut targets = self.targets.iter().rev();
            targets.find(|(found, _)| *found == kind).map(|(_, to)| *to)
        };
        Targets {
            plain: of(Kind::Plain),
            markers: of(Kind::Markers),
            no_crc: of(Kind::NoCrc),
            clients: self.clients,
        }
    }

    /// The cases that are chosen, of those of a file or of this program.
    fn chosen(&self, claims: &mut Claims) -> Result<Vec<Case>, Failure> {
        let all = match &self.script {
            None => embedded(),
            Some(path) => {
                claims.input(path);
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| {
                    PlayError::Option(format!("--script {}: {error}", shown(path)))
                })?;
                parse(&shown(path).to_string(), &text)?
            }
        };
        let names = all.iter().map(|case| &case.name);
        let groups = all.iter().map(|case| &case.group);
        refuse_unknown("--case", &self.cases, names)?;
        refuse_unknown("--group", &self.groups, groups)?;
        let is_all = self.cases.is_empty() && self.groups.is_empty();
        let is_chosen = |case: &Case| {
            is_all || self.cases.contains(&case.name) || self.groups.contains(&case.group)
        };
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// Nobody is played at who is not to be.
    fn check_targets(&self, link: &LinkKind, own: Network) -> Result<(), Failure> {
        let limits = Limits {
            allowed: self.allow.clone(),
            is_foreign: !is_ours(link),
        };
        for (_, target) in &self.targets {
            let checked = limits.check(target.ip(), own);
            checked.map_err(|why| PlayError::Option(format!("--target: {why}")))?;
        }
        // Whoever comes is on the same link; the peer's own prefix says who that can be.
        if self.clients.is_some() {
            let checked = limits.check(own.address, own);
            checked.map_err(|why| PlayError::Option(format!("--own: {why}")))?;
        }
        if self.targets.is_empty() && self.clients.is_none() {
            let what = "nobody to play at: use --target ADDR or --clients";
            return Err(PlayError::Option(what.into()).into());
        }
        Ok(())
    }
}

fn refuse_unknown<'a>(
    option: &str,
    wanted: &[String],
    known: impl Iterator<Item = &'a String> + Clone,
) -> Result<(), Failure> {
    for name in wanted {
        if !known.clone().any(|known| known == name) {
            let what = format!("{option} {name}: there is none; --list has them");
            return Err(PlayError::Option(what).into());
        }
    }
    Ok(())
}

/// Whether the wire belongs to this user: a socket of one's own, a tap of one's own.
fn is_ours(link: &LinkKind) -> bool {
    // Its folder in /proc belongs to the effective user of a process.
    let Ok(user) = std::fs::metadata("/proc/self").map(|process| process.uid()) else {
        return false;
    };
    match link {
        LinkKind::UnixConnect(path) => {
            let owner = std::fs::metadata(path).map(|socket| socket.uid());
            owner.is_ok_and(|owner| owner == user)
        }
        LinkKind::Tap(name) => {
            let path = Path::new("/sys/class/net").join(name).join("owner");
            let owner = std::fs::read_to_string(path).unwrap_or_default();
            // One that is nobody's, root's alone can open.
            let owner = owner.trim().parse::<i64>();
            owner.is_ok_and(|owner| owner == i64::from(user) || owner == -1 && user == 0)
        }
        _ => true,
    }
}

/// Another one for each run: a target may remember the connections of an earlier one.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_micros() as u64)
}

/// The peer's wire, with a record of it.
struct Wire {
    stranger: Option<Stranger>,
    hub: Running,
}

impl Wire {
    fn open(arguments: &Arguments, claims: &mut Claims) -> Result<Self, Failure> {
        let (Some(link), Some(own)) = (&arguments.link, arguments.own) else {
            return Err(PlayError::Option("--link and --own are needed".into()).into());
        };
        let pcap = arguments.pcap.as_deref();
        let output = pcap.map(|path| claims.output("--pcap", path)).transpose()?;
        let name = link.to_string();
        let record = output.map(|output| Record::begin(output, [name.as_str(), "peer"]));
        let records = Records {
            delivered: record.transpose()?,
            dropped: None,
        };
        let (ours, theirs) = UnixStream::pair()?;
        let links = vec![link.open_privately()?, within(theirs)?];
        let settings = Settings {
            delay_us: arguments.delay,
            ..Settings::default()
        };
        let hub = Running::start(links, settings, records)?;
        let identity = Identity {
            seed: seed(),
            ..Identity::new(own.address, own.bits)
        };
        Ok(Self {
            hub,
            stranger: Some(Stranger::begin(ours, identity)?),
        })
    }

    /// The capture takes its name.
    fn finish(mut self) -> Result<(), Failure> {
        self.stranger = None;
        self.hub.end()?;
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut claims = Claims::new();
    let chosen = arguments.chosen(&mut claims)?;
    if arguments.list {
        Lines::Stdout.say(list(&chosen))?;
        return Ok(Outcome::Good);
    }
    if let (Some(link), Some(own)) = (&arguments.link, arguments.own) {
        arguments.check_targets(link, own)?;
    }
    let mut json = JsonSink::open(&mut claims, arguments.json.as_deref())?;
    let lines = Lines::unless(json.is_stdout());
    let targets = arguments.targets();
    let mut counts = Counts::default();
    let mut played = Vec::new();
    let polling = Polling::begin();
    let wire = Wire::open(arguments, &mut claims)?;
    let Some(stranger) = &wire.stranger else {
        unreachable!("it has just been opened");
    };
    let mut player = Player {
        stranger,
        targets,
        patience: Duration::from_millis(arguments.patience),
        arrival: Duration::from_secs(arguments.arrival),
        tries: arguments.tries,
        is_deserted: false,
    };
    for case in &chosen {
        if interrupt::is_raised() {
            break;
        }
        if !counts.takes(case, &targets, arguments.may_crash) {
            continue;
        }
        let report = CaseReport::new(case, &player.play(case));
        counts.note(&report);
        lines.say(report.text())?;
        played.push(report);
    }
    drop(polling);
    wire.finish()?;
    lines.say(counts.text())?;
    let is_good = counts.is_good();
    let report = PeerReport::new(TargetsReport::new(arguments.own, &targets), counts, played);
    json.write(&report)?;
    if interrupt::is_raised() {
        json.finish_early()?;
        return Ok(Outcome::Interrupted);
    }
    json.finish()?;
    Ok(if is_good { Outcome::Good } else { Outcome::Bad })
}
