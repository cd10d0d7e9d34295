//! Frames through both transmit rings into the host ring, and their interrupts.

use super::bench::{Bench, HOST_VECTOR};
use super::checked::{expect, Checked};
use crate::frames::plain;
use rnic_driver::TransmitRing;
use std::time::Duration;

/// Octets of the frames: the shortest and longest of Ethernet, its neighbours, a jumbo frame, and
/// lengths that end in each part of a beat of 64 bits.
const LENGTHS: [usize; 11] = [60, 61, 62, 63, 64, 65, 66, 67, 1_513, 1_514, 9_014];
/// Frames whose interrupts are awaited.
const INTERRUPTS: usize = 4;

/// Each frame comes back with its octets.
pub(super) fn frames(bench: &mut Bench) -> Checked {
    bench.drop_host_frames();
    let mut octets = 0;
    for ring in TransmitRing::ALL {
        for (number, length) in LENGTHS.into_iter().enumerate() {
            let sent = plain(length, number);
            bench.send(ring, &sent)?;
            let received = bench.host_frame()?;
            expect(
                received == sent,
                format!(
                    "a frame of {length} octets on the {} ring came back as {} octets, {}",
                    ring.name(),
                    received.len(),
                    difference(&sent, &received)
                ),
            )?;
            octets += length;
        }
    }
    let frames = 2 * LENGTHS.len();
    Ok(format!(
        "{frames} frames of 60 to 9014 octets through both rings, {octets} octets equal"
    ))
}

fn difference(sent: &[u8], received: &[u8]) -> String {
    let mut pairs = sent.iter().zip(received);
    match pairs.position(|(sent, received)| sent != received) {
        Some(at) => format!("the first that differs is octet {at}"),
        None => "equal as far as they go".to_owned(),
    }
}

/// A frame raises the vector of the host ring, and no other.
pub(super) fn interrupts(bench: &mut Bench) -> Checked {
    bench.drop_host_frames();
    // What earlier frames have raised.
    bench.device.wait(HOST_VECTOR, Some(Duration::ZERO))?;
    for number in 0..INTERRUPTS {
        bench.send(TransmitRing::Control, &plain(64, number))?;
        let patience = bench.patience;
        let came = bench.device.wait(HOST_VECTOR, Some(patience))?;
        let seconds = patience.as_secs();
        let what = format!("a frame raised no vector {HOST_VECTOR} in {seconds} s");
        expect(came, what)?;
        bench.host_frame()?;
    }
    let vectors = bench.device.function().vectors() as u8;
    for vector in (0..vectors).filter(|&vector| vector != HOST_VECTOR) {
        let came = bench.device.wait(vector, Some(Duration::ZERO))?;
        let what = format!("vector {vector} was raised, to which nothing is routed");
        expect(!came, what)?;
    }
    Ok(format!(
        "{INTERRUPTS} frames raised MSI-X vector {HOST_VECTOR}, no other"
    ))
}
