//! The two control octets (RFC 5041 section 4.1, RFC 5040 section 4.1).
//!
//! ```text
//!  7   6   5       2   1   0     7   6   5   4   3           0
//!  +---+---+-----------+------+  +-------+-------+-------------+
//!  | T | L | reserved  |  DV  |  |  RV   |  rsv  |   opcode    |
//!  +---+---+-----------+------+  +-------+-------+-------------+
//! ```

use crate::ddp::rdmap::Opcode;
use crate::error::{Error, Result};
use core::fmt;

mod field {
    pub const DDP: usize = 0;
    pub const RDMAP: usize = 1;
}

/// Octets of both control octets.
pub const CONTROL_OCTETS: usize = field::RDMAP + 1;

/// T: the segment addresses a Tagged Buffer.
pub const FLAG_TAGGED: u8 = 0x80;
/// L: the last segment of its message.
pub const FLAG_LAST: u8 = 0x40;
/// Reserved bits of the DDP octet: sent as zero, ignored by receivers (DDP-007).
pub const RESERVED_DDP: u8 = 0x3c;
/// DDP version.
const MASK_DDP_VERSION: u8 = 0x03;
/// RDMAP version: where it starts.
const SHIFT_RDMAP_VERSION: u32 = 6;
/// Reserved bits of the RDMAP octet: sent as zero, ignored by receivers (RDMAP-001).
pub const RESERVED_RDMAP: u8 = 0x30;
/// RDMAP opcode.
const MASK_OPCODE: u8 = 0x0f;

/// A view of the control octets.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Control<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Control<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of both octets.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let control = Self::new_unchecked(buffer);
        control.check_len()?;
        Ok(control)
    }

    /// `Ok` if no accessor can panic.
    pub fn check_len(&self) -> Result<()> {
        Error::unless_whole(self.buffer.as_ref().len(), CONTROL_OCTETS)
    }

    /// T.
    pub fn tagged(&self) -> bool {
        self.ddp() & FLAG_TAGGED != 0
    }

    /// L.
    pub fn last(&self) -> bool {
        self.ddp() & FLAG_LAST != 0
    }

    /// DV.
    pub fn ddp_version(&self) -> u8 {
        self.ddp() & MASK_DDP_VERSION
    }

    /// RV.
    pub fn rdmap_version(&self) -> u8 {
        self.rdmap() >> SHIFT_RDMAP_VERSION
    }

    /// RDMAP opcode.
    pub fn opcode(&self) -> Opcode {
        Opcode::from(self.rdmap() & MASK_OPCODE)
    }

    fn ddp(&self) -> u8 {
        self.buffer.as_ref()[field::DDP]
    }

    fn rdmap(&self) -> u8 {
        self.buffer.as_ref()[field::RDMAP]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Control<T> {
    /// Set the DDP control octet, reserved bits included.
    pub fn set_ddp(&mut self, value: u8) {
        self.buffer.as_mut()[field::DDP] = value;
    }

    /// Set the RDMAP control octet, reserved bits included.
    pub fn set_rdmap(&mut self, value: u8) {
        self.buffer.as_mut()[field::RDMAP] = value;
    }
}

/// Meaning of the control octets except for T, which the kind of header implies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ControlRepr {
    /// L.
    pub last: bool,
    /// DV, two bits.
    pub ddp_version: u8,
    /// RV, two bits.
    pub rdmap_version: u8,
    /// RDMAP opcode.
    pub opcode: Opcode,
}

impl ControlRepr {
    /// Both versions as `version`: 0 in streams of MPA revision 0, else 1 (DDP-008, DDP-009).
    pub const fn new(version: u8, opcode: Opcode, last: bool) -> Self {
        Self {
            last,
            ddp_version: version,
            rdmap_version: version,
            opcode,
        }
    }

    /// Read the control octets.
    pub fn parse<T: AsRef<[u8]>>(control: &Control<T>) -> Result<Self> {
        control.check_len()?;
        Ok(Self {
            last: control.last(),
            ddp_version: control.ddp_version(),
            rdmap_version: control.rdmap_version(),
            opcode: control.opcode(),
        })
    }

    /// Write the control octets of a tagged or untagged segment; reserved bits become zero.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, tagged: bool, control: &mut Control<T>) {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let version = self.ddp_version & MASK_DDP_VERSION;
        control.set_ddp(flag(tagged, FLAG_TAGGED) | flag(self.last, FLAG_LAST) | version);
        let opcode = u8::from(self.opcode) & MASK_OPCODE;
        control.set_rdmap(self.rdmap_version << SHIFT_RDMAP_VERSION | opcode);
    }
}

impl fmt::Display for ControlRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            last,
            ddp_version,
            rdmap_version,
            opcode,
        } = self;
        write!(
            f,
            "{opcode} L={} DV={ddp_version} RV={rdmap_version}",
            *last as u8
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// DDP-005, DDP-009, RDMAP-001: the control octets of the golden FPDUs.
    #[test]
    fn golden_control_octets_are_a_last_untagged_send() {
        for (octets, version) in [([0x40, 0x03], 0), ([0x41, 0x43], 1)] {
            let control = Control::new_checked(octets).expect("complete");
            assert!(!control.tagged());
            let repr = ControlRepr::parse(&control).expect("complete");
            assert_eq!(repr, ControlRepr::new(version, Opcode::Send, true));
            let mut dirty = [0xa5; 2];
            repr.emit(false, &mut Control::new_unchecked(&mut dirty));
            assert_eq!(dirty, octets);
        }
    }

    proptest! {
        /// DDP-007, RDMAP-001: any octets can be read; reserved bits are dropped, and sent as zero.
        #[test]
        fn all_control_octets_survive_but_for_reserved_bits(octets: [u8; 2]) {
            let control = Control::new_unchecked(octets);
            let repr = ControlRepr::parse(&control).expect("complete");
            let mut emitted = [0xa5; 2];
            repr.emit(control.tagged(), &mut Control::new_unchecked(&mut emitted));
            let kept = [octets[0] & !RESERVED_DDP, octets[1] & !RESERVED_RDMAP];
            prop_assert_eq!(emitted, kept);
        }
    }
}
