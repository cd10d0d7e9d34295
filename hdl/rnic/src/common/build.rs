//! Sizes of the build that is being emitted.
//!
//! Rooms ask for them where they are built: as parameters they would stand in the type of every
//! block on the way to the few memories that they size.
use rnic_abi::sizes::Sizes;
use std::cell::Cell;

thread_local! {
    static SIZES: Cell<Sizes> = const { Cell::new(Sizes::LARGEST) };
}

/// Sizes of the blocks that this thread builds now; [`Sizes::LARGEST`] outside of [`with_sizes`].
pub fn sizes() -> Sizes {
    SIZES.get()
}

/// What `build` returns; the blocks that it builds have these sizes.
pub fn with_sizes<T>(sizes: Sizes, build: impl FnOnce() -> T) -> T {
    struct Restore(Sizes);
    impl Drop for Restore {
        fn drop(&mut self) {
            SIZES.set(self.0);
        }
    }
    let _restore = Restore(SIZES.replace(sizes));
    build()
}
