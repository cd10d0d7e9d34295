//! A kernel that would find what it found before need not run.
//!
//! A kernel is a function of its block's signals: while none has changed since it ran, it would
//! drive the same again. Of a pass over all blocks most are in that state, and the last pass of
//! each cycle finds all of them in it. Whether the kernels of a block have run at all is not known
//! here, so none is skipped but by a simulation that knows it (`testkit`).

use rust_hdl::prelude::Block;
use std::cell::Cell;

thread_local! {
    static SKIPS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a kernel of `block` may leave everything as it is. `#[kernel]` asks this first.
pub fn is_settled(block: &impl Block) -> bool {
    SKIPS.get() && !block.has_changed()
}

/// Kernels of this thread may be skipped as long as it lives.
#[cfg(any(test, feature = "testkit"))]
pub(crate) struct Skipping(());

#[cfg(any(test, feature = "testkit"))]
impl Skipping {
    /// For a block whose kernels have all run.
    pub(crate) fn begin() -> Self {
        SKIPS.set(true);
        Self(())
    }
}

#[cfg(any(test, feature = "testkit"))]
impl Drop for Skipping {
    fn drop(&mut self) {
        SKIPS.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::{is_settled, Skipping};
    use crate::testkit::{connected, settle, settle_changes};
    use rnic_macros::kernel;
    use rust_hdl::prelude::*;

    #[derive(LogicBlock, Default)]
    struct Inverter {
        pub data: Signal<In, Bits<8>>,
        pub inverted: Signal<Out, Bits<8>>,
    }

    impl Logic for Inverter {
        #[kernel]
        fn update(&mut self) {
            self.inverted.next = !self.data.val();
        }
    }

    #[test]
    fn a_kernel_runs_after_a_change_and_else_only_where_none_is_skipped() {
        let mut inverter = connected(Inverter::default());
        assert_eq!(inverter.inverted.val(), 0xffu64);
        inverter.data.next = 0x0fu64.into();
        settle_changes(&mut inverter);
        assert_eq!(inverter.inverted.val(), 0xf0u64);
        // What no kernel has driven shows whether this one runs.
        let spoil = |inverter: &mut Inverter| {
            inverter.inverted.next = 1u64.into();
            inverter.inverted.update_all();
            inverter.inverted.update_all();
        };
        spoil(&mut inverter);
        assert!(
            !is_settled(&inverter),
            "nothing is skipped but in a simulation"
        );
        settle_changes(&mut inverter);
        assert_eq!(inverter.inverted.val(), 1u64);
        settle(&mut inverter);
        assert_eq!(inverter.inverted.val(), 0xf0u64);
    }

    #[test]
    fn a_change_is_not_settled() {
        let mut inverter = connected(Inverter::default());
        let _skipping = Skipping::begin();
        assert!(is_settled(&inverter));
        inverter.data.next = 1u64.into();
        inverter.data.update_all();
        assert!(!is_settled(&inverter));
    }
}
