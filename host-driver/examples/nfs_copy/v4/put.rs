//! A file to the server, into one that is there: compounds of a WRITE, one after another.
//!
//! Linux' server (6.1) answers ERR_CHUNK to one of two WRITEs whose data are read chunks.

use super::{compound, open, Found, Seen};
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
    let block = caller.memories.allocate(arguments.block)?;
    let mut octets = vec![0; arguments.block as usize];
    let (mut sha256, mut offset) = (Sha256::new(), 0);
    loop {
        let read = fill(&mut file, &mut octets).map_err(failed)?;
        if read.is_empty() {
            break;
        }
        sha256.update(read);
        let stored = caller.memories.store(block, read);
        stored.map_err(|error| error.to_string())?;
        let mut left = block.first(read.len() as u32);
        while left.length > 0 {
            let taken = write(caller, (&found, remote), offset, left)?;
            offset += u64::from(taken);
            let rest = left.part(taken, left.length - taken);
            left = rest.ok_or("a WRITE is within its block".to_owned())?;
        }
    }
    let copied = Copied {
        begun,
        octets: offset,
        sha256: hex(&sha256.finalize()),
    };
    copied.report(&format!("put {remote}"), true)
}

/// How many octets of `data` the server has taken, at least one: it may take fewer than it was
/// given.
fn write(
    caller: &mut Caller<'_>,
    (found, name): (&Found, &str),
    offset: u64,
    data: Place,
) -> Result<u32, Failure> {
    let write = Operation::Write {
        state: StateId::ANONYMOUS,
        offset,
        stable: FILE_SYNC,
        data,
    };
    let operations = [Operation::PutFh(&found.handle), write];
    let mut taken = 0;
    compound(caller, name, (&operations, &[]), |seen| {
        if let Seen::Outcome(Outcome::Write { count, .. }) = seen {
            taken = count;
        }
        Ok(())
    })?;
    match (1..=data.length).contains(&taken) {
        true => Ok(taken),
        false => Err(format!(
            "{name} at {}: {taken} octets were written at {offset}, where there were {}",
            caller.peer, data.length
        )
        .into()),
    }
}
