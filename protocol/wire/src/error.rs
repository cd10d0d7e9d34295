//! Why octets are not a valid header.

use core::fmt;

/// Why octets are not a valid header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The buffer ends before the header, or before what it announces.
    Truncated {
        /// Octets that must be there.
        needed_octets: usize,
        /// Octets that are there.
        found_octets: usize,
    },
    /// The first 16 octets are neither the key of a Request nor that of a Reply frame.
    UnknownKey,
    /// PD_Length exceeds what the frame's revision allows, or does not hold what a flag announces.
    PrivateDataLength {
        /// PD_Length.
        found_octets: usize,
    },
    /// The control octet names another buffer model than the view's.
    BufferModel,
}

/// The result of reading octets.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// `Ok` if `found_octets` octets are enough.
    pub(crate) fn unless_whole(found_octets: usize, needed_octets: usize) -> Result<()> {
        if found_octets < needed_octets {
            return Err(Self::Truncated {
                needed_octets,
                found_octets,
            });
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated {
                needed_octets,
                found_octets,
            } => write!(f, "{found_octets} octets where {needed_octets} are needed"),
            Self::UnknownKey => f.write_str("no key of an MPA Request or Reply frame"),
            Self::PrivateDataLength { found_octets } => {
                write!(
                    f,
                    "a PD_Length of {found_octets} octets is not allowed here"
                )
            }
            Self::BufferModel => f.write_str("a header of the other DDP buffer model"),
        }
    }
}

impl core::error::Error for Error {}
