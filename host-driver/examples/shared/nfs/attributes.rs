//! What is known of a file, and what is changed (RFC 1813, 2.6).

use crate::files::{Attributes, FileId, Kind, SetAttributes, Time};
use rpcrdma::stream::{DecodeError, Message, Reader};

/// `ftype3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block device.
    Block,
    /// A character device.
    Character,
    /// A symbolic link.
    Link,
    /// A socket.
    Socket,
    /// A FIFO.
    Fifo,
}

impl FileType {
    const ALL: [Self; 7] = [
        Self::File,
        Self::Directory,
        Self::Block,
        Self::Character,
        Self::Link,
        Self::Socket,
        Self::Fifo,
    ];

    /// The type with this number; numbers begin at 1, in version 4, too.
    ///
    /// # Errors
    /// There is none.
    pub fn of(number: u32) -> Result<Self, DecodeError> {
        let index = number.checked_sub(1).ok_or(DecodeError::Unknown)?;
        let found = Self::ALL.get(index as usize);
        found.copied().ok_or(DecodeError::Unknown)
    }

    fn number(self) -> u32 {
        self as u32 + 1
    }

    /// As `ls -l` has it.
    #[must_use]
    pub fn letter(self) -> char {
        ['-', 'd', 'b', 'c', 'l', 's', 'p'][self as usize]
    }
}

impl From<Kind> for FileType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Directory,
            Kind::Link => Self::Link,
        }
    }
}

/// `fattr3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttributes {
    /// Its type.
    pub kind: FileType,
    /// Permission bits.
    pub mode: u32,
    /// Names.
    pub links: u32,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Octets of it.
    pub size: u64,
    /// Octets of storage that it has.
    pub used: u64,
    /// The file system.
    pub file_system: u64,
    /// The file's number there.
    pub number: u64,
    /// When it was read.
    pub accessed: Time,
    /// When it was written.
    pub modified: Time,
    /// When anything was changed.
    pub changed: Time,
}

impl FileAttributes {
    /// Of a file of the file system with this number.
    #[must_use]
    pub fn of(attributes: &Attributes, file_system: u64) -> Self {
        Self {
            kind: attributes.kind.into(),
            mode: attributes.mode,
            links: attributes.links,
            uid: attributes.owner.uid,
            gid: attributes.owner.gid,
            size: attributes.size,
            used: attributes.used,
            file_system,
            number: Self::number(attributes.file),
            accessed: attributes.accessed,
            modified: attributes.modified,
            changed: attributes.changed,
        }
    }

    /// The number that a file of `nfs_server` has among its files, now and before; never 0, which
    /// Linux takes for none.
    #[must_use]
    pub fn number(file: FileId) -> u64 {
        u64::from(file.generation) << 32 | (u64::from(file.number) + 1)
    }

    /// Append `fattr3`.
    pub fn write(&self, message: &mut Message) {
        let words = [
            self.kind.number(),
            self.mode,
            self.links,
            self.uid,
            self.gid,
        ];
        words.into_iter().for_each(|word| message.u32(word));
        message.u64(self.size);
        message.u64(self.used);
        // The device of what is a device.
        message.u64(0);
        message.u64(self.file_system);
        message.u64(self.number);
        for time in [self.accessed, self.modified, self.changed] {
            write_time(message, time);
        }
    }
}

pub(super) fn write_time(message: &mut Message, time: Time) {
    message.u32(time.seconds);
    message.u32(time.nanoseconds);
}

fn read_time(reader: &mut Reader<'_>) -> Result<Time, DecodeError> {
    Ok(Time {
        seconds: reader.u32()?,
        nanoseconds: reader.u32()?,
    })
}

/// Read `fattr3`.
///
/// # Errors
/// It is none.
pub fn read_attributes(reader: &mut Reader<'_>) -> Result<FileAttributes, DecodeError> {
    let kind = FileType::of(reader.u32()?)?;
    let (mode, links) = (reader.u32()?, reader.u32()?);
    let (uid, gid) = (reader.u32()?, reader.u32()?);
    let (size, used, _device) = (reader.u64()?, reader.u64()?, reader.u64()?);
    Ok(FileAttributes {
        kind,
        mode,
        links,
        uid,
        gid,
        size,
        used,
        file_system: reader.u64()?,
        number: reader.u64()?,
        accessed: read_time(reader)?,
        modified: read_time(reader)?,
        changed: read_time(reader)?,
    })
}

/// Read a word that says whether something follows.
fn read_option(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
    match reader.u32()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(DecodeError::Unknown),
    }
}

/// Read `post_op_attr`.
///
/// # Errors
/// It is none.
pub fn read_post_attributes(
    reader: &mut Reader<'_>,
) -> Result<Option<FileAttributes>, DecodeError> {
    match read_option(reader)? {
        true => read_attributes(reader).map(Some),
        false => Ok(None),
    }
}

/// Read `wcc_data`, of which nothing is needed here.
///
/// # Errors
/// It is none.
pub fn read_wcc(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    if read_option(reader)? {
        // Size and two times.
        reader.fixed(24)?;
    }
    read_post_attributes(reader).map(drop)
}

/// Read `sattr3`; times that are to be the server's are `now`.
///
/// # Errors
/// It is none.
pub fn read_set_attributes(
    reader: &mut Reader<'_>,
    now: Time,
) -> Result<SetAttributes, DecodeError> {
    let word = |reader: &mut Reader<'_>| match read_option(reader)? {
        true => reader.u32().map(Some),
        false => Ok(None),
    };
    let (mode, uid, gid) = (word(reader)?, word(reader)?, word(reader)?);
    let size = match read_option(reader)? {
        true => Some(reader.u64()?),
        false => None,
    };
    let time = |reader: &mut Reader<'_>| match reader.u32()? {
        0 => Ok(None),
        1 => Ok(Some(now)),
        2 => read_time(reader).map(Some),
        _ => Err(DecodeError::Unknown),
    };
    Ok(SetAttributes {
        mode,
        uid,
        gid,
        size,
        accessed: time(reader)?,
        modified: time(reader)?,
    })
}

/// Append `sattr3` with nothing but permission bits.
pub fn skip_set_attributes(message: &mut Message, mode: u32) {
    message.u32(1);
    message.u32(mode);
    // Neither user, group nor size, and no time.
    (0..5).for_each(|_| message.u32(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let time = |seconds| Time {
            seconds,
            nanoseconds: 5,
        };
        let attributes = FileAttributes {
            kind: FileType::Link,
            mode: 0o755,
            links: 2,
            uid: 3,
            gid: 4,
            size: 1 << 40,
            used: 4096,
            file_system: 9,
            number: 77,
            accessed: time(1),
            modified: time(2),
            changed: time(3),
        };
        let mut message = Message::new();
        message.u32(1);
        attributes.write(&mut message);
        assert_eq!(message.inline().len(), 88);
        let mut reader = Reader::new(message.inline());
        assert_eq!(read_post_attributes(&mut reader), Ok(Some(attributes)));
        reader.finish().expect("nothing else");
    }

    #[test]
    fn set_attributes_are_read_as_they_were_written() {
        let mut message = Message::new();
        skip_set_attributes(&mut message, 0o640);
        let mut reader = Reader::new(message.inline());
        let expected = SetAttributes {
            mode: Some(0o640),
            ..SetAttributes::default()
        };
        assert_eq!(
            read_set_attributes(&mut reader, Time::default()),
            Ok(expected)
        );
        reader.finish().expect("nothing else");
        let words = [2_u32, 0, 0, 0, 0, 0, 0].map(u32::to_be_bytes).concat();
        let read = read_set_attributes(&mut Reader::new(&words), Time::default());
        assert_eq!(read, Err(DecodeError::Unknown));
    }
}
