//! Latency: Sends, each of which the server sends back.
//!
//! ```text
//! pingpong sim:model,unix:wire.sock -s --own 192.0.2.1/24
//! pingpong sim:model,unix-connect:wire.sock -c --own 192.0.2.2/24 -a 192.0.2.1
//!
//!  client                          server
//!    MPA Request: octets  ------>    posts receives of that size
//!    Send                 ------>
//!                         <------    Send: the memory that was received
//! ```

use clap::Parser;
use rnic_driver::verbs::endpoint::{PairOptions, SendOperation};
use rnic_driver::verbs::Memory;
use rnic_examples::end::{End, Wanted};
use rnic_examples::failure::{finish, say, Failure};
use rnic_examples::figures::Figures;
use rnic_examples::options::Options;
use rnic_examples::work::{Happened, Work};
use serde::Serialize;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Instant;

/// Begins the Private Data of a client; the message's octets follow, four of them.
const KEY: [u8; 4] = *b"FWpp";
/// Longest message.
const SIZE_MAX: u32 = 1 << 20;
/// Receives of each end: one message is on its way, and its memory is sent before it is posted.
const RECEIVES: u32 = 4;
/// Messages before those that count: both ends have learned their next hops by then.
const WARM_UP: u64 = 10;

/// Measure how long Sends take, there and back.
#[derive(Debug, Parser)]
#[command(name = "pingpong")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Client: messages that are measured
    #[arg(short = 'C', long, default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Client: octets of a message, 1 to 1048576
    #[arg(short = 'S', long, default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(SIZE_MAX)))]
    size: u32,
    /// Client: print JSON and nothing else
    #[arg(long)]
    json: bool,
}

/// What a client prints.
#[derive(Debug, Serialize)]
struct Report {
    tool: &'static str,
    device: String,
    peer: SocketAddr,
    size_octets: u32,
    count: u64,
    #[serde(flatten)]
    figures: Figures,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    let arguments = Arguments::parse();
    let ended = match arguments.options.role.server {
        true => serve(&arguments.options),
        false => measure(&arguments),
    };
    finish("pingpong", ended)
}

/// What the connection of either end is to be.
fn wanted(options: &Options, size: u32, private_data: Vec<u8>) -> Wanted {
    Wanted {
        startup: options.startup.settings(1),
        pair: PairOptions {
            receives: RECEIVES,
            ..PairOptions::default()
        },
        receives: (RECEIVES, size as usize),
        private_data,
    }
}

/// The octets of a message, as a client asks for them.
fn asked(private_data: &[u8]) -> Result<u32, String> {
    let octets = private_data.strip_prefix(&KEY);
    let size = octets.and_then(|octets| Some(u32::from_be_bytes(octets.try_into().ok()?)));
    match size {
        Some(size @ 1..=SIZE_MAX) => Ok(size),
        Some(size) => Err(format!(
            "messages of {size} octets; 1 to {SIZE_MAX} are possible"
        )),
        None => Err("this is pingpong, and the client is another program".to_owned()),
    }
}

/// Send back what one client sends.
fn serve(options: &Options) -> Result<(), Failure> {
    let end = End::open(options)?;
    let listener = end.endpoint.listen(options.own_address()?)?;
    say(format!("listening on {}", listener.local_addr()))?;
    let startup = options.startup.settings(1);
    let mut work = end.accept(&listener, &startup, |private_data| {
        Ok(wanted(options, asked(private_data)?, Vec::new()))
    })?;
    // Memory that is being sent, in the order of its Sends.
    let mut sent: VecDeque<(u64, Memory)> = VecDeque::new();
    let mut count = 0_u64;
    loop {
        match work.wait()? {
            Happened::PeerClosed => break,
            Happened::Done(_) => {
                if let Some((id, memory)) = sent.pop_front() {
                    work.post_receive(id, memory)?;
                }
            }
            Happened::Received(message) => {
                if let Some(memory) = message.memory {
                    send(&mut work, &memory, message.octets)?;
                    sent.push_back((message.id, memory));
                    count += 1;
                }
            }
        }
    }
    let peer = work.peer();
    work.close()?;
    say(format!("{count} messages of {peer} sent back"))
}

fn send(work: &mut Work, memory: &Memory, octets: usize) -> Result<(), Failure> {
    work.post(&SendOperation::send(&[memory.part(0..octets)?]))
}

/// Measure, and report.
fn measure(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments {
        options,
        count,
        size,
        json,
    } = arguments;
    let peer = options.peer_address()?;
    let end = End::open(options)?;
    let request = [KEY, size.to_be_bytes()].concat();
    let (mut work, _) = end.connect(peer, &wanted(options, *size, request))?;
    let mut memory = end.context.allocate(*size as usize)?;
    let mut durations_us = Vec::new();
    for number in 0..WARM_UP + count {
        // Other octets for each, so that none is taken for the one before it.
        let octets: Vec<u8> = (0..*size)
            .map(|at| (u64::from(at) + number) as u8)
            .collect();
        memory.write(0, &octets)?;
        let begun = Instant::now();
        send(&mut work, &memory, octets.len())?;
        let answer = work.receive()?;
        let took = begun.elapsed();
        let answer = answer.ok_or_else(|| format!("{peer} has closed before its answer"))?;
        if answer.message() != octets {
            return Err(format!("message {number} comes back with other octets").into());
        }
        if let Some(memory) = answer.memory {
            work.post_receive(answer.id, memory)?;
        }
        work.settle()?;
        if number >= WARM_UP {
            durations_us.push(took.as_nanos() as f64 / 1e3);
        }
    }
    work.close()?;
    let figures = Figures::of(durations_us).ok_or("nothing was measured".to_owned())?;
    report(
        *json,
        Report {
            tool: "pingpong",
            device: options.device.clone(),
            peer,
            size_octets: *size,
            count: *count,
            figures,
        },
    )
}

fn report(json: bool, report: Report) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        return say(text);
    }
    let Report {
        peer,
        size_octets,
        count,
        figures,
        ..
    } = &report;
    say(format!(
        "{count} Sends of {size_octets} octets to {peer} and back"
    ))?;
    say(format!(
        "median {:.1} us, 99 % {:.1} us, longest {:.1} us",
        figures.median_us, figures.p99_us, figures.max_us
    ))?;
    figures.bars().iter().try_for_each(say)
}
