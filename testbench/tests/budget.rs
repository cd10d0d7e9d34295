//! Packet memory against what the specifications say a receiver needs (`rnic_abi::limits`).
use rnic_abi::limits::{frame_pages, CONNECTIONS, MAX_FRAME_OCTETS, PAGES, PAGE_OCTETS};

/// Payload of a full segment on a path of 1500 octets.
const EMSS_OCTETS: usize = 1460;
/// Ethernet, two VLAN tags, IPv6, TCP with all its options: the most that stands before payload.
const HEADERS_OCTETS: usize = 14 + 8 + 40 + 60;
/// The largest FPDU: length field, 65535 ULPDU octets, PAD and CRC, and a marker every 512 octets.
const FPDU_OCTETS_MAX: usize = (2 + 65535 + 3 + 4) * 512 / 508 + 4;

/// MPA-062: BufferSizeNAF, with K1 = 1, grows with the connections; the pool is smaller and does
/// not.
#[test]
fn packet_memory_is_far_smaller_than_a_buffer_for_each_connection() {
    let non_aligned = EMSS_OCTETS * CONNECTIONS;
    assert!(PAGES * PAGE_OCTETS * 10 < non_aligned);
}

/// MPA-062, MPA-063: one FPDU of any size fits the pool in full segments, and while it waits there
/// is room for BufferSizeAF (K2 = 2) of other frames, even of the largest.
#[test]
fn packet_memory_holds_the_largest_fpdu_and_frames_that_pass_it() {
    let segments = FPDU_OCTETS_MAX.div_ceil(EMSS_OCTETS) + 1;
    let waiting = segments as u32 * frame_pages(HEADERS_OCTETS + EMSS_OCTETS);
    assert!(waiting + 2 * frame_pages(MAX_FRAME_OCTETS) <= PAGES as u32);
}
