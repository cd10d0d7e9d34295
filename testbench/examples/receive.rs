//! Receives a capture into this process's memory, over any device that the driver can open.
//!
//! ```text
//! rnic serve --vfio-user rnic.sock --link pcap:FILE      (or a card, at vfio:0000:01:00.0)
//! receive vfio-user:rnic.sock FILE
//! ```
//!
//! What a connection manager would have agreed on with the peer - sequence numbers, STags, sizes of
//! messages - is learned from the same capture. Then the driver is used as an application uses it:
//! memory is registered, buffers are posted, connections are opened. One frame is sent, which
//! tells the other end of the link to begin; what arrives is printed with its SHA-256.

use clap::Parser;
use rnic_abi::counters::Counter;
use rnic_abi::limits::READ_QUEUE;
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_WRITE};
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{
    Completion, CompletionQueue, Config, Connection, ConnectionConfig, ConnectionKey, Dma,
    DmaBuffer, InterruptSource, Piece, RegionConfig, TransmitFrame, TransmitRing,
};
use rnic_testbench::capture::{self, Flow};
use rnic_testbench::play::plan::{devices, Plan};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Window of each connection: frames come at the wire's rate, and none waits for acknowledgement.
const WINDOW: u32 = 1 << 20;
/// The vector that completions raise.
const VECTOR: u8 = 0;
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
    /// `vfio-user:PATH` or `vfio:0000:01:00.0`.
    address: String,
    /// The capture that the other end of the link plays.
    capture: PathBuf,
    /// Which receiving host of the capture to be, counted from 0.
    #[arg(long, default_value_t = 0)]
    host: usize,
}

/// An untagged message that is expected, or has come.
struct Message {
    qn: u32,
    msn: u32,
    buffer: DmaBuffer,
    received: Option<u32>,
}

/// A connection of the capture.
struct Stream {
    flow: usize,
    connection: Connection,
    messages: Vec<Message>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("receive: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let capture = capture::read(&arguments.capture)?;
    let flows = capture::flows(&capture, None);
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
    let mut device = bus::open(&arguments.address, config)?;
    device.route_interrupt(
        InterruptSource::Completion(CompletionQueue::default()),
        Some(VECTOR),
    )?;
    let regions = register(&mut device, plan)?;
    let mut streams = Vec::new();
    for &flow in &plan.flows {
        streams.push(open(&mut device, plan, &flows, flow)?);
    }
    begin(&mut device)?;
    receive(&mut device, &flows, &mut streams)?;
    print(&mut device, &flows, &streams, &regions);
    for stream in &streams {
        device.close_connection(stream.connection)?;
    }
    device.close()?;
    Ok(())
}

/// Memory for each region, by STag.
fn register(
    device: &mut AnyDevice,
    plan: &Plan,
) -> Result<BTreeMap<u32, DmaBuffer>, Box<dyn Error>> {
    let mut memory = BTreeMap::new();
    for known in &plan.regions {
        let region = &known.region;
        let buffer = device
            .dma()
            .allocate("region", region.octets.max(1) as usize, 4096)?;
        let first = known.flows.first().ok_or("a region has a flow")?;
        device.register_region(&RegionConfig {
            stag: region.stag,
            rights: region.rights | RIGHT_REMOTE_WRITE | RIGHT_READ_SINK,
            protection_domain: plan.domains[first],
            connection: None,
            tagged_offset: region.base,
            octets: region.octets,
            address: buffer.address,
        })?;
        memory.insert(
            region.stag,
            DmaBuffer {
                octets: region.octets as usize,
                ..buffer
            },
        );
    }
    Ok(memory)
}

/// The connection of a flow, with a buffer for each message and all its reads outstanding.
fn open(
    device: &mut AnyDevice,
    plan: &Plan,
    flows: &[Flow],
    flow: usize,
) -> Result<Stream, Box<dyn Error>> {
    let known = &flows[flow];
    let connection = device.open_connection(&ConnectionConfig {
        key: ConnectionKey {
            remote: known.source,
            local: known.destination,
        },
        sequence_start: known.sequence_start,
        window: WINDOW,
        markers: known.markers,
        crc: known.crc,
        version: known.revision.min(1),
        protection_domain: plan.domains[&flow],
        completion_queue: CompletionQueue::default(),
    })?;
    let mut expected = known.messages.clone();
    expected.sort_by_key(|message| (message.qn, message.msn));
    for qn in 0..3 {
        let count = expected.iter().filter(|message| message.qn == qn).count();
        device.open_queue(connection, qn, entries_log2(count))?;
    }
    device.open_queue(
        connection,
        READ_QUEUE as u32,
        entries_log2(known.reads.len()),
    )?;
    let mut messages = Vec::new();
    for message in expected {
        let octets = message.octets as usize;
        let buffer = device.dma().allocate("receive buffer", octets.max(1), 64)?;
        let buffer = DmaBuffer { octets, ..buffer };
        let posted = device.post_receive(connection, message.qn, buffer)?;
        messages.push(Message {
            qn: message.qn,
            msn: posted.msn,
            buffer,
            received: None,
        });
    }
    for read in &known.reads {
        device.post_read(connection, read.stag, read.offset, read.octets)?;
    }
    Ok(Stream {
        flow,
        connection,
        messages,
    })
}

/// Entries of a queue that holds `count`, in log2.
fn entries_log2(count: usize) -> u32 {
    count.max(1).next_power_of_two().ilog2()
}

/// Send a frame: the other end begins.
fn begin(device: &mut AnyDevice) -> Result<(), Box<dyn Error>> {
    let frame = TransmitFrame {
        pieces: &[Piece::Octets(&FIRST_FRAME)],
        checksum: None,
        crc: None,
        cookie: 0,
    };
    device.transmit(TransmitRing::Control, &frame)?;
    Ok(())
}

/// Until every whole FPDU and every message is there, or nothing more comes.
fn receive(
    device: &mut AnyDevice,
    flows: &[Flow],
    streams: &mut [Stream],
) -> Result<(), Box<dyn Error>> {
    let fpdus: usize = streams.iter().map(|s| flows[s.flow].fpdus.len()).sum();
    let mut seen = (0, 0);
    let mut moved = Instant::now();
    loop {
        while let Some(completion) = device.poll_completion() {
            note(streams, completion);
        }
        while device.poll_host_frame().is_some() {}
        let received = streams.iter().flat_map(|stream| &stream.messages);
        let messages = received
            .filter(|message| message.received.is_some())
            .count();
        let now = (device.counter(Counter::Fpdus)? as usize, messages);
        let wanted = streams.iter().map(|stream| stream.messages.len()).sum();
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
        device.wait(VECTOR, Some(LOOK))?;
    }
}

fn note(streams: &mut [Stream], completion: Completion) {
    match completion {
        Completion::Receive {
            connection,
            qn,
            msn,
            length,
            ..
        } => {
            let stream = streams
                .iter_mut()
                .find(|stream| stream.connection == connection);
            let messages = stream.into_iter().flat_map(|stream| &mut stream.messages);
            for message in messages.filter(|message| (message.qn, message.msn) == (qn, msn)) {
                message.received = Some(length);
            }
        }
        Completion::Error { .. } => println!("stream error: {completion:?}"),
        Completion::ReadResponse { .. } => {}
        Completion::Unknown(_) => println!("an entry of no known kind: {completion:?}"),
    }
}

fn print(
    device: &mut AnyDevice,
    flows: &[Flow],
    streams: &[Stream],
    regions: &BTreeMap<u32, DmaBuffer>,
) {
    for stream in streams {
        let flow = &flows[stream.flow];
        println!(
            "flow {}: {} > {}",
            stream.flow, flow.source, flow.destination
        );
        for region in &flow.regions {
            if let Some(&buffer) = regions.get(&region.stag) {
                let digest = digest(device, buffer);
                let octets = buffer.octets;
                println!(
                    "  region {:#010x}: {octets} octets, sha256 {digest}",
                    region.stag
                );
            }
        }
        for message in &stream.messages {
            let Some(octets) = message.received else {
                continue;
            };
            let octets = octets as usize;
            let digest = digest(
                device,
                DmaBuffer {
                    octets,
                    ..message.buffer
                },
            );
            let Message { qn, msn, .. } = message;
            println!("  queue {qn} message {msn}: {octets} octets, sha256 {digest}");
        }
    }
}

fn digest(device: &mut AnyDevice, buffer: DmaBuffer) -> String {
    let mut octets = vec![0; buffer.octets];
    device.dma().read(buffer.address, &mut octets);
    let digest = Sha256::digest(&octets);
    digest.iter().map(|octet| format!("{octet:02x}")).collect()
}
