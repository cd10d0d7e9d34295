//! Resets the device through its CONTROL register.

use crate::bar::Registers;
use crate::error::DriverError;
use rnic_abi::limits::RESET_CYCLES;
use rnic_abi::registers::{CONTROL, CONTROL_RESET};

/// Cycles of the device that one read of a register takes, at least.
const READ_CYCLES_MIN: u64 = 12;
/// Reads of CONTROL before a reset counts as hanging: a hundred times the cycles it takes. The rest
/// is for the TLP under way, which the host may accept slowly.
const MAX_POLLS: u64 = 100 * RESET_CYCLES.div_ceil(READ_CYCLES_MIN);

/// Reset the device, and wait until it is ready. From then on it writes nothing to memory, finds no
/// connection and no region, and does not accept frames.
///
/// # Errors
/// [`DriverError::ResetTimeout`] or [`DriverError::Gone`], after which the device may still write.
pub(crate) fn reset(bar: &mut impl Registers) -> Result<(), DriverError> {
    bar.write(CONTROL, CONTROL_RESET)?;
    for _ in 0..MAX_POLLS {
        if bar.read(CONTROL)? & CONTROL_RESET == 0 {
            return Ok(());
        }
    }
    Err(DriverError::ResetTimeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present_bar::PresentBar;
    use crate::testing::Tables;
    use rnic_abi::registers::CONTROL_ENABLE;

    #[test]
    fn a_reset_is_awaited() {
        let mut tables = Tables {
            reset_reads: 399,
            ..Tables::default()
        };
        tables.registers.insert(CONTROL, CONTROL_ENABLE);
        assert_eq!(reset(&mut tables), Ok(()));
        assert_eq!((tables.resets, tables.accesses), (1, 401));
        assert_eq!(tables.read(CONTROL), Ok(0));
    }

    #[test]
    fn a_reset_that_does_not_end_is_reported() {
        let mut tables = Tables {
            reset_reads: u32::MAX,
            ..Tables::default()
        };
        assert_eq!(reset(&mut tables), Err(DriverError::ResetTimeout));
        assert_eq!(tables.accesses as u64, 1 + MAX_POLLS);
    }

    /// All ones have the bit of a reset under way; they are none.
    #[test]
    fn a_device_that_goes_during_its_reset_is_gone() {
        let mut bar = PresentBar::new(Tables {
            reset_reads: u32::MAX,
            gone_after: Some(5),
            ..Tables::default()
        });
        assert_eq!(reset(&mut bar), Err(DriverError::Gone));
        let value_and_identity = 2;
        assert_eq!(bar.double().accesses, 5 + value_and_identity);
    }
}
