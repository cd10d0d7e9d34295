//! Talk first, RDMA later: two programs agree in words, and the TCP server begins MPA.
//!
//! ```text
//! talk_first sim:model,unix:wire.sock -s --own 192.0.2.1/24
//! talk_first sim:model,unix-connect:wire.sock -c --own 192.0.2.2/24 -a 192.0.2.1
//!
//!  client, MPA's responder            server, MPA's initiator
//!    "what is there?"        ------>
//!                            <------    "text, up to 65536 octets"
//!    "get 5000"              ------>
//!                            <------    MPA Request
//!    Reply                   ------>
//!                            <------    Send: the text, into the client's receive
//!    or, with --plain:
//!    Reply that rejects it   ------>
//!                            <------    the text, over the stream that is left
//! ```

use clap::Parser;
use rnic_driver::verbs::endpoint::{EndpointError, PairOptions, QueuePair, SendOperation, Stream};
use rnic_examples::end::End;
use rnic_examples::failure::{finish, say, Failure};
use rnic_examples::options::Options;
use rnic_examples::work::Work;
use std::process::ExitCode;
use std::time::Duration;

const QUESTION: &str = "what is there?";
const OFFER: &str = "text, up to 65536 octets";
const ORDER: &str = "get ";
/// Longest text.
const SIZE_MAX: usize = 65_536;
/// Octets of a line, at most.
const LINE_MAX: usize = 80;

/// Fetch a text: agree on it over TCP, and have it by RDMA.
#[derive(Debug, Parser)]
#[command(name = "talk_first")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Client: octets of the text, 1 to 65536
    #[arg(short = 'S', long, default_value_t = 5000,
          value_parser = clap::value_parser!(u32).range(1..=SIZE_MAX as i64))]
    size: u32,
    /// Client: reject MPA, and have the text over the stream
    #[arg(long)]
    plain: bool,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    let arguments = Arguments::parse();
    let ended = match arguments.options.role.server {
        true => serve(&arguments.options),
        false => fetch(&arguments),
    };
    finish("talk_first", ended)
}

/// A text, which both ends know.
fn text(octets: usize) -> Vec<u8> {
    (b'a'..=b'z').cycle().take(octets).collect()
}

/// A line of the peer's. Not an octet after it is read: MPA may begin there.
fn read_line(stream: &Stream, patience: Duration) -> Result<String, Failure> {
    let mut line = Vec::new();
    while line.len() < LINE_MAX {
        let mut octet = [0];
        if stream.read(&mut octet, Some(patience))? == 0 {
            break;
        }
        if octet == *b"\n" {
            return Ok(String::from_utf8_lossy(&line).into_owned());
        }
        line.extend(octet);
    }
    let peer = stream.peer_addr();
    Err(format!("{peer} has sent {} octets, and no line", line.len()).into())
}

/// Both halves end, and the peer has heard it.
fn close(end: &End, stream: &Stream, patience: Duration) -> Result<(), Failure> {
    stream.finish()?;
    // The client has read to the end already.
    while stream.read(&mut [0; LINE_MAX], Some(patience))? > 0 {}
    end.endpoint.drain(patience);
    Ok(())
}

/// Serve one client.
fn serve(options: &Options) -> Result<(), Failure> {
    let (end, patience) = (End::open(options)?, options.patience());
    let listener = end.endpoint.listen(options.own_address()?)?;
    say(format!("listening on {}", listener.local_addr()))?;
    let stream = listener.accept(None)?;
    let peer = stream.peer_addr();
    if read_line(&stream, patience)? != QUESTION {
        return Err(format!("{peer} asks for something else").into());
    }
    stream.write_all(format!("{OFFER}\n").as_bytes())?;
    let order = read_line(&stream, patience)?;
    let size = order.strip_prefix(ORDER).and_then(|size| size.parse().ok());
    let size = size.filter(|size| (1..=SIZE_MAX).contains(size));
    let size = size.ok_or_else(|| format!("{peer} orders {order:?}"))?;
    // Whoever accepted TCP opens MPA.
    let startup = options.startup.settings(1);
    let pair = stream.queue_pair(&end.domain, &startup, &PairOptions::default())?;
    match pair.start(b"text") {
        Ok(_) => send(&end, pair, &text(size), patience)?,
        Err(EndpointError::Rejected { reason, .. }) => {
            let reason = String::from_utf8_lossy(&reason).into_owned();
            say(format!("{peer} has rejected MPA: {reason}"))?;
            let stream = pair.into_stream()?;
            stream.write_all(&text(size))?;
            close(&end, &stream, patience)?;
        }
        Err(error) => return Err(error.into()),
    }
    say(format!("{size} octets sent to {peer}"))
}

/// Send the text into the peer's receive.
fn send(end: &End, pair: QueuePair, text: &[u8], patience: Duration) -> Result<(), Failure> {
    let mut memory = end.context.allocate(text.len())?;
    memory.write(0, text)?;
    let mut work = Work::new(pair, patience);
    work.post(&SendOperation::send(&[memory.part(0..text.len())?]))?;
    work.settle()?;
    work.close()
}

/// Fetch the text, and compare it.
fn fetch(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { options, size, .. } = arguments;
    let (size, patience) = (*size as usize, options.patience());
    let peer = options.peer_address()?;
    let end = End::open(options)?;
    let stream = end.endpoint.connect(peer)?;
    stream.write_all(format!("{QUESTION}\n").as_bytes())?;
    let offer = read_line(&stream, patience)?;
    if offer != OFFER {
        return Err(format!("{peer} offers {offer:?}").into());
    }
    // The last word goes with the call that waits for the Request: it may come at once.
    let order = format!("{ORDER}{size}\n");
    let request = stream.request(&options.startup.settings(1), order.as_bytes())?;
    let (fetched, way) = if arguments.plain {
        let stream = request.reject(b"as plain octets, please")?;
        let mut fetched = vec![0; size + 1];
        let mut count = 0;
        while count <= size {
            match stream.read(&mut fetched[count..], Some(patience))? {
                0 => break,
                more => count += more,
            }
        }
        fetched.truncate(count);
        close(&end, &stream, patience)?;
        (fetched, "over the stream")
    } else {
        let pair = request.queue_pair(&end.domain, &PairOptions::default())?;
        pair.post_receive(0, end.context.allocate(size)?)?;
        pair.accept(b"")?;
        let mut work = Work::new(pair, patience);
        let message = work.receive()?;
        let fetched = message.map_or(Vec::new(), |message| message.message());
        work.close()?;
        (fetched, "by RDMA")
    };
    if fetched != text(size) {
        return Err(format!("{} octets came, which are others", fetched.len()).into());
    }
    say(format!("{size} octets of {peer} {way}, contents equal"))
}
