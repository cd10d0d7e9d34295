//! A call costs no allocation once both ends are warm, and no copy of its payload.
#[path = "../benches/calls/ends.rs"]
mod ends;
// Each program takes what it needs of it.
#[allow(unused)]
mod harness;

use allocation_counter::measure;
use ends::{Bench, Kind};

/// RPC-008, RPC-016: chunks are moved by the hardware alone.
#[test]
fn a_warm_call_neither_allocates_nor_copies() {
    let kinds = [4 << 10, 12_345, 64 << 10, 1 << 20];
    let kinds = kinds
        .into_iter()
        .flat_map(|octets| [Kind::Read(octets), Kind::Write(octets)]);
    for kind in kinds.chain([Kind::Null, Kind::Getattr]) {
        let mut bench = Bench::new(true);
        (0..100).for_each(|_| bench.call(kind));
        let before = bench.counts();
        let counted = measure(|| (0..200).for_each(|_| bench.call(kind)));
        let after = bench.counts();
        assert_eq!(counted.count_total, 0, "{kind:?}");
        assert_eq!(after.0, before.0, "{kind:?} copies");
        let chunks = u64::from(!matches!(kind, Kind::Null | Kind::Getattr));
        assert_eq!(after.1 - before.1, 200 * chunks, "{kind:?} registers");
    }
}
