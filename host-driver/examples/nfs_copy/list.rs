//! A directory of the server.

use crate::walk;
use rnic_examples::failure::{say, Failure};
use rnic_examples::nfs::{
    procedure, read_post_attributes, results, Caller, FileAttributes, FileType, Handle, Procedure,
};
use rpcrdma::stream::{DecodeError, Message, Reader};

/// Octets of the longest listing.
const LISTING_OCTETS_MAX: u32 = 32 << 10;
/// Octets of the longest name that is read.
const NAME_OCTETS_MAX: u32 = 1024;

struct Entry {
    name: String,
    cookie: u64,
    attributes: Option<FileAttributes>,
}

struct Listing {
    verifier: u64,
    entries: Vec<Entry>,
    is_end: bool,
}

/// Print the names of `remote`, with what is known of them.
pub fn run(caller: &mut Caller<'_>, root: Handle, remote: &str) -> Result<(), Failure> {
    let (directory, _) = walk(caller, root, remote)?;
    let (mut cookie, mut verifier) = (0, 0);
    loop {
        let listing = list(caller, &directory, remote, (cookie, verifier))?;
        for entry in &listing.entries {
            let known = entry.attributes.as_ref();
            let known = known.map(|known| ((known.kind, known.mode), known.size));
            say(line(&entry.name, known))?;
        }
        let last = listing.entries.last();
        match last.filter(|_| !listing.is_end) {
            Some(last) => (cookie, verifier) = (last.cookie, listing.verifier),
            None if listing.is_end => return Ok(()),
            None => {
                let peer = caller.peer;
                return Err(format!("{remote} at {peer}: a listing without names").into());
            }
        }
    }
}

fn list(
    caller: &mut Caller<'_>,
    directory: &Handle,
    name: &str,
    (cookie, verifier): (u64, u64),
) -> Result<Listing, Failure> {
    let write = |message: &mut Message| {
        directory.write(message)?;
        message.u64(cookie);
        message.u64(verifier);
        message.u32(LISTING_OCTETS_MAX);
        message.u32(LISTING_OCTETS_MAX);
        Ok(())
    };
    let asked: (&[_], _) = (&[], LISTING_OCTETS_MAX);
    let call = caller.submit(Procedure::nfs(procedure::READDIRPLUS), write, asked)?;
    let listing = caller.wait(call, |reader| results(reader, read_listing))?;
    let shown = if name.is_empty() { "/" } else { name };
    listing.map_err(|status| caller.refused(shown, status))
}

fn read_listing(reader: &mut Reader<'_>) -> Result<Listing, DecodeError> {
    read_post_attributes(reader)?;
    let verifier = reader.u64()?;
    let mut entries = Vec::new();
    // There are no more than the reply has octets for.
    while reader.u32()? != 0 {
        let _number = reader.u64()?;
        let name = reader.inline_opaque(NAME_OCTETS_MAX)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let cookie = reader.u64()?;
        let attributes = read_post_attributes(reader)?;
        if reader.u32()? != 0 {
            Handle::read(reader)?;
        }
        entries.push(Entry {
            name,
            cookie,
            attributes,
        });
    }
    Ok(Listing {
        verifier,
        entries,
        is_end: reader.u32()? != 0,
    })
}

/// A name with its type, permission bits and size.
pub fn line(name: &str, known: Option<((FileType, u32), u64)>) -> String {
    match known {
        Some(((kind, mode), size)) => format!("{} {mode:04o} {size:>12} {name}", kind.letter()),
        None => format!("? ---- {:>12} {name}", '-'),
    }
}
