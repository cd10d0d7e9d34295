//! Checks driver and device through the kernel's VFIO.
//!
//! ```text
//! vfio_check vfio:0000:00:03.0 CAPTURE     (in a virtual machine: testbench/vm/vm-test)
//! ```
//!
//! The device sends frames to itself, so its link does not matter: frames of its own for rings,
//! memory and interrupts, then those of a capture up to the second message of a flow, the first of
//! which goes to memory that is not the device's. One line is printed for each check. What the
//! lines `refused:` name must have been reported by whoever runs the device or its IOMMU.

use clap::Parser;
use rnic_abi::counters::Counter;
use rnic_capture::{Flow, Message};
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{
    Completion, Config, ConnectionConfig, ConnectionId, ConnectionKey, Dma, DmaBuffer,
    InterruptSource, Piece, QueueId, TransmitFrame, TransmitResult, TransmitRing,
};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The vector of host frames, that of completions, and one that nothing raises.
const HOST_VECTOR: u8 = 0;
const COMPLETION_VECTOR: u8 = 3;
const IDLE_VECTOR: u8 = 7;
/// Time in which anything must happen.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time in which nothing must happen.
const LOOK: Duration = Duration::from_millis(50);
/// Octets of memory that is mapped by itself: it is no piece of an arena.
const MAP_OCTETS: usize = 2 << 20;
/// Octets of a frame of the EtherType that IEEE 802 leaves for experiments.
const FRAME_OCTETS: usize = 1500;
/// Octets that a buffer holds before it is received into.
const BEFORE: u8 = 0xa5;

type Checked<T = ()> = Result<T, Box<dyn Error>>;

/// Check a device.
#[derive(Debug, Parser)]
struct Arguments {
    /// `vfio:0000:00:03.0`: a function that is bound to `vfio-pci`.
    address: String,
    /// A capture with a flow whose first two messages need no registered memory.
    capture: PathBuf,
    /// Abort with the device in use, as a program that is killed: the next one must find it usable.
    #[arg(long)]
    abort: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Checked {
    let address = &arguments.address;
    let mut device = open(address)?;
    if arguments.abort {
        device.transmit(TransmitRing::Control, &whole(&[Piece::Octets(&frame(1))]))?;
        std::process::abort();
    }
    identity(&mut device)?;
    opened_once(address)?;
    loopback(&mut device)?;
    ok("frames out of mapped memory came back in the host ring");
    interrupts(&mut device)?;
    read_of_unmapped(&mut device)?;
    write_to_unmapped(&mut device, &arguments.capture)?;
    counters(&mut device)?;
    device.close()?;
    reopened(address)
}

fn open(address: &str) -> Checked<AnyDevice> {
    let config = Config {
        control_units_log2: 4,
        ..Config::default()
    };
    let mut device = bus::open(address, config)?;
    device.set_loopback(true)?;
    Ok(device)
}

/// `Err` with what was not so.
fn expect(holds: bool, what: impl Into<String>) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(what.into().into()),
    }
}

fn ok(what: &str) {
    println!("ok: {what}");
}

fn identity(device: &mut AnyDevice) -> Checked {
    let (bits, sizes) = (device.frame_path_bits()?, device.sizes());
    let vectors = device.function().vectors();
    expect([64, 128, 512].contains(&bits), format!("{bits} bits"))?;
    expect(vectors == 8, format!("{vectors} vectors"))?;
    let (connections, regions) = (sizes.connections(), sizes.regions());
    ok(&format!(
        "opened and identified: {bits} bits, {connections} connections, {regions} regions"
    ));
    Ok(())
}

/// A group belongs to one container.
fn opened_once(address: &str) -> Checked {
    let second = bus::connect(address).err();
    let refusal = second.ok_or("a device that is in use was opened again")?;
    ok(&format!("not opened twice: {refusal}"));
    Ok(())
}

/// A frame in which nothing is to be inserted.
fn whole<'a>(pieces: &'a [Piece<'a>]) -> TransmitFrame<'a> {
    TransmitFrame {
        pieces,
        checksum: None,
        crc: None,
        cookie: 1,
    }
}

/// Send what `pieces` hold, and return what became of it.
fn send(device: &mut AnyDevice, pieces: &[Piece]) -> Checked<TransmitResult> {
    device.transmit(TransmitRing::Control, &whole(pieces))?;
    let result = until(device, "a frame's result", AnyDevice::poll_transmitted)?;
    Ok(result.result)
}

fn until<T, E: Error + 'static>(
    device: &mut AnyDevice,
    what: &str,
    poll: impl Fn(&mut AnyDevice) -> Result<Option<T>, E>,
) -> Checked<T> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(result) = poll(device)? {
            return Ok(result);
        }
        std::thread::yield_now();
    }
    Err(format!("{what} has not come in {} s", PATIENCE.as_secs()).into())
}

fn frame(seed: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, seed, 0x88, 0xb5]);
    frame.extend((frame.len()..FRAME_OCTETS).map(|at| (at as u8).wrapping_mul(seed)));
    frame
}

/// Octets of mapped memory go out, and come back into the host ring.
fn loopback(device: &mut AnyDevice) -> Checked {
    let map = device.dma().allocate("frames", MAP_OCTETS, 4096)?;
    for (seed, offset) in [(1, 0), (3, 4000), (5, MAP_OCTETS - FRAME_OCTETS)] {
        let sent = frame(seed);
        let address = map.address + offset as u64;
        device.dma().write(address, &sent);
        let piece = DmaBuffer {
            address,
            octets: sent.len(),
        };
        let result = send(device, &[Piece::Memory(piece)])?;
        expect(result == TransmitResult::Sent, format!("{result:?}"))?;
        let received = host_frame(device)?;
        expect(received == sent, "a frame came back with other octets")?;
    }
    device.dma().free(map);
    Ok(())
}

fn host_frame(device: &mut AnyDevice) -> Checked<Vec<u8>> {
    until(device, "a host frame", |device| {
        Ok::<_, rnic_driver::DriverError>(device.poll_host_frame())
    })
}

fn interrupts(device: &mut AnyDevice) -> Checked {
    device.route_interrupt(InterruptSource::HostFrame, Some(HOST_VECTOR))?;
    let early = device.wait(HOST_VECTOR, Some(LOOK))?;
    expect(!early, "an interrupt came before its frame")?;
    let mut longest = Duration::ZERO;
    for seed in 1..9 {
        let sent = frame(seed);
        send(device, &[Piece::Octets(&sent)])?;
        let began = Instant::now();
        let came = device.wait(HOST_VECTOR, Some(PATIENCE))?;
        expect(came, format!("frame {seed} raised no interrupt"))?;
        longest = longest.max(began.elapsed());
        expect(
            host_frame(device)? == sent,
            "an interrupt, but another frame",
        )?;
    }
    let idle = device.wait(IDLE_VECTOR, Some(Duration::ZERO))?;
    expect(!idle, "a vector was raised that nothing is routed to")?;
    device.route_interrupt(InterruptSource::HostFrame, None)?;
    send(device, &[Piece::Octets(&frame(9))])?;
    host_frame(device)?;
    let late = device.wait(HOST_VECTOR, Some(LOOK))?;
    expect(!late, "an interrupt came without a route")?;
    ok(&format!(
        "8 frames raised MSI-X vector {HOST_VECTOR}, no other; longest wait {longest:.1?}"
    ));
    Ok(())
}

/// Bus addresses that were mapped until now, for an access of the device.
fn unmapped(device: &mut AnyDevice, access: &str) -> Checked<DmaBuffer> {
    let map = device.dma().allocate("gone", MAP_OCTETS, 4096)?;
    device.dma().free(map);
    println!("refused: {access} {:#x}", map.address);
    Ok(map)
}

fn read_of_unmapped(device: &mut AnyDevice) -> Checked {
    let gone = DmaBuffer {
        octets: FRAME_OCTETS,
        ..unmapped(device, "read")?
    };
    let result = send(device, &[Piece::Memory(gone)])?;
    expect(result == TransmitResult::ReadFailed, format!("{result:?}"))?;
    let sent = frame(7);
    send(device, &[Piece::Octets(&sent)])?;
    expect(host_frame(device)? == sent, "another frame came back")?;
    ok("a read of unmapped memory failed, the next frame did not");
    Ok(())
}

/// Of two messages the first one's buffer is not mapped.
fn write_to_unmapped(device: &mut AnyDevice, capture: &Path) -> Checked {
    let capture = rnic_capture::read(capture)?;
    let flows = rnic_capture::flows(&capture, None);
    let usable = |flow: &&Flow| flow.reads.is_empty() && flow.messages.len() > 1;
    let flow = flows.iter().find(usable).ok_or("no flow can be used")?;
    let [first, second] = [flow.messages[0], flow.messages[1]];
    let connection = device.open_connection(&ConnectionConfig {
        key: ConnectionKey {
            remote: flow.source,
            local: flow.destination,
        },
        sequence_start: flow.sequence_start,
        window: 1 << 20,
        seg_ack: 0,
        seg_wnd: 0,
        markers: flow.markers,
        crc: flow.crc,
        version: flow.revision.min(1),
        protection_domain: 1,
        completion_queue: QueueId::default(),
    })?;
    let queue = InterruptSource::Completion(QueueId::default());
    device.route_interrupt(queue, Some(COMPLETION_VECTOR))?;
    for qn in 0..2 {
        device.open_queue(connection, qn, 1)?;
    }
    let gone = unmapped(device, "write")?;
    let octets = second.octets as usize;
    let buffer = device.dma().allocate("receive buffer", octets.max(1), 64)?;
    let buffer = DmaBuffer { octets, ..buffer };
    device.dma().write(buffer.address, &vec![BEFORE; octets]);
    for (message, DmaBuffer { address, .. }) in [(first, gone), (second, buffer)] {
        let octets = message.octets as usize;
        let buffer = DmaBuffer { address, octets };
        device.post_receive(connection, message.qn, buffer)?;
    }
    let last = play(device, connection, &capture.frames, &[first, second])?;
    let mut received = vec![0; octets];
    device.dma().read(buffer.address, &mut received);
    expect(
        last.windows(octets).any(|part| part == received),
        "the second message is not what its frame holds",
    )?;
    device.close_connection(connection)?;
    ok("a message to unmapped memory did not disturb the next one");
    Ok(())
}

/// Send frames until `messages` are complete; the last frame that was sent.
fn play<'a>(
    device: &mut AnyDevice,
    connection: ConnectionId,
    frames: &'a [Vec<u8>],
    messages: &[Message],
) -> Checked<&'a [u8]> {
    let mut left = messages.to_vec();
    for frame in frames {
        let result = send(device, &[Piece::Octets(frame)])?;
        expect(result == TransmitResult::Sent, format!("{result:?}"))?;
        device.wait(COMPLETION_VECTOR, Some(LOOK))?;
        while let Some(completion) = device.poll_completion() {
            let Completion::Receive {
                connection: of, qn, ..
            } = completion
            else {
                return Err(format!("{completion:?}").into());
            };
            expect(of == connection, "a completion of no connection")?;
            left.retain(|message| message.qn != qn);
        }
        while device.poll_host_frame().is_some() {}
        if left.is_empty() {
            return Ok(frame);
        }
    }
    Err(format!("{left:?} did not come").into())
}

fn counters(device: &mut AnyDevice) -> Checked {
    let [frames, sent, fpdus] =
        [Counter::Frames, Counter::TxFrames, Counter::Fpdus].map(|counter| device.counter(counter));
    let (frames, sent, fpdus) = (frames?, sent?, fpdus?);
    expect(
        frames == sent && fpdus == 2,
        format!("{frames} frames received, {sent} sent, {fpdus} FPDUs"),
    )?;
    ok(&format!(
        "counters: {frames} frames sent and received, {fpdus} FPDUs"
    ));
    Ok(())
}

/// A reset through the bus, then the device again from the beginning.
fn reopened(address: &str) -> Checked {
    let device = open(address)?;
    let has_reset = device.function().reset()?;
    expect(has_reset, "the function has no reset")?;
    drop(device);
    let mut device = open(address)?;
    let frames = device.counter(Counter::Frames)?;
    expect(frames == 0, format!("{frames} frames after a reset"))?;
    loopback(&mut device)?;
    device.close()?;
    ok("reset through the bus, opened again: its counters are 0, frames come back");
    Ok(())
}
