//! A file to the server, into one that is there: compounds of two WRITEs, one after another.

use super::{blocks, compound, open, Found, Seen};
use crate::put::fill;
use crate::{hex, Arguments, Copied};
use rnic_examples::failure::Failure;
use rnic_examples::nfs::{Caller, Handle};
use rpcrdma::binding::nfs4::{Operation, Outcome, StateId};
use rpcrdma::place::Place;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::Path;
use std::time::Instant;

/// There is no COMMIT here: each WRITE is answered when it is stable.
const FILE_SYNC: u32 = 2;

/// Copy `local` to `remote`, which is there and not longer: nothing here makes files or cuts them.
pub fn run(
    caller: &mut Caller<'_>,
    arguments: &Arguments,
    root: Option<&Handle>,
    (local, remote): (&Path, &str),
) -> Result<(), Failure> {
    let failed = |error| format!("{}: {error}", local.display());
    let mut file = File::open(local).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let found = open(caller, root, remote)?;
    if found.size > length {
        return Err(format!(
            "{remote} at {} has {} octets, more than {}: NFSv4.0 here cuts no file; leave --vers 4 \
             out",
            caller.peer,
            found.size,
            local.display()
        )
        .into());
    }
    let begun = Instant::now();
    let blocks = blocks(caller, arguments.block)?;
    let mut octets = vec![0; arguments.block as usize];
    let (mut sha256, mut offset) = (Sha256::new(), 0);
    loop {
        let mut places = Vec::new();
        for block in &blocks {
            let read = fill(&mut file, &mut octets).map_err(failed)?;
            if read.is_empty() {
                break;
            }
            sha256.update(read);
            let stored = caller.memories.store(*block, read);
            stored.map_err(|error| error.to_string())?;
            places.push(block.first(read.len() as u32));
        }
        if places.is_empty() {
            break;
        }
        offset = write(caller, (&found, remote), offset, &places)?;
    }
    let copied = Copied {
        begun,
        octets: offset,
        sha256: hex(&sha256.finalize()),
    };
    copied.tell(&format!("put {remote}"), true)
}

/// Write these places one behind another: where the last one ends. A server that takes less is
/// given the rest again.
fn write(
    caller: &mut Caller<'_>,
    (found, name): (&Found, &str),
    mut offset: u64,
    places: &[Place],
) -> Result<u64, Failure> {
    let mut left = places.to_vec();
    while !left.is_empty() {
        let mut operations = vec![Operation::PutFh(&found.handle)];
        let mut at = offset;
        for &data in &left {
            operations.push(Operation::Write {
                state: StateId::ANONYMOUS,
                offset: at,
                stable: FILE_SYNC,
                data,
            });
            at += u64::from(data.length);
        }
        let mut counts = Vec::new();
        compound(caller, name, (&operations, &[]), |seen| {
            if let Seen::Outcome(Outcome::Write { count, .. }) = seen {
                counts.push(count);
            }
            Ok(())
        })?;
        let whole = left.iter().zip(&counts);
        let whole = whole.take_while(|(place, count)| place.length == **count);
        let whole = whole.count();
        let part = counts.get(whole).copied().unwrap_or(0);
        let taken: u32 = counts.iter().take(whole).sum::<u32>() + part;
        left.drain(..whole);
        if taken == 0 || left.first().is_some_and(|place| part > place.length) {
            let peer = caller.peer;
            return Err(
                format!("{name} at {peer}: {taken} octets were written at {offset}").into(),
            );
        }
        offset += u64::from(taken);
        if let Some(first) = left.first_mut().filter(|_| part > 0) {
            let rest = first.part(part, first.length - part);
            *first = rest.ok_or("a WRITE is within its block".to_owned())?;
        }
    }
    Ok(offset)
}
