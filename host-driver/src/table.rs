//! Table operations through `TABLE_COMMAND`: data, command, wait.

use crate::bar::Bar;
use crate::error::DriverError;
use rnic_abi::{registers, tables};

/// Reads of a busy `TABLE_COMMAND` before an operation counts as hanging. A release waits for a
/// read job of up to 64 KiB. Even with a host that accepts one octet per cycle that takes a
/// twentieth of this time, as one read of the register takes at least a dozen cycles.
const MAX_POLLS: usize = 1 << 17;

fn run(bar: &mut impl Bar, operation: u32, table: u32, index: u32) -> Result<(), DriverError> {
    bar.write32(
        registers::TABLE_COMMAND,
        registers::table_command(operation, table, index),
    );
    for _ in 0..MAX_POLLS {
        if bar.read32(registers::TABLE_COMMAND) & registers::TABLE_BUSY == 0 {
            return Ok(());
        }
    }
    Err(DriverError::TableTimeout {
        table,
        operation,
        index,
    })
}

/// Write `words` to entry `index`; missing words are zero.
pub fn write(bar: &mut impl Bar, table: u32, index: u32, words: &[u32]) -> Result<(), DriverError> {
    assert!(
        words.len() <= registers::TABLE_DATA_WORDS,
        "an entry has at most ten words"
    );
    for position in 0..registers::TABLE_DATA_WORDS {
        let word = words.get(position).copied().unwrap_or(0);
        bar.write32(registers::TABLE_DATA + 4 * position as u32, word);
    }
    run(bar, tables::WRITE, table, index)
}

/// Write an entry that revokes the device's access to memory (tables `QUEUE`, `STAG`, `REGION`).
/// When this returns, the device writes nothing more that it checked against the old entry.
///
/// The fence of a write covers the commands that placement has accepted. At most two more were
/// checked before the write and still wait at placement's input. They are accepted by the time that
/// fence passes, so the fence of a second write covers them.
pub fn revoke(
    bar: &mut impl Bar,
    table: u32,
    index: u32,
    words: &[u32],
) -> Result<(), DriverError> {
    write(bar, table, index, words)?;
    write(bar, table, index, words)
}

/// Write zeros to the first `entries` entries, which makes them invalid. When this returns, the
/// device writes nothing more that it checked against one of them.
pub fn clear(bar: &mut impl Bar, table: u32, entries: u32) -> Result<(), DriverError> {
    for position in 0..registers::TABLE_DATA_WORDS {
        bar.write32(registers::TABLE_DATA + 4 * position as u32, 0);
    }
    // A write does not change the data registers. The last entry is written twice, see `revoke`.
    for index in (0..entries).chain(entries.checked_sub(1)) {
        run(bar, tables::WRITE, table, index)?;
    }
    Ok(())
}

/// Read the first four words of entry `index`.
pub fn read(bar: &mut impl Bar, table: u32, index: u32) -> Result<[u32; 4], DriverError> {
    run(bar, tables::READ, table, index)?;
    Ok(core::array::from_fn(|word| {
        bar.read32(registers::TABLE_DATA + 4 * word as u32)
    }))
}

/// Make the device release the resources of entry `index`.
pub fn release(bar: &mut impl Bar, table: u32, index: u32) -> Result<(), DriverError> {
    run(bar, tables::RELEASE, table, index)
}
