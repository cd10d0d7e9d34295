//! Table operations through `TABLE_COMMAND`: data, command, wait.

use super::bar::Registers;
use crate::device::error::DriverError;
use rnic_abi::{registers, tables};

/// Reads of a busy `TABLE_COMMAND` before an operation counts as hanging. A release waits for a
/// read job of up to 64 KiB, and for the FPDUs in front of the checks, of which the placement
/// buffer holds 16 KiB. Even with a host that accepts one octet per cycle that takes a
/// fifteenth of this time at most, as one read of the register takes at least a dozen cycles.
const MAX_POLLS: usize = 1 << 17;

fn run(
    bar: &mut impl Registers,
    operation: u32,
    table: u32,
    index: u32,
) -> Result<(), DriverError> {
    bar.write(
        registers::TABLE_COMMAND,
        registers::table_command(operation, table, index),
    )?;
    for _ in 0..MAX_POLLS {
        if bar.read(registers::TABLE_COMMAND)? & registers::TABLE_BUSY == 0 {
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
pub(crate) fn write(
    bar: &mut impl Registers,
    table: u32,
    index: u32,
    words: &[u32],
) -> Result<(), DriverError> {
    assert!(
        words.len() <= registers::TABLE_DATA_WORDS,
        "an entry has at most ten words"
    );
    for position in 0..registers::TABLE_DATA_WORDS {
        let word = words.get(position).copied().unwrap_or(0);
        bar.write(registers::TABLE_DATA + 4 * position as u32, word)?;
    }
    run(bar, tables::WRITE, table, index)
}

/// Write an entry that revokes the device's access to memory (tables `QUEUE`, `STAG`, `REGION`).
/// When this returns, the device writes nothing more that it checked against the old entry.
///
/// The fence of a write covers the commands that placement has accepted. At most two more were
/// checked before the write and still wait at placement's input. They are accepted by the time that
/// fence passes, so the fence of a second write covers them.
pub(crate) fn revoke(
    bar: &mut impl Registers,
    table: u32,
    index: u32,
    words: &[u32],
) -> Result<(), DriverError> {
    write(bar, table, index, words)?;
    write(bar, table, index, words)
}

/// Read the first four words of entry `index`.
pub(crate) fn read(
    bar: &mut impl Registers,
    table: u32,
    index: u32,
) -> Result<[u32; 4], DriverError> {
    run(bar, tables::READ, table, index)?;
    let mut words = [0; 4];
    for (offset, word) in (registers::TABLE_DATA..).step_by(4).zip(&mut words) {
        *word = bar.read(offset)?;
    }
    Ok(words)
}

/// Make the device release the resources of entry `index`. Of table `MPA` this ends when every
/// FPDU of the connection has been checked; entries of a full completion queue may have to be
/// consumed before.
pub(crate) fn release(bar: &mut impl Registers, table: u32, index: u32) -> Result<(), DriverError> {
    run(bar, tables::RELEASE, table, index)
}
