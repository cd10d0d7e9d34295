//! Calls of a program that do nothing, over RPC over RDMA, and how long they take.
//!
//! ```text
//! rpc_ping sim:model,unix-connect:wire.sock --own 192.0.2.2/24 -a 192.0.2.1 -C 100
//! rpc_ping ... --wire-type long-call
//! ```
//!
//! | wire type    | call                                   | on the wire                          |
//! |--------------|----------------------------------------|--------------------------------------|
//! | `plain`      | NULL                                   | a Send each way                      |
//! | `long-call`  | SYMLINK of a name that is always taken | RDMA_NOMSG, read chunk of position 0 |
//! | `long-reply` | READDIRPLUS of the whole directory     | a reply chunk                        |
//!
//! The long ones are those of NFS, at a directory that MOUNT or `--handle` names, and change
//! nothing. A reply chunk is offered; a server may have so little to say that it does not use it,
//! or, as Linux', use it all the same.

use clap::{Parser, ValueEnum};
use rnic_examples::end::End;
use rnic_examples::failure::{finish, say, Failure};
use rnic_examples::figures::Figures;
use rnic_examples::nfs::{
    procedure, results, skip_set_attributes, Caller, Handle, Procedure, RpcOptions, Status, NFS,
    VERSION,
};
use rpcrdma::stream::{Message, Reader};
use std::process::ExitCode;
use std::time::Instant;

/// Octets of the path of a long call: the longest that servers take, and above what is inline.
const PATH_OCTETS: usize = 4095;
/// Octets of the longest reply.
const REPLY_OCTETS: u32 = 60_000;

/// Make calls that do nothing.
#[derive(Debug, Parser)]
#[command(name = "rpc_ping")]
struct Arguments {
    #[command(flatten)]
    options: RpcOptions,
    /// Calls
    #[arg(short = 'C', long, default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// The program, by its number
    #[arg(long, value_name = "NUMBER", default_value_t = NFS)]
    program: u32,
    /// Its version
    #[arg(long = "program-version", value_name = "NUMBER", default_value_t = VERSION)]
    version: u32,
    /// How calls and replies go
    #[arg(long, value_enum, default_value_t = WireType::Plain)]
    wire_type: WireType,
    /// The directory of long calls and replies, as the server's MOUNT program knows it
    #[arg(long, value_name = "PATH", default_value = "/")]
    export: String,
    /// That directory's handle in hexadecimal digits, without MOUNT
    #[arg(long, value_name = "HEX", conflicts_with = "export", value_parser = Handle::parse)]
    handle: Option<Handle>,
    /// Print each call
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WireType {
    /// Send and Send
    Plain,
    /// The call in a read chunk of position 0
    LongCall,
    /// The reply in a reply chunk
    LongReply,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    finish("rpc_ping", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.wire_type == WireType::LongCall && arguments.options.inline_octets > 4096 {
        return Err(
            "a long call has 4096 octets and more: give no more than --inline 4096"
                .to_owned()
                .into(),
        );
    }
    let end = End::open(&arguments.options.options(false))?;
    let mut caller = Caller::connect(&end, &arguments.options)?;
    let directory = match (arguments.wire_type, arguments.handle) {
        (WireType::Plain, _) => None,
        (_, Some(handle)) => Some(handle),
        (_, None) => Some(caller.mount(&arguments.export)?),
    };
    let mut durations_us = Vec::new();
    for number in 0..arguments.count {
        let begun = Instant::now();
        let octets = match (arguments.wire_type, &directory) {
            (WireType::LongCall, Some(handle)) => long_call(&mut caller, handle)?,
            (WireType::LongReply, Some(handle)) => long_reply(&mut caller, handle)?,
            _ => plain(&mut caller, arguments)?,
        };
        let us = begun.elapsed().as_secs_f64() * 1e6;
        if arguments.verbose {
            say(format!(
                "call {number}: {octets} octets of results in {us:.1} us"
            ))?;
        }
        durations_us.push(us);
    }
    report(&caller, arguments, durations_us)?;
    caller.client.close();
    Ok(())
}

fn plain(caller: &mut Caller<'_>, arguments: &Arguments) -> Result<usize, Failure> {
    let procedure = Procedure {
        program: arguments.program,
        version: arguments.version,
        number: procedure::NULL,
    };
    let call = caller.submit(procedure, |_| Ok(()), (&[], 0))?;
    caller.wait(call, |_| Ok(0))
}

/// The path stays inline, so that the call is longer than a Send. `.` is in each directory: the
/// server has nothing to make.
fn long_call(caller: &mut Caller<'_>, directory: &Handle) -> Result<usize, Failure> {
    let write = |message: &mut Message| {
        directory.write(message)?;
        message.opaque(b".")?;
        skip_set_attributes(message, 0o777);
        message.opaque(&[b'p'; PATH_OCTETS])
    };
    let call = caller.submit(Procedure::nfs(procedure::SYMLINK), write, (&[], 0))?;
    let made = caller.wait(call, |reader| results(reader, rest))?;
    match made {
        // Linux' server says that the name makes no sense.
        Err(Status::EXIST | Status::INVAL) => Ok(0),
        Err(status) => Err(caller.refused(".", status)),
        Ok(_) => Err(format!("{} has made a link with the name `.`", caller.peer).into()),
    }
}

fn long_reply(caller: &mut Caller<'_>, directory: &Handle) -> Result<usize, Failure> {
    let write = |message: &mut Message| {
        directory.write(message)?;
        // From the begin.
        message.u64(0);
        message.u64(0);
        message.u32(REPLY_OCTETS);
        message.u32(REPLY_OCTETS);
        Ok(())
    };
    let asked: (&[_], _) = (&[], REPLY_OCTETS);
    let call = caller.submit(Procedure::nfs(procedure::READDIRPLUS), write, asked)?;
    let listed = caller.wait(call, |reader| results(reader, rest))?;
    listed.map_err(|status| caller.refused("the directory", status))
}

/// Results that are only counted.
fn rest(reader: &mut Reader<'_>) -> Result<usize, rpcrdma::stream::DecodeError> {
    let left = reader.remaining();
    reader.fixed(left as u32)?;
    Ok(left)
}

fn report(
    caller: &Caller<'_>,
    arguments: &Arguments,
    durations_us: Vec<f64>,
) -> Result<(), Failure> {
    let count = durations_us.len();
    let Some(figures) = Figures::of(durations_us) else {
        return Ok(());
    };
    let Figures {
        min_us,
        median_us,
        p99_us,
        max_us,
        ..
    } = figures;
    let again = caller.client.machine().counters().calls_repeated;
    let name = arguments.wire_type.to_possible_value();
    let name = name.map_or_else(String::new, |value| value.get_name().to_owned());
    say(format!(
        "{count} {name} calls to {}: {min_us:.1} us at least, median {median_us:.1} us, 99 % \
         {p99_us:.1} us, at most {max_us:.1} us; {again} made again",
        caller.peer
    ))
}
