//! The client's half of the codec of compounds: arguments written, results read.
//!
//! ```
//! use rpcrdma::binding::nfs4::{begin, Operation, Outcome, Results};
//! use rpcrdma::stream::{Message, Reader, TooMuch};
//!
//! let mut message = Message::new(); // after the header of the call
//! let operations = [Operation::PutRootFh, Operation::Lookup(b"export"), Operation::GetFh];
//! begin(&mut message, b"", operations.len() as u32)?;
//! operations.iter().try_for_each(|operation| operation.write(&mut message))?;
//!
//! // What a server might answer to the first of them, and to the second one that it has no such
//! // name (NFS4ERR_NOENT).
//! let reply = [2, 0, 2, 24, 0, 15, 2].map(u32::to_be_bytes).concat();
//! let mut results = Results::read(Reader::new(&reply)).expect("right results");
//! assert_eq!((results.status(), results.left()), (2, 2));
//! assert_eq!(results.next(&mut |_| {}), Ok(Some(Outcome::PutRootFh)));
//! let failed = Outcome::Failed { operation: 15, status: 2 };
//! assert_eq!(results.next(&mut |_| {}), Ok(Some(failed)));
//! # Ok::<(), TooMuch>(())
//! ```
use super::operation;
use crate::place::Place;
use crate::stream::{DecodeError, Message, Opaque, Reader, TooMuch};

/// Octets of the longest tag, name, or value of attributes that is read.
const OCTETS_MAX: u32 = 1 << 16;
/// Octets of the longest handle.
const HANDLE_OCTETS_MAX: u32 = 128;
/// Words of the longest bitmap that is read.
const BITMAP_WORDS_MAX: u32 = 8;

/// The state that a READ or a WRITE belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateId {
    /// Its sequence number.
    pub seqid: u32,
    /// The rest of it.
    pub other: [u8; 12],
}

impl StateId {
    /// No state: all zeros. A server takes it if nobody has denied access (RFC 7530, 9.1.4.3).
    pub const ANONYMOUS: Self = Self {
        seqid: 0,
        other: [0; 12],
    };
}

/// Numbers of attributes, as bits from the lowest one of the first word on; those of version 4.0
/// have room in two words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitmap(pub [u32; 2]);

impl Bitmap {
    fn write(self, message: &mut Message) {
        message.u32(2);
        self.0.iter().for_each(|word| message.u32(*word));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (mut words, count) = ([0; 2], reader.u32()?);
        if count > BITMAP_WORDS_MAX {
            return Err(DecodeError::TooLong);
        }
        for index in 0..count as usize {
            let word = reader.u32()?;
            // What follows the second word is of later versions.
            words
                .get_mut(index)
                .into_iter()
                .for_each(|place| *place = word);
        }
        Ok(Self(words))
    }
}

/// Attributes of a file, packed as their bitmap says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// Which ones there are.
    pub bitmap: Bitmap,
    /// Their values.
    pub values: &'a [u8],
}

impl<'a> Attributes<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let bitmap = Bitmap::read(reader)?;
        Ok(Self {
            bitmap,
            values: reader.inline_opaque(OCTETS_MAX)?,
        })
    }
}

/// An entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Where a READDIR goes on after it.
    pub cookie: u64,
    /// Its name.
    pub name: &'a [u8],
    /// Its attributes.
    pub attributes: Attributes<'a>,
}

/// An operation with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Attributes of the current file.
    GetAttr(Bitmap),
    /// The handle of the current file.
    GetFh,
    /// A name in the current directory, which becomes the current file.
    Lookup(&'a [u8]),
    /// A handle, whose file becomes the current one.
    PutFh(&'a [u8]),
    /// The root becomes the current file.
    PutRootFh,
    /// Octets of the current file; the result is an item.
    Read {
        /// The state of the file.
        state: StateId,
        /// The first octet.
        offset: u64,
        /// How many.
        count: u32,
    },
    /// Entries of the current directory.
    ReadDir {
        /// After which entry to go on; 0 for the first ones.
        cookie: u64,
        /// The verifier that came with it.
        verifier: [u8; 8],
        /// Octets of names and cookies to aim at.
        dircount: u32,
        /// Octets of the longest result.
        maxcount: u32,
        /// Attributes of each entry.
        attributes: Bitmap,
    },
    /// What the current file, a symbolic link, points to; the result is an item.
    ReadLink,
    /// Octets into the current file, which are an item.
    Write {
        /// The state of the file.
        state: StateId,
        /// The first octet.
        offset: u64,
        /// 0 if they may be lost with the server, 2 if neither they nor the file's attributes may.
        stable: u32,
        /// The octets.
        data: Place,
    },
}

/// Begins the arguments of a compound of so many operations, which are written next.
///
/// # Errors
/// The tag is longer than a count can say.
pub fn begin(message: &mut Message, tag: &[u8], operations: u32) -> Result<(), TooMuch> {
    message.opaque(tag)?;
    // The minor version.
    message.u32(0);
    message.u32(operations);
    Ok(())
}

fn write_state(message: &mut Message, state: StateId, offset: u64) {
    message.u32(state.seqid);
    message.fixed(&state.other);
    message.u64(offset);
}

impl Operation<'_> {
    /// The row of its table: its number, its items, the bound of its result.
    #[must_use]
    pub fn procedure(&self) -> super::Procedure<'static> {
        match self {
            Self::GetAttr(_) => operation::GETATTR,
            Self::GetFh => operation::GETFH,
            Self::Lookup(_) => operation::LOOKUP,
            Self::PutFh(_) => operation::PUTFH,
            Self::PutRootFh => operation::PUTROOTFH,
            Self::Read { .. } => operation::READ,
            Self::ReadDir { .. } => operation::READDIR,
            Self::ReadLink => operation::READLINK,
            Self::Write { .. } => operation::WRITE,
        }
    }

    /// Appends number and arguments.
    ///
    /// # Errors
    /// The message has too many items, or too many octets.
    pub fn write(&self, message: &mut Message) -> Result<(), TooMuch> {
        message.u32(self.procedure().number);
        match *self {
            Self::GetFh | Self::PutRootFh | Self::ReadLink => {}
            Self::GetAttr(bitmap) => bitmap.write(message),
            Self::Lookup(octets) | Self::PutFh(octets) => message.opaque(octets)?,
            Self::Read {
                state,
                offset,
                count,
            } => {
                write_state(message, state, offset);
                message.u32(count);
            }
            Self::ReadDir {
                cookie,
                verifier,
                dircount,
                maxcount,
                attributes,
            } => {
                message.u64(cookie);
                message.fixed(&verifier);
                message.u32(dircount);
                message.u32(maxcount);
                attributes.write(message);
            }
            Self::Write {
                state,
                offset,
                stable,
                data,
            } => {
                write_state(message, state, offset);
                message.u32(stable);
                message.item(data)?;
            }
        }
        Ok(())
    }
}

/// Numbers of the operations, as patterns.
mod number {
    use super::operation;
    pub const GETATTR: u32 = operation::GETATTR.number;
    pub const GETFH: u32 = operation::GETFH.number;
    pub const LOOKUP: u32 = operation::LOOKUP.number;
    pub const PUTFH: u32 = operation::PUTFH.number;
    pub const PUTROOTFH: u32 = operation::PUTROOTFH.number;
    pub const READ: u32 = operation::READ.number;
    pub const READDIR: u32 = operation::READDIR.number;
    pub const READLINK: u32 = operation::READLINK.number;
    pub const WRITE: u32 = operation::WRITE.number;
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// Attributes.
    GetAttr(Attributes<'a>),
    /// A handle.
    GetFh(&'a [u8]),
    /// The name was found.
    Lookup,
    /// The handle is one.
    PutFh,
    /// The root is there.
    PutRootFh,
    /// Octets of a file.
    Read {
        /// The file has no more.
        eof: bool,
        /// The octets.
        data: Opaque<'a>,
    },
    /// Entries of a directory, each of which was shown before.
    ReadDir {
        /// For the next READDIR.
        verifier: [u8; 8],
        /// The directory has no more.
        eof: bool,
    },
    /// What a link points to.
    ReadLink(Opaque<'a>),
    /// Octets were written.
    Write {
        /// How many.
        count: u32,
        /// How safe they are, as `stable` of the arguments.
        committed: u32,
        /// Another one later means that what was not safe is lost.
        verifier: [u8; 8],
    },
    /// The operation has failed, and none after it was tried.
    Failed {
        /// Its number.
        operation: u32,
        /// Why, as a number of `nfsstat4`.
        status: u32,
    },
}

/// Results of a compound, in order.
#[derive(Clone, Debug)]
pub struct Results<'a> {
    reader: Reader<'a>,
    status: u32,
    left: u32,
}

fn verifier(reader: &mut Reader<'_>) -> Result<[u8; 8], DecodeError> {
    Ok(reader.u64()?.to_be_bytes())
}

impl<'a> Results<'a> {
    /// Results of a compound, after the header of the reply.
    ///
    /// # Errors
    /// They end too early.
    pub fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let status = reader.u32()?;
        reader.inline_opaque(OCTETS_MAX)?;
        let left = reader.u32()?;
        Ok(Self {
            reader,
            status,
            left,
        })
    }

    /// The status of the last operation that was tried: 0 if all are right.
    #[must_use]
    pub fn status(&self) -> u32 {
        self.status
    }

    /// Results that are not read yet.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The next result; `None` after the last one, if nothing else is there. Entries of a
    /// directory are shown to `entry`.
    ///
    /// # Errors
    /// The results are cut off, of an operation that is not here, or not as long as their chunks.
    pub fn next(
        &mut self,
        entry: &mut impl FnMut(Entry<'a>),
    ) -> Result<Option<Outcome<'a>>, DecodeError> {
        if self.left == 0 {
            return self.reader.clone().finish().map(|()| None);
        }
        let reader = &mut self.reader;
        let (operation, status) = (reader.u32()?, reader.u32()?);
        self.left -= 1;
        if status != 0 {
            return Ok(Some(Outcome::Failed { operation, status }));
        }
        Ok(Some(match operation {
            number::GETATTR => Outcome::GetAttr(Attributes::read(reader)?),
            number::GETFH => Outcome::GetFh(reader.inline_opaque(HANDLE_OCTETS_MAX)?),
            number::LOOKUP => Outcome::Lookup,
            number::PUTFH => Outcome::PutFh,
            number::PUTROOTFH => Outcome::PutRootFh,
            number::READ => Outcome::Read {
                eof: boolean(reader)?,
                data: reader.opaque(u32::MAX)?,
            },
            number::READDIR => directory(reader, entry)?,
            number::READLINK => Outcome::ReadLink(reader.opaque(OCTETS_MAX)?),
            number::WRITE => Outcome::Write {
                count: reader.u32()?,
                committed: reader.u32()?,
                verifier: verifier(reader)?,
            },
            _ => return Err(DecodeError::Unknown),
        }))
    }
}

fn boolean(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
    match reader.u32()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(DecodeError::Unknown),
    }
}

fn directory<'a>(
    reader: &mut Reader<'a>,
    entry: &mut impl FnMut(Entry<'a>),
) -> Result<Outcome<'a>, DecodeError> {
    let verifier = verifier(reader)?;
    while boolean(reader)? {
        entry(Entry {
            cookie: reader.u64()?,
            name: reader.inline_opaque(OCTETS_MAX)?,
            attributes: Attributes::read(reader)?,
        });
    }
    Ok(Outcome::ReadDir {
        verifier,
        eof: boolean(reader)?,
    })
}
