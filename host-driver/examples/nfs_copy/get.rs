//! A file from the server.

use crate::window::{Flight, Window};
use crate::{hex, walk, Arguments, Copied};
use rnic_examples::failure::Failure;
use rnic_examples::nfs::{
    procedure, read_attributes, read_post_attributes, results, Caller, FileType, Handle, Procedure,
    Status,
};
use rnic_output::Claims;
use rpcrdma::place::Place;
use rpcrdma::stream::{DecodeError, Opaque, Reader};
use rpcrdma::CallId;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Instant;

/// READs of at most so many octets have their data inline.
const INLINE_OCTETS_MAX: u32 = 1024;

/// A file that is read.
struct Source<'n> {
    handle: Handle,
    size: u64,
    name: &'n str,
}

/// Copy `remote` to `local`.
pub fn run(
    caller: &mut Caller<'_>,
    arguments: &Arguments,
    root: Handle,
    (remote, local): (&str, &Path),
) -> Result<(), Failure> {
    let mut output = Claims::new()
        .output("LOCAL", local)
        .map_err(|error| error.to_string())?;
    let source = open(caller, root, remote)?;
    let begun = Instant::now();
    let mut sha256 = Sha256::new();
    let mut octets = vec![0; arguments.block as usize];
    let mut window = Window::new(caller, arguments.calls, arguments.block)?;
    let mut asked = 0;
    loop {
        while asked < source.size {
            let Some(block) = window.take() else {
                break;
            };
            let left = (source.size - asked).min(arguments.block.into());
            let place = block.first(left as u32);
            let call = submit(caller, &source, asked, place)?;
            window.add(call, asked, (block, place.length));
            asked += left;
        }
        let Some(flight) = window.next() else {
            break;
        };
        finish(caller, &source, &flight)?;
        let read = &mut octets[..flight.place.length as usize];
        let loaded = caller.memories.load(flight.place, read);
        loaded.map_err(|error| error.to_string())?;
        sha256.update(&*read);
        output.write(read).map_err(|error| error.to_string())?;
        window.end(&flight);
    }
    let to_stdout = output.is_stdout();
    output.finish().map_err(|error| error.to_string())?;
    let copied = Copied {
        begun,
        octets: source.size,
        sha256: hex(&sha256.finalize()),
    };
    copied.report(&format!("get {remote}"), !to_stdout)
}

fn open<'n>(caller: &mut Caller<'_>, root: Handle, name: &'n str) -> Result<Source<'n>, Failure> {
    let (handle, attributes) = walk(caller, root, name)?;
    let attributes = match attributes {
        Some(attributes) => attributes,
        None => caller.call(
            Procedure::nfs(procedure::GETATTR),
            name,
            |message| handle.write(message),
            read_attributes,
        )?,
    };
    if attributes.kind != FileType::File {
        return Err(format!("{name} at {} is no regular file; try `list`", caller.peer).into());
    }
    Ok(Source {
        handle,
        size: attributes.size,
        name,
    })
}

fn submit(
    caller: &mut Caller<'_>,
    source: &Source<'_>,
    offset: u64,
    place: Place,
) -> Result<CallId, Failure> {
    let is_inline = place.length <= INLINE_OCTETS_MAX;
    let places = [place];
    let offer: (&[Place], u32) = match is_inline {
        true => (&[], place.length.next_multiple_of(4)),
        false => (&places, 0),
    };
    let write = |message: &mut rpcrdma::stream::Message| {
        source.handle.write(message)?;
        message.u64(offset);
        message.u32(place.length);
        Ok(())
    };
    caller.submit(Procedure::nfs(procedure::READ), write, offer)
}

/// What a READ has brought.
struct Data {
    octets: Option<Vec<u8>>,
    count: u32,
}

fn read_data(reader: &mut Reader<'_>, most: u32) -> Result<Data, DecodeError> {
    read_post_attributes(reader)?;
    let (count, _is_end) = (reader.u32()?, reader.u32()?);
    let data = reader.opaque(most)?;
    if count != data.length() {
        return Err(DecodeError::Unknown);
    }
    let octets = match data {
        Opaque::Inline { octets, .. } => Some(octets.to_vec()),
        // It is where it was asked for.
        Opaque::Chunk(_) => None,
    };
    Ok(Data { octets, count })
}

/// Wait for a READ. What it was asked for and has not brought is asked for again (RFC 1813,
/// 3.3.6: a server may return fewer octets).
fn finish(caller: &mut Caller<'_>, source: &Source<'_>, flight: &Flight) -> Result<(), Failure> {
    let (mut call, mut done) = (flight.call, 0);
    let failed = |failure: Failure| match failure {
        Failure::Other(text) => Failure::Other(text),
        other => format!("get {}: {other}", source.name).into(),
    };
    loop {
        let left = flight.place.length - done;
        let read = caller.wait(call, |reader| {
            results(reader, |reader| read_data(reader, left))
        });
        let data = read.map_err(failed)?;
        let data = data.map_err(|status: Status| caller.refused(source.name, status))?;
        let place = flight.place.part(done, left);
        let place = place.ok_or("a READ is within its block".to_owned())?;
        if let Some(octets) = data.octets {
            let stored = caller.memories.store(place, &octets);
            stored.map_err(|error| error.to_string())?;
        }
        done += data.count;
        if done == flight.place.length {
            return Ok(());
        }
        if data.count == 0 {
            let at = flight.offset + u64::from(done);
            return Err(format!(
                "{} at {} ends at octet {at}, and had {} before: it was cut; copy it again",
                source.name, caller.peer, source.size
            )
            .into());
        }
        let place = flight.place.part(done, flight.place.length - done);
        let place = place.ok_or("a READ is within its block".to_owned())?;
        call = submit(caller, source, flight.offset + u64::from(done), place)?;
    }
}
