//! RDMA Writes of a peer that is the device itself: one is placed, one is refused, and after a
//! reset there is neither a connection nor a region for one.

use super::bench::Bench;
use super::checked::{expect, Checked};
use crate::frames::{connection, Stream, PROTECTION_DOMAIN};
use crate::outcome::Failure;
use rnic_abi::counters::{Counter, ALL};
use rnic_abi::limits::PAGES;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::bus::AnyDevice;
use rnic_driver::{Completion, ConnectionId, Dma, DmaBuffer, InUse, RegionConfig, TransmitRing};

/// Octets that a Write has, and its region.
const OCTETS: usize = 1_000;
/// Octets of the region before they are written.
const BEFORE: u8 = 0xa5;
/// What a Send after a Write has.
const DONE: &[u8] = b"done";

/// A connection and a region that are still in place.
#[derive(Debug)]
pub(super) struct Left {
    connection: ConnectionId,
    stag: u32,
    region: DmaBuffer,
}

fn octets_of(device: &mut AnyDevice, buffer: DmaBuffer) -> Vec<u8> {
    let mut octets = vec![0; buffer.octets];
    device.dma().read(buffer.address, &mut octets);
    octets
}

fn payload() -> Vec<u8> {
    (0..OCTETS).map(|at| (at * 5 + 1) as u8).collect()
}

/// A Write and a Send after it: once the Send has completed, the Write's octets are in the region.
pub(super) fn write_is_placed(bench: &mut Bench) -> Result<(Left, String), Failure> {
    let device = &mut bench.device;
    let region = device.dma().allocate("region", OCTETS, 64)?;
    device.dma().write(region.address, &[BEFORE; OCTETS]);
    let buffer = device.dma().allocate("receive buffer", 64, 64)?;
    let stag = device.draw_stag()?;
    device.register_region(&RegionConfig {
        stag,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: PROTECTION_DOMAIN,
        connection: None,
        tagged_offset: 0,
        octets: OCTETS as u64,
        address: region.address,
    })?;
    let opened = device.open_connection(&connection())?;
    device.open_queue(opened, 0, 1)?;
    device.post_receive(opened, 0, buffer)?;
    let mut stream = Stream::new();
    bench.send(TransmitRing::Bulk, &stream.write(stag, &payload()))?;
    bench.send(TransmitRing::Control, &stream.send(DONE))?;
    let completion = next_completion(bench)?;
    let is_done = matches!(completion, Completion::Receive { connection, qn: 0, msn: 1, length, .. }
        if connection == opened && length as usize == DONE.len());
    expect(
        is_done,
        format!("the Send after it ended in {completion:?}"),
    )?;
    let received = octets_of(&mut bench.device, buffer);
    expect(received.starts_with(DONE), "the Send has other octets")?;
    let placed = octets_of(&mut bench.device, region) == payload();
    expect(placed, "its region holds other octets")?;
    let left = Left {
        connection: opened,
        stag,
        region,
    };
    Ok((
        left,
        format!("{OCTETS} octets placed, a Send completed after them"),
    ))
}

fn next_completion(bench: &mut Bench) -> Result<Completion, Failure> {
    bench.until("a completion", |device| Ok(device.poll_completion()))
}

/// A Write to an STag that is not registered stops its connection, and is counted.
pub(super) fn write_is_refused(bench: &mut Bench, left: Option<&Left>) -> Checked {
    let device = &mut bench.device;
    // Two connections of the same key cannot be.
    if let Some(left) = left {
        device.close_connection(left.connection)?;
        device.dma().write(left.region.address, &[BEFORE; OCTETS]);
    }
    let before = device.counter(Counter::RefuseDdpStag)?;
    let opened = device.open_connection(&connection())?;
    let stag = device.draw_stag()?;
    bench.send(TransmitRing::Bulk, &Stream::new().write(stag, &payload()))?;
    let completion = next_completion(bench)?;
    let is_error = matches!(completion, Completion::Error { connection, header: Some(header), .. }
        if connection == opened && header.octets()[2..6] == stag.to_be_bytes());
    expect(is_error, format!("it ended in {completion:?}"))?;
    let counted = bench.device.counter(Counter::RefuseDdpStag)?;
    let by = counted.wrapping_sub(before);
    let name = Counter::RefuseDdpStag.name();
    expect(by == 1, format!("{name} has moved by {by}, not by 1"))?;
    if let Some(left) = left {
        let is_untouched = octets_of(&mut bench.device, left.region) == [BEFORE; OCTETS];
        expect(is_untouched, "another region was written")?;
    }
    Ok(format!(
        "a Write to an unregistered STag stopped its connection, {name} counted it"
    ))
}

/// After a reset that found a connection open and a region registered: the same Write is a frame
/// for the host, and changes nothing.
pub(super) fn nothing_is_left(bench: &mut Bench, left: Option<Left>) -> Checked {
    let left = left.ok_or("not checked: the RDMA Write failed")?;
    for counter in ALL {
        let is_of_wire = matches!(counter, Counter::Frames | Counter::HostFrames)
            || counter.name().starts_with("drop_");
        let value = bench.device.counter(*counter)?;
        let what = format!("{} is {value}, not 0", counter.name());
        expect(value == 0 || is_of_wire, what)?;
    }
    bench.begin()?;
    let in_use = bench.device.in_use()?;
    expect(in_use == InUse::default(), format!("{in_use:?} is in use"))?;
    let sent = Stream::new().write(left.stag, &payload());
    bench.send(TransmitRing::Bulk, &sent)?;
    let received = bench.host_frame()?;
    expect(received == sent, "a frame came back with other octets")?;
    let fpdus = bench.device.counter(Counter::Fpdus)?;
    expect(fpdus == 0, "the previous connection took a segment")?;
    let is_untouched = octets_of(&mut bench.device, left.region) == [BEFORE; OCTETS];
    expect(is_untouched, "the previous region was written")?;
    let pages = bench.device.free_pages()? as usize;
    expect(
        pages == PAGES,
        format!("{pages} pages are free, not {PAGES}"),
    )?;
    Ok("counters are 0, no connection and no region is left, all pages are free".to_owned())
}
