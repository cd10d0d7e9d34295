//! Values of registers.

use rnic_abi::registers::*;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Registers that are no part of a ring, of a table operation or of interrupts.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) enabled: bool,
    pub(super) loopback: bool,
    /// log2 of the cycles, 0 for none.
    pub(super) event_delay_log2: u32,
    pub(super) table_data: [u32; TABLE_DATA_WORDS],
    /// What the posting port was given.
    pub(super) post: [u32; 3],
    /// A table operation was started that is not short, and `TABLE_COMMAND` was not read since.
    pub(super) is_unread: Cell<bool>,
    /// A reset was begun by a register, and `CONTROL` was not read since.
    pub(super) is_resetting: Cell<bool>,
    /// Those that are only read back, and those of which a part is kept elsewhere.
    pub(super) kept: BTreeMap<u32, u32>,
}

impl Default for Registers {
    /// After a reset.
    fn default() -> Self {
        Self {
            enabled: false,
            loopback: false,
            event_delay_log2: 0,
            table_data: [0; TABLE_DATA_WORDS],
            post: [0; 3],
            is_unread: Cell::new(false),
            is_resetting: Cell::new(false),
            kept: BTreeMap::from([
                (OUT_OF_ORDER_PAGES, OUT_OF_ORDER_PAGES_MAX),
                (OUT_OF_ORDER_SHARE, OUT_OF_ORDER_PAGES_MAX),
                (IN_ORDER_RESERVE, IN_ORDER_RESERVE_FIRST),
                (READ_MAX_REQUEST, READ_MAX_REQUEST_FIRST),
                (READ_TIMEOUT, READ_TIMEOUT_FIRST),
            ]),
        }
    }
}
