//! The end that is written to, read from, or sent to.

use crate::asked::{Asked, Operation, Place, DEPTH_MAX};
use rnic_driver::verbs::endpoint::{PairOptions, SendOperation};
use rnic_driver::verbs::{Memory, MemoryRegion, Rights};
use rnic_examples::end::{End, Wanted};
use rnic_examples::failure::{say, Failure};
use rnic_examples::options::Options;
use rnic_examples::work::{Happened, Work};

/// What a client has asked for, and the region that it may reach.
type Agreed = (Asked, Option<MemoryRegion>);

/// Serve one client.
pub fn run(options: &Options) -> Result<(), Failure> {
    let end = End::open(options)?;
    let listener = end.endpoint.listen(options.own_address()?)?;
    say(format!("listening on {}", listener.local_addr()))?;
    let startup = options.startup.settings(DEPTH_MAX as u16);
    let mut agreed: Option<Agreed> = None;
    let mut work = end.accept(&listener, &startup, |private_data| {
        let asked = Asked::read(private_data)?;
        let region = region(&end, &asked).map_err(|failure| failure.to_string())?;
        let wanted = wanted(options, &asked, region.as_ref());
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
    end.region(asked.size as usize, rights).map(Some)
}

fn wanted(options: &Options, asked: &Asked, region: Option<&MemoryRegion>) -> Wanted {
    let place = region.map(|region| Place {
        to: region.tagged_offset(),
        stag: region.stag(),
    });
    let receives = match asked.operation {
        Operation::Send => (asked.depth, asked.size as usize),
        Operation::Write | Operation::Read => (0, 0),
    };
    Wanted {
        startup: options.startup.settings(DEPTH_MAX as u16),
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
