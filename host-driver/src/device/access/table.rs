//! Table operations through `TABLE_COMMAND`: data, command, and a wait unless they are short.

use super::bar::Registers;
use crate::device::error::DriverError;
use rnic_abi::{registers, tables};

/// Reads of a busy `TABLE_COMMAND` before an operation counts as hanging. A release waits for a
/// read job of up to 64 KiB, and for the FPDUs before the checks, of which the placement
/// buffer holds 16 KiB. Even with a host that accepts one octet per cycle that takes a
/// fifteenth of this time at most, as one read of the register takes at least a dozen cycles.
const MAX_POLLS: usize = 1 << 17;

/// Start an operation, and wait for its end if the next access would not.
fn run(
    bar: &mut impl Registers,
    operation: u32,
    table: u32,
    index: u32,
    flags: u32,
) -> Result<(), DriverError> {
    let command = registers::table_command(operation, table, index) | flags;
    bar.write(registers::TABLE_COMMAND, command)?;
    if tables::is_short(command) {
        return Ok(());
    }
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

/// Write the data of an entry: all words that it has, or word 0 alone if that says that it is not
/// valid or closed.
fn fill(bar: &mut impl Registers, table: u32, words: &[u32]) -> Result<(), DriverError> {
    let is_whole = words.len() == tables::words(table) || words == [0];
    assert!(is_whole, "an entry of table {table} is written whole");
    for (offset, &word) in (registers::TABLE_DATA..).step_by(4).zip(words) {
        bar.write(offset, word)?;
    }
    Ok(())
}

/// Write `words` to entry `index`: those that the entry has. When this returns, the entry is there
/// for every later access of the device.
///
/// Of the tables `QUEUE`, `STAG` and `REGION` it may not be one by which the device accesses
/// memory: that is what [`revoke`] is for.
pub(crate) fn write(
    bar: &mut impl Registers,
    table: u32,
    index: u32,
    words: &[u32],
) -> Result<(), DriverError> {
    fill(bar, table, words)?;
    let flags = registers::TABLE_UNFENCED;
    run(bar, tables::WRITE, table, index, flags)
}

/// Write an entry that revokes the device's access to memory (tables `QUEUE`, `STAG`, `REGION`).
/// When this returns, the device writes nothing more that it checked against the old entry, nor
/// against one that was written before.
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
    fill(bar, table, words)?;
    run(bar, tables::WRITE, table, index, 0)?;
    // The data are those of the first write.
    run(bar, tables::WRITE, table, index, 0)
}

/// Read the first four words of entry `index`.
pub(crate) fn read(
    bar: &mut impl Registers,
    table: u32,
    index: u32,
) -> Result<[u32; 4], DriverError> {
    run(bar, tables::READ, table, index, 0)?;
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
    run(bar, tables::RELEASE, table, index, 0)
}
