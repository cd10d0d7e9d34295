//! A file to the server, into one that is there: compounds of one WRITE, one after another.
//!
//! Of two WRITEs with a chunk each Linux' server reads both, and does not answer (docs/live.md).

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
        let data = block.first(read.len() as u32);
        offset = write(caller, (&found, remote), offset, data)?;
    }
    let copied = Copied {
        begun,
        octets: offset,
        sha256: hex(&sha256.finalize()),
    };
    copied.tell(&format!("put {remote}"), true)
}

/// Write this at `offset`: where it ends. A server that takes less is given the rest again.
fn write(
    caller: &mut Caller<'_>,
    (found, name): (&Found, &str),
    mut offset: u64,
    mut data: Place,
) -> Result<u64, Failure> {
    loop {
        let operations = [
            Operation::PutFh(&found.handle),
            Operation::Write {
                state: StateId::ANONYMOUS,
                offset,
                stable: FILE_SYNC,
                data,
            },
        ];
        let mut taken = 0;
        compound(caller, name, (&operations, &[]), |seen| {
            if let Seen::Outcome(Outcome::Write { count, .. }) = seen {
                taken = count;
            }
            Ok(())
        })?;
        if taken == 0 || taken > data.length {
            let (peer, length) = (caller.peer, data.length);
            return Err(format!(
                "{name} at {peer}: {taken} of {length} octets were written at {offset}"
            )
            .into());
        }
        offset += u64::from(taken);
        match data.part(taken, data.length - taken) {
            Some(rest) if rest.length > 0 => data = rest,
            _ => return Ok(offset),
        }
    }
}
