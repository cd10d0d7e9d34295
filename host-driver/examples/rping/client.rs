//! The end that pings: it offers a buffer to be read, then one to be written.

use crate::record::{pattern, text, Record, RECORD_OCTETS};
use crate::{wanted, Ping};
use rnic_driver::verbs::endpoint::SendOperation;
use rnic_driver::verbs::{Memory, MemoryRegion, Rights};
use rnic_examples::end::End;
use rnic_examples::failure::{say, Failure};
use rnic_examples::options::Options;
use rnic_examples::work::Work;
use std::net::SocketAddr;
use std::time::Instant;

/// A buffer, and the record that says where it is.
struct Offer {
    region: MemoryRegion,
    record: Memory,
}

impl Offer {
    fn new(end: &End, size: usize, rights: Rights) -> Result<Self, Failure> {
        let region = end.region(size, rights)?;
        let mut record = end.context.allocate(RECORD_OCTETS)?;
        let place = Record {
            to: region.tagged_offset(),
            stag: region.stag(),
            size: size as u32,
        };
        record.write(0, &place.octets())?;
        Ok(Self { region, record })
    }

    /// Offer it to the peer, and wait until that has said to go ahead.
    fn make(&self, work: &mut Work) -> Result<(), Failure> {
        let peer = work.peer();
        let payload = [self.record.part(0..RECORD_OCTETS)?];
        work.post(&SendOperation::send(&payload))?;
        let answer = work.receive()?.ok_or_else(|| {
            format!("{peer} has closed in the middle of a ping; what it says tells why")
        })?;
        if answer.octets != RECORD_OCTETS {
            let octets = answer.octets;
            return Err(format!(
                "{peer} answers with {octets} octets, where rping has {RECORD_OCTETS}; is it one?"
            )
            .into());
        }
        // What was received says nothing; its memory takes the answer after the next one.
        if let Some(memory) = answer.memory {
            work.post_receive(answer.id, memory)?;
        }
        work.settle()
    }
}

/// Ping `peer`.
pub fn run(end: &End, peer: SocketAddr, options: &Options, ping: &Ping) -> Result<(), Failure> {
    let mut source = Offer::new(end, ping.size, Rights::REMOTE_READ)?;
    let sink = Offer::new(end, ping.size, Rights::REMOTE_WRITE)?;
    let (mut work, _) = end.connect(peer, &wanted(options))?;
    let begun = Instant::now();
    let numbers = (0..).take_while(|number| ping.count == 0 || *number < ping.count);
    for number in numbers {
        let sent = pattern(number, ping.size);
        source.region.write(0, &sent)?;
        source.make(&mut work)?;
        sink.make(&mut work)?;
        let mut returned = vec![0; ping.size];
        sink.region.read(0, &mut returned)?;
        if ping.verify {
            compare(number, &sent, &returned)?;
        }
        if ping.verbose {
            say(format!("ping data: {}", text(&returned)))?;
        }
    }
    let each = begun.elapsed().as_secs_f64() * 1e3 / ping.count.max(1) as f64;
    work.close()?;
    let equal = if ping.verify { ", contents equal" } else { "" };
    let Ping { count, size, .. } = ping;
    say(format!(
        "{count} pings of {size} octets read and written by {peer}{equal}: {each:.3} ms each"
    ))
}

/// What comes back is what was sent.
fn compare(number: u64, sent: &[u8], returned: &[u8]) -> Result<(), Failure> {
    let mut pairs = sent.iter().zip(returned);
    match pairs.position(|(sent, returned)| sent != returned) {
        None => Ok(()),
        Some(at) => Err(format!(
            "ping {number}: octet {at} came back as {:#04x}, where {:#04x} was sent",
            returned[at], sent[at]
        )
        .into()),
    }
}
