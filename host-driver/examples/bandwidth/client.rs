//! The end that posts, and measures.

use crate::asked::{Asked, Operation, Place};
use crate::payload::{compare, pattern};
use crate::{for_each, Both, Load};
use rnic_driver::verbs::endpoint::{PairOptions, SendOperation, WorkCompletion};
use rnic_driver::verbs::{MemoryRegion, Rights};
use rnic_examples::end::{End, Wanted};
use rnic_examples::failure::{say, Failure};
use rnic_examples::options::Options;
use rnic_examples::work::{Happened, Work};
use serde::Serialize;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Receives for what a server says of its receives: no more than three are on their way.
const CREDITS: u32 = 4;

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    tool: &'static str,
    device: String,
    peer: SocketAddr,
    operation: Operation,
    size_octets: u32,
    depth: u32,
    connections: u8,
    messages: u64,
    seconds: f64,
    megabits_per_second: f64,
    messages_per_second: f64,
    retransmitted_segments: u64,
}

/// A run of the measurement.
struct Run {
    work: Work,
    /// What is sent, written, or read into.
    region: MemoryRegion,
    place: Place,
    operation: Operation,
    posted: u64,
    /// How many the server has receives for.
    allowed: u64,
}

/// What one connection has done.
struct Measured {
    messages: u64,
    took: Duration,
    retransmitted_segments: u64,
}

/// Measure, and report.
pub fn run(options: &Options, load: &Load, both: Both) -> Result<(), Failure> {
    let peer = options.peer_address()?;
    let end = End::open(options)?;
    let measured = for_each(both.connections, || {
        connection(&end, peer, options, load, both.verify)
    })?;
    let longest = measured.iter().map(|one| one.took).max();
    let took = longest.unwrap_or_default().as_secs_f64();
    let messages = measured.iter().map(|one| one.messages).sum();
    let again = measured.iter().map(|one| one.retransmitted_segments);
    let report = Report {
        tool: "bandwidth",
        device: options.device.clone(),
        peer,
        operation: load.operation,
        size_octets: load.size,
        depth: load.depth,
        connections: both.connections,
        messages,
        seconds: took,
        megabits_per_second: messages as f64 * f64::from(load.size) * 8.0 / took / 1e6,
        messages_per_second: messages as f64 / took,
        retransmitted_segments: again.sum(),
    };
    report.print(load.json)
}

/// Measure one connection.
fn connection(
    end: &End,
    peer: SocketAddr,
    options: &Options,
    load: &Load,
    verify: bool,
) -> Result<Measured, Failure> {
    let asked = Asked {
        operation: load.operation,
        size: load.size,
        depth: load.depth,
    };
    let wanted = Wanted {
        startup: options.startup.settings(load.depth as u16),
        pair: PairOptions {
            sends: load.depth as usize,
            receives: CREDITS,
            ..PairOptions::default()
        },
        receives: (CREDITS, 4),
        private_data: asked.octets(),
    };
    let (work, answer) = end.connect(peer, &wanted)?;
    let place = Place::read(&answer).ok_or_else(|| format!("{peer} is another program"))?;
    let mut region = end.region(load.size as usize, Rights::READ_SINK)?;
    if load.operation != Operation::Read {
        region.write(0, &pattern(load.size as usize))?;
    }
    let mut run = Run {
        work,
        region,
        place,
        operation: load.operation,
        posted: 0,
        allowed: match load.operation {
            Operation::Send => load.depth.into(),
            Operation::Write | Operation::Read => u64::MAX,
        },
    };
    let took = run.measure(load)?;
    let statistics = run.work.pair().statistics()?;
    run.work.close()?;
    if verify && load.operation == Operation::Read {
        let mut read = vec![0; load.size as usize];
        run.region.read(0, &mut read)?;
        compare("what was read", &read)?;
    }
    Ok(Measured {
        messages: run.posted,
        took,
        retransmitted_segments: statistics.sent.retransmitted_segments,
    })
}

impl Run {
    /// Keep `depth` messages posted until the time, or the count, is over; and wait for the last.
    fn measure(&mut self, load: &Load) -> Result<Duration, Failure> {
        let begun = Instant::now();
        let end = begun + Duration::from_secs(load.seconds);
        let is_wanted = |posted: u64| match load.count {
            Some(count) => posted < count,
            None => Instant::now() < end,
        };
        loop {
            if is_wanted(self.posted) {
                let room = load.depth as usize - self.work.outstanding();
                let allowed = self.allowed.saturating_sub(self.posted);
                let left = load.count.map_or(u64::MAX, |count| count - self.posted);
                self.post(load.size, allowed.min(left).min(room as u64) as usize)?;
            } else if self.work.outstanding() == 0 {
                return Ok(begun.elapsed());
            }
            // Everything that has happened, before more is posted together.
            let mut happened = Some(self.work.wait()?);
            while let Some(now) = happened {
                self.take(now)?;
                happened = self.work.poll()?;
            }
        }
    }

    /// Post so many messages.
    fn post(&mut self, size: u32, count: usize) -> Result<(), Failure> {
        let Self { region, place, .. } = self;
        let payload = [region.part(0..size as usize)?];
        let operation = match self.operation {
            Operation::Send => SendOperation::send(&payload),
            Operation::Write => SendOperation::Write {
                payload: &payload,
                stag: place.stag,
                to: place.to,
            },
            Operation::Read => SendOperation::Read {
                sink: region,
                sink_to: region.tagged_offset(),
                source_stag: place.stag,
                source_to: place.to,
                octets: size,
            },
        };
        self.work.post_times(&operation, count)?;
        self.posted += count as u64;
        Ok(())
    }

    fn take(&mut self, happened: Happened) -> Result<(), Failure> {
        match happened {
            Happened::Done(_) => Ok(()),
            Happened::Received(credit) => self.take_credit(credit),
            Happened::PeerClosed => {
                let peer = self.work.peer();
                Err(format!("{peer} has closed before the end").into())
            }
        }
    }

    /// The server has posted receives again.
    fn take_credit(&mut self, credit: WorkCompletion) -> Result<(), Failure> {
        let message = credit.message();
        let count = message
            .first_chunk()
            .map_or(0, |count| u32::from_be_bytes(*count));
        self.allowed = self.allowed.saturating_add(count.into());
        if let Some(memory) = credit.memory {
            self.work.post_receive(credit.id, memory)?;
        }
        Ok(())
    }
}

impl Report {
    fn print(&self, json: bool) -> Result<(), Failure> {
        if json {
            let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
            return say(text);
        }
        say("operation    octets  depth   messages  seconds      Mbit/s  messages/s  sent again")?;
        say(format!(
            "{:<9} {:>9} {:>6} {:>10} {:>8.2} {:>11.1} {:>11.1} {:>11}",
            format!("{:?}", self.operation).to_lowercase(),
            self.size_octets,
            self.depth,
            self.messages,
            self.seconds,
            self.megabits_per_second,
            self.messages_per_second,
            self.retransmitted_segments
        ))
    }
}
