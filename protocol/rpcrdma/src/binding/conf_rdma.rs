//! The connection configuration protocol (RFC 5666, 6.2: RPC-036 to RPC-038).
//!
//! A client asks once, as its first call, before private data and the 1,024 octets of every
//! connection are all it knows; the server's reply is then the limit.
use super::{Procedure, Program};
use crate::stream::{DecodeError, Message, Reader};
use crate::wire::Padding;

/// The configuration, program 100417.
pub const PROGRAM: Program<'static> = Program {
    name: "rdmaconfig",
    number: 100_417,
    version: 1,
    procedures: &PROCEDURES,
};

/// The number of the only procedure that configures.
pub const CONF_RDMA: u32 = 1;

const PROCEDURES: [Procedure<'static>; 2] = [
    Procedure::simple(0, "NULL", 0),
    Procedure::simple(CONF_RDMA, "CONF_RDMA", 12),
];

/// What a client asks for, `config_rdma_req`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigRequest {
    /// The longest inline call that the client would like to send, in octets.
    pub maxcall_sendsize: u32,
    /// The longest inline reply that the client accepts, in octets.
    pub maxreply_sendsize: u32,
    /// RDMA Reads that may be active at the client.
    pub maxrdmaread: u32,
}

/// What a server answers, `config_rdma_reply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigReply {
    /// The longest inline call that the server accepts, in octets.
    pub maxcall_sendsize: u32,
    /// Alignment of the server's receive buffers, in octets.
    pub align: u32,
    /// RDMA Reads that may be active at the server.
    pub maxrdmaread: u32,
}

fn write(message: &mut Message, words: [u32; 3]) {
    for word in words {
        message.u32(word);
    }
}

fn read(reader: &mut Reader<'_>) -> Result<[u32; 3], DecodeError> {
    Ok([reader.u32()?, reader.u32()?, reader.u32()?])
}

impl ConfigRequest {
    /// Appends the arguments to a call.
    pub fn write(self, message: &mut Message) {
        write(
            message,
            [
                self.maxcall_sendsize,
                self.maxreply_sendsize,
                self.maxrdmaread,
            ],
        );
    }

    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// There are fewer octets.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [maxcall_sendsize, maxreply_sendsize, maxrdmaread] = read(reader)?;
        Ok(Self {
            maxcall_sendsize,
            maxreply_sendsize,
            maxrdmaread,
        })
    }
}

impl ConfigReply {
    /// Appends the results to a reply.
    pub fn write(self, message: &mut Message) {
        write(
            message,
            [self.maxcall_sendsize, self.align, self.maxrdmaread],
        );
    }

    /// Reads the results of a reply.
    ///
    /// # Errors
    /// There are fewer octets.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [maxcall_sendsize, align, maxrdmaread] = read(reader)?;
        Ok(Self {
            maxcall_sendsize,
            align,
            maxrdmaread,
        })
    }

    /// The padding that the server's alignment allows for items of at least `threshold` octets;
    /// nothing if its buffers have no alignment that XDR does not have anyway, or one that is none.
    #[must_use]
    pub fn padding(self, threshold: u32) -> Option<Padding> {
        let padding = Padding {
            align: self.align,
            threshold,
        };
        (padding.is_valid() && self.align > 4).then_some(padding)
    }
}
