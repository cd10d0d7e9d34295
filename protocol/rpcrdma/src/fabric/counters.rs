//! What a host's hardware and its software have done.

/// Counts of one host over all of its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Sends that were received here.
    pub sends: u64,
    /// Their octets.
    pub send_octets: u64,
    /// Writes placed here.
    pub writes: u64,
    /// Their octets, moved by the hardware.
    pub write_octets: u64,
    /// Reads answered from here.
    pub reads: u64,
    /// Their octets, moved by the hardware.
    pub read_octets: u64,
    /// Octets that software has copied into memory.
    pub stored_octets: u64,
    /// Octets that software has copied out of memory.
    pub loaded_octets: u64,
    /// Receives posted.
    pub receives: u64,
    /// Batches of receives posted.
    pub receive_batches: u64,
    /// STags made valid.
    pub exposures: u64,
    /// STags made invalid from here.
    pub revocations: u64,
    /// STags made invalid by the peer's Send with Invalidate.
    pub invalidations: u64,
    /// Most STags that were valid at once.
    pub stags_max: u32,
    /// Most Reads of one end here that were outstanding at once.
    pub reads_outstanding_max: u32,
    /// Accesses by the peer that a right, a bound or an invalid STag refused; each ends its
    /// connection.
    pub refused_accesses: u64,
    /// Sends that met no receive; each ends its connection.
    pub missing_receives: u64,
    /// Sends longer than the receive they met; each ends its connection.
    pub short_receives: u64,
    /// Reads by the peer beyond what was agreed; each ends its connection.
    pub excess_reads: u64,
    /// Sources of a Send or Write that changed before their completion.
    pub changed_sources: u64,
}
