//! What a client asks a server for before its other calls.

/// How a client asks for the limits of each connection, before its other calls. Where as many
/// connections in a row as a call has attempts end without an answer, it is not asked any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configure {
    /// User and group by AUTH_SYS; AUTH_NONE without. Section 11 wants a flavour that the
    /// server's policy takes to be safe (RPC-043).
    pub user: Option<(u32, u32)>,
    /// Items of at least so many octets are padded to the peer's alignment, if it has one, and if
    /// they fit in the Send.
    pub padding_threshold: u32,
}
