//! Growth and reduction of NewReno (RFC 5681 section 3.1).

/// Congestion avoidance: a segment for each window that is acknowledged, equation (2) counted in
/// octets (RFC 3465 section 2.1). `counted` keeps what has not yet made a segment.
pub fn grow(window: &mut u64, counted: &mut u64, octets: u64, emss: u64) {
    *counted += octets;
    if *counted >= *window {
        *counted -= *window;
        *window += emss;
    }
}

/// Half of what is in flight, equation (4). The caller sees to its minimum of two segments.
pub const fn after_loss(flight: u64) -> u64 {
    flight / 2
}
