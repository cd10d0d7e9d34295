//! Counters: one for each cause of a drop or refusal, and for accepted frames, segments and FPDUs.

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $variant:ident = $index:literal, $name:literal;)*) => {
        /// A counter of the device; the discriminant is its index in the BAR.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Counter { $($(#[doc = $doc])* $variant = $index,)* }

        /// Every counter, in the order of its index.
        pub const ALL: &[Counter] = &[$(Counter::$variant,)*];

        impl Counter {
            /// Its name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// What it counts, in words.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_ascii(),)* }
            }
            /// Its place in the BAR.
            pub const fn index(self) -> usize { self as usize }
        }
    };
}

counters! {
    /// Frames that ended, of the wire or looped back, dropped ones included; those of
    /// `drop_loopback` are not among them.
    Frames = 0, "frames";
    /// Frames dropped because the device is not enabled.
    DropDisabled = 1, "drop_disabled";
    /// Frames that the MAC marked bad.
    DropMacError = 2, "drop_mac_error";
    /// Frames without a complete Ethernet header.
    DropRunt = 3, "drop_runt";
    /// Frames longer than the device accepts.
    DropFrameTooLong = 4, "drop_frame_too_long";
    /// Frames dropped for lack of a page or of a descriptor of packet memory.
    DropNoPage = 5, "drop_no_page";
    /// IPv4 headers with a wrong checksum.
    DropIpChecksum = 6, "drop_ip_checksum";
    /// IP headers with an impossible version or length.
    DropIpMalformed = 7, "drop_ip_malformed";
    /// TCP headers with an impossible data offset.
    DropTcpMalformed = 8, "drop_tcp_malformed";
    /// Segments of an offloaded connection with a wrong TCP checksum.
    DropTcpChecksum = 9, "drop_tcp_checksum";
    /// Frames handed to the host receive ring.
    HostFrames = 10, "host_frames";
    /// Frames for the host that found its ring full or switched off.
    DropHostRingFull = 11, "drop_host_ring_full";
    /// Frames for the host that do not fit a slot.
    DropHostFrameTooLong = 12, "drop_host_frame_too_long";
    /// Segments of an offloaded connection without payload; with TCP options other than timestamps
    /// after two NOPs they also go to the host.
    TcpPureAck = 13, "tcp_pure_ack";
    /// SYN, RST, URG or payload-less FIN segments of an offloaded connection, passed to the host.
    TcpControl = 14, "tcp_control";
    /// Segments accepted in order.
    TcpInOrder = 15, "tcp_in_order";
    /// Accepted segments, in order or not, some octets of which were received before or not
    /// accepted (except for octets beyond the window).
    TcpTrimmed = 16, "tcp_trimmed";
    /// Segments without new octets.
    DropTcpDuplicate = 17, "drop_tcp_duplicate";
    /// Segments accepted beyond rcv_nxt.
    TcpOutOfOrder = 18, "tcp_out_of_order";
    /// Segments beyond the window.
    DropTcpOutsideWindow = 19, "drop_tcp_outside_window";
    /// FPDUs whose CRC32C and markers are right (or not checked), refused ones included.
    Fpdus = 20, "fpdus";
    /// FPDUs stopped by `StreamError::MpaCrc`.
    RefuseMpaCrc = 21, "refuse_mpa_crc";
    /// FPDUs stopped by `StreamError::MpaMarker`.
    RefuseMpaMarker = 22, "refuse_mpa_marker";
    /// FPDUs stopped by `StreamError::MpaLocalCatastrophic`.
    RefuseMpaZeroLength = 23, "refuse_mpa_zero_length";
    /// FPDUs stopped by `StreamError::DdpShortHeader`.
    RefuseDdpShortHeader = 24, "refuse_ddp_short_header";
    /// FPDUs stopped by `StreamError::DdpTaggedVersion`.
    RefuseDdpTaggedVersion = 25, "refuse_ddp_tagged_version";
    /// FPDUs stopped by `StreamError::DdpUntaggedVersion`.
    RefuseDdpUntaggedVersion = 26, "refuse_ddp_untagged_version";
    /// FPDUs stopped by `StreamError::RdmapVersion`.
    RefuseRdmapVersion = 27, "refuse_rdmap_version";
    /// FPDUs stopped by `StreamError::RdmapOpcode`.
    RefuseRdmapOpcode = 28, "refuse_rdmap_opcode";
    /// FPDUs stopped by `StreamError::DdpStag`.
    RefuseDdpStag = 29, "refuse_ddp_stag";
    /// FPDUs stopped by `StreamError::DdpAssociation`.
    RefuseDdpAssociation = 30, "refuse_ddp_association";
    /// FPDUs stopped by `StreamError::RdmapAccess`.
    RefuseRdmapAccess = 31, "refuse_rdmap_access";
    /// FPDUs stopped by `StreamError::DdpWrap`.
    RefuseDdpWrap = 32, "refuse_ddp_wrap";
    /// FPDUs stopped by `StreamError::DdpBounds`.
    RefuseDdpBounds = 33, "refuse_ddp_bounds";
    /// FPDUs stopped by `StreamError::DdpQn`.
    RefuseDdpQn = 34, "refuse_ddp_qn";
    /// FPDUs stopped by `StreamError::DdpNoBuffer`.
    RefuseDdpNoBuffer = 35, "refuse_ddp_no_buffer";
    /// FPDUs stopped by `StreamError::DdpMsn`.
    RefuseDdpMsn = 36, "refuse_ddp_msn";
    /// FPDUs stopped by `StreamError::DdpMo`.
    RefuseDdpMo = 37, "refuse_ddp_mo";
    /// FPDUs stopped by `StreamError::DdpTooLong`.
    RefuseDdpTooLong = 38, "refuse_ddp_too_long";
    /// FPDUs stopped by `StreamError::RdmapInvalidate`.
    RefuseRdmapInvalidate = 39, "refuse_rdmap_invalidate";
    /// FPDUs stopped by `StreamError::RdmapReadResponse`.
    RefuseRdmapReadResponse = 40, "refuse_rdmap_read_response";
    /// FPDUs stopped by `StreamError::CqOverflow`.
    RefuseCqOverflow = 41, "refuse_cq_overflow";
    /// Completion queue entries written.
    Completions = 42, "completions";
    /// Segments beyond rcv_nxt once out-of-order segments hold their limit of pages, and segments
    /// that may not use the reserve ([`crate::registers::IN_ORDER_RESERVE`]).
    DropTcpNoRoom = 43, "drop_tcp_no_room";
    /// Segments beyond rcv_nxt that touch no range, while no range number is free.
    DropTcpNoRange = 44, "drop_tcp_no_range";
    /// Frames sent, or looped back.
    TxFrames = 45, "tx_frames";
    /// Heads of transmit rings that were refused.
    TxRefused = 46, "tx_refused";
    /// Frames not sent because a read of their octets failed.
    TxFailed = 47, "tx_failed";
    /// Transmit rings that stopped because a read of their units failed.
    TxRingStopped = 48, "tx_ring_stopped";
    /// Tails of transmit rings that were not taken.
    TxTailIgnored = 49, "tx_tail_ignored";
    /// Reads of host memory that were not answered in time.
    ReadTimedOut = 50, "read_timed_out";
    /// Completions with status Unsupported Request, or one that is reserved for other requests.
    ReadUnsupported = 51, "read_unsupported";
    /// Completions with status Completer Abort.
    ReadAborted = 52, "read_aborted";
    /// Poisoned completions.
    ReadPoisoned = 53, "read_poisoned";
    /// Completions that are not what is due for their tag.
    ReadMalformed = 54, "read_malformed";
    /// Completions for no read of the device.
    ReadUnexpected = 55, "read_unexpected";
    /// Completions for reads that were given up.
    ReadLate = 56, "read_late";
    /// Reads that could not be asked for: past the end of memory, or every tag waits for a late
    /// completion.
    ReadRefused = 57, "read_refused";
    /// Frames of the wire that came while frames were looped back; they count in no other counter,
    /// not in `frames` either.
    DropLoopback = 58, "drop_loopback";
    /// Posts to a queue that is not open ([`crate::registers::POST`]).
    RefusePostClosed = 59, "refuse_post_closed";
    /// Posts to a queue that holds as many as it has entries.
    RefusePostFull = 60, "refuse_post_full";
}

/// Number of counters.
pub const COUNT: usize = 61;
/// The counter of stream error number `n` (1..=21) is `FIRST_REFUSAL + n - 1`.
pub const FIRST_REFUSAL: usize = Counter::RefuseMpaCrc as usize;
