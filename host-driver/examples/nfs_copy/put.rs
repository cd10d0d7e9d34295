//! A file to the server.

use crate::window::{Flight, Window};
use crate::{hex, walk, Arguments, Copied};
use rnic_examples::failure::Failure;
use rnic_examples::nfs::{
    procedure, read_post_attributes, read_wcc, results, Caller, Handle, Procedure,
};
use rpcrdma::place::Place;
use rpcrdma::stream::{DecodeError, Message, Reader, TooMuch};
use rpcrdma::CallId;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// WRITE may answer before the data is stable: COMMIT waits for that (RFC 1813, 3.3.7).
const UNSTABLE: u32 = 0;
/// CREATE takes a file that exists, and cuts it.
const UNCHECKED: u32 = 0;

/// A file that is written.
struct Target<'n> {
    handle: Handle,
    name: &'n str,
    /// The server's verifier: another one says that it has started again and lost what was not
    /// committed.
    verifier: Option<u64>,
}

/// Copy `local` to `remote`.
pub fn run(
    caller: &mut Caller<'_>,
    arguments: &Arguments,
    root: Handle,
    (local, remote): (&Path, &str),
) -> Result<(), Failure> {
    let failed = |error| format!("{}: {error}", local.display());
    let mut file = File::open(local).map_err(failed)?;
    let mut target = create(caller, root, remote)?;
    let begun = Instant::now();
    let mut sha256 = Sha256::new();
    let mut octets = vec![0; arguments.block as usize];
    let mut window = Window::new(caller, arguments.calls, arguments.block)?;
    let (mut offset, mut is_end) = (0, false);
    loop {
        while !is_end {
            let Some(block) = window.take() else {
                break;
            };
            let read = fill(&mut file, &mut octets).map_err(failed)?;
            is_end = read.len() < block.length as usize;
            if read.is_empty() {
                break;
            }
            sha256.update(read);
            let stored = caller.memories.store(block, read);
            stored.map_err(|error| error.to_string())?;
            let length = read.len() as u32;
            let call = submit(caller, &target, offset, block.first(length))?;
            window.add(call, offset, (block, length));
            offset += u64::from(length);
        }
        let Some(flight) = window.next() else {
            break;
        };
        finish(caller, &mut target, &flight)?;
        window.end(&flight);
    }
    commit(caller, &mut target)?;
    let copied = Copied {
        begun,
        octets: offset,
        sha256: hex(&sha256.finalize()),
    };
    copied.report(&format!("put {remote}"), true)
}

/// As many octets of a file as there are room for, or left.
pub fn fill<'b>(file: &mut File, octets: &'b mut [u8]) -> std::io::Result<&'b [u8]> {
    let mut length = 0;
    while length < octets.len() {
        match file.read(&mut octets[length..])? {
            0 => break,
            count => length += count,
        }
    }
    Ok(&octets[..length])
}

/// An empty file with this path.
fn create<'n>(caller: &mut Caller<'_>, root: Handle, path: &'n str) -> Result<Target<'n>, Failure> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (directory, _) = walk(caller, root, directory)?;
    let write = |message: &mut Message| {
        directory.write(message)?;
        message.opaque(name.as_bytes())?;
        message.u32(UNCHECKED);
        // A mode, neither user nor group, a size, no times.
        [1, 0o644, 0, 0, 1]
            .into_iter()
            .for_each(|word| message.u32(word));
        message.u64(0);
        [0, 0].into_iter().for_each(|word| message.u32(word));
        Ok(())
    };
    let read = |reader: &mut Reader<'_>| {
        let handle = match reader.u32()? {
            0 => None,
            _ => Some(Handle::read(reader)?),
        };
        read_post_attributes(reader)?;
        read_wcc(reader)?;
        Ok(handle)
    };
    let made = caller.call(Procedure::nfs(procedure::CREATE), path, write, read)?;
    let handle = match made {
        Some(handle) => handle,
        // The server need not say it (RFC 1813, 3.3.8).
        None => caller.look_up(&directory, name)?.0,
    };
    Ok(Target {
        handle,
        name: path,
        verifier: None,
    })
}

fn submit(
    caller: &mut Caller<'_>,
    target: &Target<'_>,
    offset: u64,
    place: Place,
) -> Result<CallId, Failure> {
    let write = |message: &mut Message| -> Result<(), TooMuch> {
        target.handle.write(message)?;
        message.u64(offset);
        message.u32(place.length);
        message.u32(UNSTABLE);
        message.item(place)
    };
    caller.submit(Procedure::nfs(procedure::WRITE), write, (&[], 0))
}

/// How many octets were written, and the verifier.
fn read_written(reader: &mut Reader<'_>) -> Result<(u32, u64), DecodeError> {
    read_wcc(reader)?;
    let (count, _stable) = (reader.u32()?, reader.u32()?);
    Ok((count, reader.u64()?))
}

impl Target<'_> {
    fn verify(&mut self, caller: &Caller<'_>, verifier: u64) -> Result<(), Failure> {
        match *self.verifier.get_or_insert(verifier) == verifier {
            true => Ok(()),
            false => Err(format!(
                "{} has started again while {} was written, and may have lost some of it; copy it \
                 again",
                caller.peer, self.name
            )
            .into()),
        }
    }

    fn failed(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Other(text) => Failure::Other(text),
            other => format!("put {}: {other}", self.name).into(),
        }
    }
}

/// Wait for a WRITE. What the server has not taken is written again (RFC 1813, 3.3.7: it may take
/// fewer octets).
fn finish(
    caller: &mut Caller<'_>,
    target: &mut Target<'_>,
    flight: &Flight,
) -> Result<(), Failure> {
    let (mut call, mut done) = (flight.call, 0);
    loop {
        let written = caller.wait(call, |reader| results(reader, read_written));
        let written = written.map_err(|failure| target.failed(failure))?;
        let (count, verifier) = written.map_err(|status| caller.refused(target.name, status))?;
        target.verify(caller, verifier)?;
        let left = flight.place.length - done;
        if count == left {
            return Ok(());
        }
        if count == 0 || count > left {
            let at = flight.offset + u64::from(done);
            return Err(format!(
                "{} at {}: {count} octets were written at {at}, where there were {left}",
                target.name, caller.peer
            )
            .into());
        }
        done += count;
        let rest = flight.place.part(done, left - count);
        let rest = rest.ok_or("a WRITE is within its block".to_owned())?;
        call = submit(caller, target, flight.offset + u64::from(done), rest)?;
    }
}

fn commit(caller: &mut Caller<'_>, target: &mut Target<'_>) -> Result<(), Failure> {
    let handle = target.handle;
    let verifier = caller.call(
        Procedure::nfs(procedure::COMMIT),
        target.name,
        |message| {
            handle.write(message)?;
            // From the begin to the end.
            message.u64(0);
            message.u32(0);
            Ok(())
        },
        |reader| {
            read_wcc(reader)?;
            reader.u64()
        },
    );
    let verifier = verifier.map_err(|failure| target.failed(failure))?;
    target.verify(caller, verifier)
}
