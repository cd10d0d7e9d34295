//! What a server lets clients configure.

/// How a server answers CONF_RDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The only flavour of credentials that may configure (RPC-043).
    pub flavor: u32,
    /// Alignment of the server's receives, in octets; a power of two.
    pub align: u32,
}
