//! The leaves pass the emission lint.
use super::{fifo::Fifo, skid::Skid};
use rnic_hdl_tools::lint::findings;
use rust_hdl::prelude::*;

#[test]
fn leaves_are_clean() {
    assert!(findings("fifo", &Fifo::<Bits<8>, 4, 5>::new(3)).is_empty());
    assert!(findings("skid", &Skid::<Bits<8>>::default()).is_empty());
}
