//! The value of each constant of `rnic-abi` that `docs/registers.md` shows, as the compiler has it.
//!
//! The document takes words from the sources and numbers from here, so that no expression of Rust
//! is left to its reader. A constant that is missing here is an error of the document.

macro_rules! values {
    ($($module:ident: $($name:ident)*;)*) => {
        /// Module, name and value.
        const VALUES: &[(&str, &str, u64)] = &[
            $($((stringify!($module), stringify!($name), rnic_abi::$module::$name as u64),)*)*
        ];
    };
}

values! {
    registers:
        BAR0_OCTETS IDENTITY IDENTITY_VALUE REVISION REVISION_VALUE CAPABILITIES PACKET_PAGES
        CONTROL CONTROL_ENABLE CONTROL_RESET MAX_PAYLOAD FREE_PAGES CQ_OVERFLOW
        HOST_RING_BASE_LOW HOST_RING_BASE_HIGH HOST_RING_SLOTS_LOG2 HOST_RING_SLOT_OCTETS_LOG2
        HOST_RING_SLOT_OCTETS_LOG2_FIRST HOST_RING_CONSUMER HOST_RING_PRODUCER OUT_OF_ORDER_PAGES
        OUT_OF_ORDER_SHARE OUT_OF_ORDER_PAGES_MAX IN_ORDER_RESERVE IN_ORDER_RESERVE_HOLD_SHIFT
        IN_ORDER_RESERVE_LONG_SHIFT IN_ORDER_RESERVE_GROWN LONG_FPDU_OCTETS
        IN_ORDER_RESERVE_PAGES_FIRST IN_ORDER_RESERVE_LONG_FIRST IN_ORDER_RESERVE_HOLD_FIRST
        IN_ORDER_RESERVE_FIRST EVENT_BASE_LOW EVENT_BASE_HIGH EVENT_ENTRIES_LOG2 EVENT_CONSUMER
        EVENT_PRODUCER EVENT_DELAY_LOG2 EVENT_DELAY_LOG2_MIN EVENT_DELAY_LOG2_MAX TX_BASE_LOW
        TX_BASE_HIGH TX_UNITS_LOG2 TX_TAIL TX_HEAD TX_REPORT_LOW TX_REPORT_HIGH TX_STRIDE
        READ_MAX_REQUEST READ_MAX_REQUEST_MAX READ_MAX_REQUEST_FIRST READ_TIMEOUT
        READ_TIMEOUT_MAX READ_TIMEOUT_FIRST TX_CONTROL TX_CONTROL_LOOPBACK
        TX_CONTROL_EXTENDED_TAGS TABLE_COMMAND TABLE_UNFENCED TABLE_BUSY POST_0 POST_1 POST_2 POST
        POST_OFFSET_SHIFT HOLD_CYCLES_MAX TABLE_DATA TABLE_DATA_WORDS CQ_STRIDE
        CQ_BASE_LOW CQ_BASE_HIGH CQ_ENTRIES_LOG2 CQ_CONSUMER CQ_PRODUCER COUNTERS;
    tables:
        WRITE READ RELEASE LOOKUP TCP MPA DDP QUEUE QUEUE_TAIL RECEIVE_POOL STAG REGION OUT_OF_ORDER
        RANGE IN_USE RECORDS TCP_WINDOW LAST RIGHT_REMOTE_WRITE RIGHT_READ_SINK RIGHT_REMOTE_READ
        RIGHT_REMOTE_INVALIDATE RIGHT_STREAM_BOUND;
    cqe:
        CQE_OCTETS KIND_RECEIVE KIND_READ_RESPONSE KIND_ERROR PHASE;
    host_ring:
        SLOT_HEADER_OCTETS PHASE;
    event_ring:
        EVENT_OCTETS PHASE IN_ORDER OUT_OF_ORDER NOT_ACCEPTED GAP_FILLED PUSH ACK ACK_REPEATED
        FIN FIRST_FPDU REASONS FIN_SEEN HAS_RANGE RANGES_SHIFT;
    transmit_ring:
        CONTROL BULK RINGS UNIT_OCTETS ELEMENT_OCTETS ELEMENTS_MAX FRAME_OCTETS_MIN
        UNITS_LOG2_MIN UNITS_LOG2_MAX REPORT_OCTETS INSERT_CHECKSUM INSERT_CRC ELEMENTS_SHIFT
        STATUS_WORD STATUS_REFUSED STATUS_READ_FAILED STOPPED;
    interrupts:
        VECTORS TABLE ENTRY_OCTETS PENDING HOLD_OFF HOLD_OFF_MAX QUEUE_ROUTES_LOW
        QUEUE_ROUTES_HIGH RING_ROUTES ROUTE_HOST ROUTE_EVENTS ROUTE_TRANSMIT ROUTE_ON
        CONTROL_MASKED;
    limits:
        FRAME_PAD_OCTETS MAX_FRAME_OCTETS MIN_FRAME_OCTETS PAGE_OCTETS PAGES_LOG2 PAGES
        CONNECTIONS_LOG2 CONNECTIONS COMPLETION_QUEUES_LOG2 COMPLETION_QUEUES HASH_WAYS
        HASH_SLOTS_LOG2 REGIONS_LOG2 REGIONS RECEIVE_POOL_LOG2 RECEIVE_POOL QUEUES READ_QUEUE
        QUEUE_SLOTS READ_SINK_OCTETS_LOG2 SINGLE_PASS_ULPDU_OCTETS RANGES_LOG2 RANGES
        RANGES_PER_CONNECTION FRAGMENTS SPANS OUT_OF_ORDER_RECORDS IN_ORDER_PAGES RESET_CYCLES
        MAX_RECEIVE_WINDOW;
    pci:
        VENDOR_ID DEVICE_ID REVISION_ID CLASS_CODE BAR0_OCTETS MSIX_VECTORS MSIX_BAR
        MSIX_TABLE_OFFSET MSIX_PENDING_OFFSET;
}

/// The value of `name` in `module`.
///
/// # Errors
/// This file does not list it.
pub(super) fn value(module: &str, name: &str) -> Result<u64, String> {
    let mut values = VALUES.iter();
    let found = values.find(|(of, constant, _)| (*of, *constant) == (module, name));
    found.map(|(_, _, value)| *value).ok_or_else(|| {
        format!("rnic_abi::{module}::{name} has no value in testbench/src/docs/values.rs: list it")
    })
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn a_value_is_the_compilers() {
        let written = 80 | 26 << 16 | 324 << 21;
        assert_eq!(value("registers", "IN_ORDER_RESERVE_FIRST"), Ok(written));
        assert_eq!(value("registers", "IDENTITY_VALUE"), Ok(0x5052_5746));
        assert_eq!(value("cqe", "PHASE"), Ok(0x8000_0000));
    }

    #[test]
    fn a_constant_that_is_not_listed_is_named() {
        let missing = value("registers", "PHASE").expect_err("it is in other modules");
        assert!(missing.contains("registers::PHASE"), "{missing}");
    }
}
