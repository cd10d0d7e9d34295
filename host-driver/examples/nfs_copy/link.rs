//! Symbolic links of the server.

use crate::walk;
use rnic_examples::failure::{say, Failure};
use rnic_examples::nfs::{
    procedure, read_post_attributes, read_wcc, results, skip_set_attributes, Caller, Handle,
    Procedure,
};
use rpcrdma::stream::{DecodeError, Message, Opaque, Reader};

/// Octets of the longest path that is read; Linux has room for 4,096.
const PATH_OCTETS_MAX: u32 = 8192;

/// Make `remote`, which points to `path`.
pub fn make(
    caller: &mut Caller<'_>,
    root: Handle,
    (path, remote): (&str, &str),
) -> Result<(), Failure> {
    let (directory, name) = remote.rsplit_once('/').unwrap_or(("", remote));
    let (directory, _) = walk(caller, root, directory)?;
    let octets = path.len() as u32;
    let item = caller.memories.allocate(octets.max(4))?.first(octets);
    let stored = caller.memories.store(item, path.as_bytes());
    stored.map_err(|error| error.to_string())?;
    let write = |message: &mut Message| {
        directory.write(message)?;
        message.opaque(name.as_bytes())?;
        skip_set_attributes(message, 0o777);
        message.item(item)
    };
    let read = |reader: &mut Reader<'_>| {
        if reader.u32()? != 0 {
            Handle::read(reader)?;
        }
        read_post_attributes(reader)?;
        read_wcc(reader)
    };
    caller.call(Procedure::nfs(procedure::SYMLINK), remote, write, read)
}

/// Print what `remote` points to.
pub fn print(caller: &mut Caller<'_>, root: Handle, remote: &str) -> Result<(), Failure> {
    let (link, _) = walk(caller, root, remote)?;
    let place = caller.memories.allocate(PATH_OCTETS_MAX)?;
    let write = |message: &mut Message| link.write(message);
    let call = caller.submit(Procedure::nfs(procedure::READLINK), write, (&[place], 0))?;
    let path = caller.wait(call, |reader| results(reader, read_path))?;
    let path = path.map_err(|status| caller.refused(remote, status))?;
    let octets = match path {
        Path::Inline(octets) => octets,
        Path::InPlace(length) => {
            let mut octets = vec![0; length as usize];
            let loaded = caller.memories.load(place.first(length), &mut octets);
            loaded.map_err(|error| error.to_string())?;
            octets
        }
    };
    say(String::from_utf8_lossy(&octets))
}

enum Path {
    Inline(Vec<u8>),
    /// It is where it was asked for.
    InPlace(u32),
}

fn read_path(reader: &mut Reader<'_>) -> Result<Path, DecodeError> {
    read_post_attributes(reader)?;
    Ok(match reader.opaque(PATH_OCTETS_MAX)? {
        Opaque::Inline { octets, .. } => Path::Inline(octets.to_vec()),
        Opaque::Chunk(place) => Path::InPlace(place.length),
    })
}
