//! How a procedure ended.

use crate::files::Error;
use std::fmt;

/// `nfsstat3` or `mountstat3`, which have the same numbers for the same meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

macro_rules! statuses {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        #[allow(missing_docs, reason = "the names are those of RFC 1813, 2.6")]
        impl Status {
            $(pub const $name: Self = Self($number);)*
        }

        impl fmt::Display for Status {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$name => formatter.write_str($text),)*
                    Self(number) => write!(formatter, "status {number}"),
                }
            }
        }
    };
}

statuses! {
    OK = 0, "OK";
    PERM = 1, "not the owner (NFS3ERR_PERM)";
    NOENT = 2, "there is no such file (NFS3ERR_NOENT)";
    IO = 5, "the server's storage has failed (NFS3ERR_IO)";
    ACCES = 13, "permission denied: look at its mode and the server's exports (NFS3ERR_ACCES)";
    EXIST = 17, "the name is taken (NFS3ERR_EXIST)";
    NOTDIR = 20, "it is no directory (NFS3ERR_NOTDIR)";
    ISDIR = 21, "it is a directory (NFS3ERR_ISDIR)";
    INVAL = 22, "the server does not take these arguments (NFS3ERR_INVAL)";
    FBIG = 27, "the file would be too large (NFS3ERR_FBIG)";
    NOSPC = 28, "the server has no space left: remove files there (NFS3ERR_NOSPC)";
    ROFS = 30, "the file system is read-only (NFS3ERR_ROFS)";
    MLINK = 31, "the file has too many names (NFS3ERR_MLINK)";
    NAMETOOLONG = 63, "the name is too long (NFS3ERR_NAMETOOLONG)";
    NOTEMPTY = 66, "the directory is not empty (NFS3ERR_NOTEMPTY)";
    DQUOT = 69, "the quota is used up (NFS3ERR_DQUOT)";
    STALE = 70, "the file is gone; has the server started again? (NFS3ERR_STALE)";
    BADHANDLE = 10_001, "the server does not know this handle (NFS3ERR_BADHANDLE)";
    NOT_SYNC = 10_002, "the file has changed (NFS3ERR_NOT_SYNC)";
    BAD_COOKIE = 10_003, "the listing cannot go on (NFS3ERR_BAD_COOKIE)";
    NOTSUPP = 10_004, "the server has no such operation (NFS3ERR_NOTSUPP)";
    TOOSMALL = 10_005, "the reply has too little room (NFS3ERR_TOOSMALL)";
    SERVERFAULT = 10_006, "the server has failed (NFS3ERR_SERVERFAULT)";
    BADTYPE = 10_007, "the server has no such type of file (NFS3ERR_BADTYPE)";
    JUKEBOX = 10_008, "the server is busy; try later (NFS3ERR_JUKEBOX)";
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Stale => Self::STALE,
            Error::NotFound => Self::NOENT,
            Error::Exists => Self::EXIST,
            Error::NotDirectory => Self::NOTDIR,
            Error::IsDirectory => Self::ISDIR,
            Error::NotEmpty => Self::NOTEMPTY,
            Error::NoSpace => Self::NOSPC,
            Error::NameTooLong => Self::NAMETOOLONG,
            Error::Invalid => Self::INVAL,
            Error::TooLarge => Self::FBIG,
            Error::TooManyLinks => Self::MLINK,
            Error::NotSynchronised => Self::NOT_SYNC,
        }
    }
}
