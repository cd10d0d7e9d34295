//! What a device may do to memory.

/// What a device may do to memory that it is given.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it: memory that is only sent. The driver does not write it either.
    Read,
    /// Read and write it.
    ReadWrite,
}
