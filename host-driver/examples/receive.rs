//! Receives a capture into this process's memory, over any device that the driver can open.
//!
//! ```text
//! receive sim:model,pcap:FILE FILE                 (a device of its own)
//! receive vfio-user:rnic.sock FILE                 (of `rnic serve --vfio-user rnic.sock --link
//!                                                  pcap:FILE`, or a card, at vfio:0000:01:00.0)
//! ```
//!
//! What a connection manager would have agreed on with the peer - sequence numbers, STags, sizes of
//! messages - is learned from the same capture. Then the driver is used as an application uses it:
//! memory is registered, buffers are posted, connections are opened. One frame is sent, which
//! asks the other end of the link to begin; what arrives is printed with its SHA-256.

use clap::Parser;
use rnic_abi::counters::Counter;
use rnic_abi::limits::READ_QUEUE;
use rnic_capture::plan::{devices, Plan};
use rnic_capture::{Finding, Flow, Opened, ReadOptions};
use rnic_driver::verbs::{
    Completed, CompletionEvents, CompletionQueue, Connection, Context, Frame, MemoryRegion, Piece,
    ProtectionDomain, Received, RegionOptions, Rights,
};
use rnic_driver::{Config, ConnectionConfig, ConnectionKey, TransmitRing};
use rnic_examples::failure::{finish, say, Failure};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Window of each connection: the frames of a capture do not wait for acknowledgements.
const WINDOW: u32 = 1 << 20;
/// Time without any progress after which the rest is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a wait for an interrupt may last: RDMA Writes raise none.
const LOOK: Duration = Duration::from_millis(20);
/// A broadcast of the EtherType that IEEE 802 leaves for experiments.
const FIRST_FRAME: [u8; 60] = {
    let mut frame = [0; 60];
    let mut octet = 0;
    while octet < 6 {
        frame[octet] = 0xff;
        octet += 1;
    }
    frame[6] = 0x02;
    frame[12] = 0x88;
    frame[13] = 0xb5;
    frame
};

/// Receive what a capture holds for one of its hosts.
#[derive(Debug, Parser)]
struct Arguments {
    /// `vfio:0000:01:00.0`, `vfio-user:PATH`, `sim:rtl,LINK` or `sim:model,LINK`.
    address: String,
    /// The capture that the other end of the link plays.
    capture: PathBuf,
    /// Which receiving host of the capture to be, counted from 0.
    #[arg(long, default_value_t = 0)]
    host: usize,
}

/// A connection of the capture.
struct Stream {
    flow: usize,
    connection: Connection,
    /// The untagged messages that have come.
    messages: Vec<Received>,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    finish("receive", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let Opened {
        capture,
        flows,
        notes,
        causes,
    } = rnic_capture::open(&arguments.capture, &ReadOptions::default())?;
    for note in &notes {
        eprintln!("receive: note: {}", note.text);
    }
    if flows.is_empty() {
        return Err(nothing(&arguments.capture, &causes).into());
    }
    let plans = devices(&capture, &flows, false);
    let plan = plans.get(arguments.host).ok_or_else(|| {
        let hosts = plans.len();
        format!(
            "--host {}: the capture has {hosts} receiving hosts",
            arguments.host
        )
    })?;
    if plan
        .regions
        .iter()
        .any(|known| !known.region.renewals.is_empty())
    {
        return Err(
            "regions of this capture are registered again in mid-stream, at moments that \
                    only `rnic play` knows; choose another capture"
                .into(),
        );
    }
    let config = Config {
        control_units_log2: 4,
        host_slots_log2: 10,
        ..Config::default()
    };
    let context = Context::open(&arguments.address, config)?;
    let queue = context.completion_queue(config.completion_entries_log2)?;
    let events = context.completion_events(&[&queue])?;
    let domains = domains(&context, plan)?;
    let regions = register(&context, &domains, plan)?;
    let mut streams = Vec::new();
    for &number in &plan.flows {
        let domain = &domains[&plan.domains[&number]];
        let connection = open(&context, domain, &queue, &flows[number], &regions)?;
        streams.push(Stream {
            flow: number,
            connection,
            messages: Vec::new(),
        });
    }
    begin(&context)?;
    receive(&context, &queue, &events, &flows, &mut streams)?;
    print(&flows, &mut streams, &regions)?;
    let messages: usize = streams.iter().map(|stream| stream.messages.len()).sum();
    say(format!(
        "all that the capture has for host {} is here: flows {}, regions {}, messages {messages}",
        arguments.host,
        streams.len(),
        regions.len(),
    ))?;
    // The device writes to nothing that is dropped; closing it would say what is left.
    drop((streams, regions, domains, events, queue));
    context.close()?;
    Ok(())
}

/// Why there is nothing to receive.
fn nothing(path: &Path, causes: &[Finding]) -> String {
    let mut text = format!(
        "{}: nothing of this capture can be received",
        path.display()
    );
    for cause in causes {
        text += "\n  ";
        text += &cause.text;
    }
    text
}

/// The Protection Domains of the plan, by its numbers.
fn domains(
    context: &Context,
    plan: &Plan,
) -> Result<BTreeMap<u16, ProtectionDomain>, Box<dyn Error>> {
    let numbers: BTreeSet<u16> = plan.domains.values().copied().collect();
    let mut domains = BTreeMap::new();
    for number in numbers {
        domains.insert(number, context.protection_domain()?);
    }
    Ok(domains)
}

/// The regions of the plan, by STag.
fn register(
    context: &Context,
    domains: &BTreeMap<u16, ProtectionDomain>,
    plan: &Plan,
) -> Result<BTreeMap<u32, MemoryRegion>, Box<dyn Error>> {
    let mut regions = BTreeMap::new();
    for known in &plan.regions {
        let region = &known.region;
        let first = known.flows.first().ok_or("a region has a flow")?;
        let rights = Rights::from_bits(region.rights).ok_or("a right that no region has")?;
        let options = RegionOptions {
            rights: rights | Rights::REMOTE_WRITE | Rights::READ_SINK,
            tagged_offset: region.base,
            stag: Some(region.stag),
        };
        let memory = context.allocate(region.octets as usize)?;
        let domain = &domains[&plan.domains[first]];
        regions.insert(region.stag, domain.register(memory, &options)?);
    }
    Ok(regions)
}

/// The connection of a flow, with memory for each message and all its reads outstanding.
fn open(
    context: &Context,
    domain: &ProtectionDomain,
    queue: &CompletionQueue,
    flow: &Flow,
    regions: &BTreeMap<u32, MemoryRegion>,
) -> Result<Connection, Box<dyn Error>> {
    let config = ConnectionConfig {
        key: ConnectionKey {
            remote: flow.source,
            local: flow.destination,
        },
        sequence_start: flow.sequence_start,
        window: WINDOW,
        seg_ack: 0,
        seg_wnd: 0,
        markers: flow.markers,
        crc: flow.crc,
        version: flow.revision.min(1),
        protection_domain: domain.number(),
        completion_queue: queue.number(),
    };
    let connection = domain.open_connection(queue, &config)?;
    for qn in 0..3 {
        let expected = flow.messages.iter().filter(|message| message.qn == qn);
        connection.open_queue(qn, entries_log2(expected.count()))?;
    }
    connection.open_queue(READ_QUEUE as u32, entries_log2(flow.reads.len()))?;
    let mut expected = flow.messages.clone();
    expected.sort_by_key(|message| (message.qn, message.msn));
    for message in expected {
        let memory = context.allocate(message.octets as usize)?;
        connection.post_receive(message.qn, memory)?;
    }
    for read in &flow.reads {
        match regions.get(&read.stag) {
            _ if read.octets == 0 => connection.post_empty_read()?,
            Some(sink) => connection.post_read(sink, read.offset, read.octets)?,
            None => return Err("a read has a region".into()),
        };
    }
    Ok(connection)
}

/// Entries of a queue that holds `count`, in log2.
fn entries_log2(count: usize) -> u32 {
    count.max(1).next_power_of_two().ilog2()
}

/// Send a frame: the other end begins.
fn begin(context: &Context) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        pieces: &[Piece::Octets(&FIRST_FRAME)],
        checksum: None,
        crc: None,
        cookie: 0,
    };
    context.transmit(TransmitRing::Control, &frame)?;
    Ok(())
}

/// Until every whole FPDU and every message is there, or nothing more comes.
fn receive(
    context: &Context,
    queue: &CompletionQueue,
    events: &CompletionEvents,
    flows: &[Flow],
    streams: &mut [Stream],
) -> Result<(), Box<dyn Error>> {
    let (mut fpdus, mut wanted) = (0, 0);
    for stream in &*streams {
        fpdus += flows[stream.flow].fpdus.len();
        wanted += flows[stream.flow].messages.len();
    }
    let mut seen = (0, 0);
    let mut moved = Instant::now();
    loop {
        while let Some(completed) = queue.poll() {
            note(streams, completed)?;
        }
        while context.poll_host_frame().is_some() {}
        let messages = streams.iter().map(|stream| stream.messages.len()).sum();
        let now = (context.counter(Counter::Fpdus)? as usize, messages);
        if now.0 >= fpdus && now.1 >= wanted {
            return Ok(());
        }
        if now != seen {
            (seen, moved) = (now, Instant::now());
        }
        if moved.elapsed() > PATIENCE {
            return Err(format!(
                "nothing has come for {} s: {} of {fpdus} FPDUs, {} of {wanted} messages; does the \
                 link play this capture, for this host?",
                PATIENCE.as_secs(),
                now.0,
                now.1,
            )
            .into());
        }
        events.wait(Some(LOOK))?;
    }
}

fn note(streams: &mut [Stream], completed: Completed) -> Result<(), Failure> {
    match completed {
        Completed::Received(received) => {
            let mut streams = streams.iter_mut();
            let stream = streams.find(|stream| stream.connection.number() == received.connection);
            if let Some(stream) = stream {
                stream.messages.push(received);
            }
        }
        Completed::Stopped(error) => say(format!("stream error: {error:?}"))?,
        Completed::Read { .. } => {}
        Completed::Unknown(entry) => say(format!("an entry of no known kind: {entry:?}"))?,
    }
    Ok(())
}

fn print(
    flows: &[Flow],
    streams: &mut [Stream],
    regions: &BTreeMap<u32, MemoryRegion>,
) -> Result<(), Box<dyn Error>> {
    for stream in streams {
        let flow = &flows[stream.flow];
        say(format!(
            "flow {}: {} > {}",
            stream.flow, flow.source, flow.destination
        ))?;
        for known in &flow.regions {
            let Some(region) = regions.get(&known.stag) else {
                continue;
            };
            let mut octets = vec![0; region.octets()];
            region.read(0, &mut octets)?;
            let (stag, digest) = (region.stag(), digest(&octets));
            say(format!(
                "  region {stag:#010x}: {} octets, sha256 {digest}",
                octets.len()
            ))?;
        }
        stream
            .messages
            .sort_by_key(|message| (message.qn, message.msn));
        for received in &stream.messages {
            let Received {
                qn, msn, octets, ..
            } = received;
            let digest = digest(&received.message());
            say(format!(
                "  queue {qn} message {msn}: {octets} octets, sha256 {digest}"
            ))?;
        }
    }
    Ok(())
}

fn digest(octets: &[u8]) -> String {
    let digest = Sha256::digest(octets);
    digest.iter().map(|octet| format!("{octet:02x}")).collect()
}
