//! A file from the server: compounds of two READs, one after another.

use super::{blocks, compound, open, Found, Seen, BLOCKS};
use crate::{hex, Arguments, Copied};
use rnic_examples::failure::Failure;
use rnic_examples::nfs::{Caller, Handle};
use rnic_output::Claims;
use rpcrdma::binding::nfs4::{Operation, Outcome, StateId};
use rpcrdma::place::Place;
use rpcrdma::stream::Opaque;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Instant;

/// Copy `remote` to `local`.
pub fn run(
    caller: &mut Caller<'_>,
    arguments: &Arguments,
    root: Option<&Handle>,
    (remote, local): (&str, &Path),
) -> Result<(), Failure> {
    let mut output = Claims::new()
        .output("LOCAL", local)
        .map_err(|error| error.to_string())?;
    let found = open(caller, root, remote)?;
    let begun = Instant::now();
    let blocks = blocks(caller, arguments.block)?;
    let (mut sha256, mut offset) = (Sha256::new(), 0);
    while offset < found.size {
        let before = offset;
        for octets in read(caller, (&found, remote), offset, &blocks)? {
            sha256.update(&octets);
            output.write(&octets).map_err(|error| error.to_string())?;
            offset += octets.len() as u64;
        }
        if offset == before {
            return Err(format!(
                "{remote} at {} ends at octet {offset}, and had {} before: it was cut; copy it \
                 again",
                caller.peer, found.size
            )
            .into());
        }
    }
    let to_stdout = output.is_stdout();
    output.finish().map_err(|error| error.to_string())?;
    let copied = Copied {
        begun,
        octets: offset,
        sha256: hex(&sha256.finalize()),
    };
    copied.report(&format!("get {remote}"), !to_stdout)
}

/// What the file has from `offset` on, in the order of the file: as many blocks as were read whole,
/// and the one after them.
fn read(
    caller: &mut Caller<'_>,
    (found, name): (&Found, &str),
    offset: u64,
    blocks: &[Place],
) -> Result<Vec<Vec<u8>>, Failure> {
    let (mut operations, mut places) = (vec![Operation::PutFh(&found.handle)], Vec::new());
    let mut at = offset;
    for block in blocks.iter().take(BLOCKS) {
        let count = (found.size - at).min(block.length.into()) as u32;
        if count == 0 {
            break;
        }
        operations.push(Operation::Read {
            state: StateId::ANONYMOUS,
            offset: at,
            count,
        });
        places.push(block.first(count));
        at += u64::from(count);
    }
    let mut datas = Vec::new();
    compound(caller, name, (&operations, &places), |seen| {
        if let Seen::Outcome(Outcome::Read { data, .. }) = seen {
            datas.push(match data {
                Opaque::Inline { octets, .. } => Data::Inline(octets.to_vec()),
                Opaque::Chunk(place) => Data::InPlace(place),
            });
        }
        Ok(())
    })?;
    let mut read = Vec::new();
    for (data, wanted) in datas.into_iter().zip(places) {
        let octets = match data {
            Data::Inline(octets) => octets,
            Data::InPlace(place) => {
                let mut octets = vec![0; place.length as usize];
                let loaded = caller.memories.load(place, &mut octets);
                loaded.map_err(|error| error.to_string())?;
                octets
            }
        };
        let is_whole = octets.len() == wanted.length as usize;
        read.push(octets);
        if !is_whole {
            // What follows it was not asked for.
            break;
        }
    }
    Ok(read)
}

enum Data {
    Inline(Vec<u8>),
    /// It is where it was asked for.
    InPlace(Place),
}
