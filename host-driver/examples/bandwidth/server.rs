//! The end that is written to, read from, or sent to.

use crate::asked::{Asked, Operation, Place, DEPTH_MAX};
use crate::payload::{compare, pattern};
use crate::{for_each, Both};
use rnic_driver::verbs::endpoint::{Listener, PairOptions, SendOperation};
use rnic_driver::verbs::{Memory, MemoryRegion, Rights};
use rnic_examples::end::{End, Wanted};
use rnic_examples::failure::{say, Failure};
use rnic_examples::options::Options;
use rnic_examples::work::{Happened, Work};
use rnic_iwarp::startup::Settings;

/// What a client has asked for, and the region that it may reach.
type Agreed = (Asked, Option<MemoryRegion>);

/// Serve as many clients as there are to be, at a time.
pub fn run(options: &Options, both: Both) -> Result<(), Failure> {
    let end = End::open(options)?;
    let listener = end.endpoint.listen(options.own_address()?)?;
    say(format!("listening on {}", listener.local_addr()))?;
    let serve = || serve(&end, &listener, options, both);
    for_each(both.connections, serve)?;
    Ok(())
}

/// Serve one client.
fn serve(end: &End, listener: &Listener, options: &Options, both: Both) -> Result<(), Failure> {
    // All connections share what the device has for Reads.
    let reads = DEPTH_MAX / u32::from(both.connections);
    let startup = options.startup.settings(reads as u16);
    let mut agreed: Option<Agreed> = None;
    let mut work = end.accept(listener, &startup, |private_data| {
        let asked = Asked::read(private_data)?;
        let region = region(end, &asked).map_err(|failure| failure.to_string())?;
        let wanted = wanted(startup, &asked, region.as_ref());
        agreed = Some((asked, region));
        Ok(wanted)
    })?;
    let (peer, mut count) = (work.peer(), 0_u64);
    let batch = agreed.as_ref().map_or(1, |(asked, _)| asked.batch());
    let mut credit = end.context.allocate(4)?;
    credit.write(0, &batch.to_be_bytes())?;
    loop {
        match work.wait()? {
            Happened::PeerClosed => break,
            Happened::Done(_) => {}
            Happened::Received(message) => {
                if both.verify {
                    compare("a Send", &message.message())?;
                }
                if let Some(memory) = message.memory {
                    work.post_receive(message.id, memory)?;
                }
                count += 1;
                if count % u64::from(batch) == 0 {
                    give(&mut work, &credit)?;
                }
            }
        }
    }
    work.close()?;
    if let Some((asked, Some(region))) = &agreed {
        if both.verify && asked.operation == Operation::Write {
            let mut written = vec![0; asked.size as usize];
            region.read(0, &mut written)?;
            compare("what was written", &written)?;
        }
    }
    match agreed {
        Some((asked, None)) => {
            let size = asked.size;
            say(format!(
                "{count} messages, of up to {size} octets, of {peer}"
            ))
        }
        _ => say(format!(
            "{peer} has ended; who writes or reads does so alone"
        )),
    }
}

/// What the client writes or reads.
fn region(end: &End, asked: &Asked) -> Result<Option<MemoryRegion>, Failure> {
    let rights = match asked.operation {
        Operation::Send => return Ok(None),
        Operation::Write => Rights::REMOTE_WRITE,
        Operation::Read => Rights::REMOTE_READ,
    };
    let mut region = end.region(asked.size as usize, rights)?;
    if asked.operation == Operation::Read {
        region.write(0, &pattern(asked.size as usize))?;
    }
    Ok(Some(region))
}

fn wanted(startup: Settings, asked: &Asked, region: Option<&MemoryRegion>) -> Wanted {
    let place = region.map(|region| Place {
        to: region.tagged_offset(),
        stag: region.stag(),
    });
    let receives = match asked.operation {
        Operation::Send => (asked.depth, asked.size as usize),
        Operation::Write | Operation::Read => (0, 0),
    };
    Wanted {
        startup,
        pair: PairOptions {
            receives: receives.0,
            ..PairOptions::default()
        },
        receives,
        private_data: place.unwrap_or_default().octets(),
    }
}

/// Tell the client of receives that are posted again.
fn give(work: &mut Work, credit: &Memory) -> Result<(), Failure> {
    work.post(&SendOperation::send(&[credit.part(0..4)?]))
}
