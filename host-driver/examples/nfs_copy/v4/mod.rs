//! NFSv4.0, as far as a server goes that is asked to open nothing: its state is all zeros.
//!
//! ```text
//!  root, LOOKUP..., GETFH, GETATTR --> what a path names
//!  PUTFH, READ, READ               --> two blocks of it
//!  PUTFH, WRITE                    --> one block the other way, into a file that is there
//!  PUTFH, READDIR                  --> names
//! ```
//!
//! The root is the server's (PUTROOTFH), or the `--handle` that was given (PUTFH).

pub mod get;
pub mod list;
pub mod put;

use rnic_examples::failure::Failure;
use rnic_examples::nfs::{Caller, FileType, Handle, Procedure};
use rpcrdma::binding::nfs4::{self, Attributes, Bitmap, Entry, Operation, Outcome, Results};
use rpcrdma::place::Place;
use rpcrdma::stream::{DecodeError, Message, Reader};

/// Octets of the attributes that are asked for, at most.
const ATTRIBUTES_OCTETS_MAX: u32 = 64;
/// READs of one compound.
const BLOCKS: usize = 2;

/// Attributes that are asked for: type and size; with `MODE` they are in the order of numbers.
const TYPE: u32 = 1 << 1;
const SIZE: u32 = 1 << 4;
/// Of the second word.
const MODE: u32 = 1 << 1;

/// A result of a compound, in order.
pub enum Seen<'a> {
    Outcome(Outcome<'a>),
    Entry(Entry<'a>),
}

/// A file that was looked up.
pub struct Found {
    handle: Vec<u8>,
    kind: FileType,
    size: u64,
}

/// Make a compound and show its results to `see`; an operation that has failed is an error about
/// `name`.
fn compound(
    caller: &mut Caller<'_>,
    name: &str,
    (operations, places): (&[Operation<'_>], &[Place]),
    mut see: impl FnMut(Seen<'_>) -> Result<(), DecodeError>,
) -> Result<(), Failure> {
    let rows: Vec<_> = operations.iter().map(Operation::procedure).collect();
    let asked = rows.iter().zip(operations.iter().map(asked));
    let asked = u32::try_from(nfs4::reply_octets_max(0, asked)).unwrap_or(u32::MAX);
    let write = |message: &mut Message| {
        nfs4::begin(message, b"", operations.len() as u32)?;
        let mut operations = operations.iter();
        operations.try_for_each(|operation| operation.write(message))
    };
    let call = caller.submit(Procedure::compound(), write, (places, asked))?;
    let failed = caller.wait(call, |reader| {
        // The results see to the end of the reply, and to its chunks.
        let mut results = Results::read(std::mem::replace(reader, Reader::new(&[])))?;
        let mut failed = results.status();
        let mut entries = Ok(());
        while let Some(outcome) = results.next(&mut |entry| {
            if entries.is_ok() {
                entries = see(Seen::Entry(entry));
            }
        })? {
            match outcome {
                Outcome::Failed { status, .. } => failed = status,
                outcome => see(Seen::Outcome(outcome))?,
            }
        }
        entries.map(|()| failed)
    })?;
    match failed {
        0 => Ok(()),
        status => Err(format!("{name} at {}: {}", caller.peer, words(status)).into()),
    }
}

/// Octets that an operation asks for, beside those that are in its table.
fn asked(operation: &Operation<'_>) -> u32 {
    match operation {
        Operation::GetAttr(_) => ATTRIBUTES_OCTETS_MAX,
        Operation::ReadDir { maxcount, .. } => *maxcount,
        _ => 0,
    }
}

/// `nfsstat4`, whose numbers are those of version 3 where that has one.
fn words(status: u32) -> String {
    match status {
        10_013 => "the server has just started: try later (NFS4ERR_GRACE)".to_owned(),
        10_018 => "the server has no means for this: a shorter path? (NFS4ERR_RESOURCE)".to_owned(),
        status => rnic_examples::nfs::Status(status)
            .to_string()
            .replace("NFS3ERR", "NFS4ERR"),
    }
}

/// The root, then names of a path.
fn path<'p>(root: Option<&'p Handle>, path: &'p str) -> Vec<Operation<'p>> {
    let root = match root {
        Some(handle) => Operation::PutFh(handle.octets()),
        None => Operation::PutRootFh,
    };
    let names = path.split('/').filter(|name| !name.is_empty());
    let names = names.map(|name| Operation::Lookup(name.as_bytes()));
    std::iter::once(root).chain(names).collect()
}

/// All of a path in one compound.
fn look_up(caller: &mut Caller<'_>, root: Option<&Handle>, name: &str) -> Result<Found, Failure> {
    let mut operations = path(root, name);
    operations.extend([
        Operation::GetFh,
        Operation::GetAttr(Bitmap([TYPE | SIZE, 0])),
    ]);
    let (mut handle, mut attributes) = (None, None);
    compound(caller, name, (&operations, &[]), |seen| {
        match seen {
            Seen::Outcome(Outcome::GetFh(octets)) => handle = Some(octets.to_vec()),
            Seen::Outcome(Outcome::GetAttr(found)) => attributes = Some(read_attributes(found)?),
            _ => {}
        }
        Ok(())
    })?;
    match (handle, attributes) {
        (Some(handle), Some((Some(kind), Some(size), _))) => Ok(Found { handle, kind, size }),
        _ => Err(format!(
            "{name} at {}: the reply has no handle, type or size",
            caller.peer
        )
        .into()),
    }
}

/// What is known of a file: type, size, permission bits.
type Known = (Option<FileType>, Option<u64>, Option<u32>);

fn read_attributes(attributes: Attributes<'_>) -> Result<Known, DecodeError> {
    let Bitmap([first, second]) = attributes.bitmap;
    if first & !(TYPE | SIZE) != 0 || second & !MODE != 0 {
        // Others were not asked for, and where they end is not known.
        return Err(DecodeError::Unknown);
    }
    let mut reader = Reader::new(attributes.values);
    let mut known = (None, None, None);
    if first & TYPE != 0 {
        known.0 = Some(FileType::of(reader.u32()?)?);
    }
    if first & SIZE != 0 {
        known.1 = Some(reader.u64()?);
    }
    if second & MODE != 0 {
        known.2 = Some(reader.u32()?);
    }
    reader.finish()?;
    Ok(known)
}

/// A regular file.
fn open(caller: &mut Caller<'_>, root: Option<&Handle>, name: &str) -> Result<Found, Failure> {
    let found = look_up(caller, root, name)?;
    if found.kind != FileType::File {
        return Err(format!("{name} at {} is no regular file; try `list`", caller.peer).into());
    }
    Ok(found)
}

/// Memory of the blocks of a compound.
fn blocks(caller: &Caller<'_>, octets: u32) -> Result<Vec<Place>, Failure> {
    let blocks = (0..BLOCKS).map(|_| Ok(caller.memories.allocate(octets)?));
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn read(bitmap: [u32; 2], values: &[u32]) -> Result<Known, DecodeError> {
        let values = words_of(values);
        read_attributes(Attributes {
            bitmap: Bitmap(bitmap),
            values: &values,
        })
    }

    #[test]
    fn attributes_are_in_the_order_of_their_numbers() {
        let all = read([TYPE | SIZE, MODE], &[2, 1, 5, 0o755]);
        let expected = (Some(FileType::Directory), Some((1 << 32) + 5), Some(0o755));
        assert_eq!(all, Ok(expected));
        assert_eq!(read([SIZE, 0], &[0, 7]), Ok((None, Some(7), None)));
        assert_eq!(read([0, 0], &[]), Ok((None, None, None)));
    }

    #[test]
    fn attributes_that_were_not_asked_for_are_refused() {
        for (bitmap, values) in [
            ([TYPE | 1, 0], &[1, 1][..]),
            ([TYPE, MODE | 1], &[1, 1]),
            ([TYPE, 0], &[8]),
            ([TYPE, 0], &[0]),
            ([SIZE, 0], &[1]),
            ([SIZE, 0], &[1, 2, 3]),
        ] {
            assert!(read(bitmap, values).is_err(), "{bitmap:?} {values:?}");
        }
    }

    #[test]
    fn a_path_begins_at_the_root_that_was_given() {
        let handle = Handle::parse("0102").expect("a handle");
        let expected = [Operation::PutFh(&[1, 2]), Operation::Lookup(b"a")];
        assert_eq!(path(Some(&handle), "/a/"), expected);
        assert_eq!(path(None, ""), [Operation::PutRootFh]);
    }
}
