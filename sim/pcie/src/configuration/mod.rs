//! Type 0 configuration space: identity, Command, BARs, PCI Express and MSI-X capability.
//!
//! ```text
//!   0x000  header: ids, Command, class, six BARs, capability pointer
//!   0x040  PCI Express capability: payload and read request sizes, extended tags
//!   0x080  MSI-X capability, if the function has one
//!   0x100  no extended capability; reads as zero
//! ```
//!
//! Every octet has a value and a mask of the bits that software may change. The sizing of a BAR
//! (write ones, read back the size) follows from its mask.
//! Source: PCI Express Base Specification 5.0, sections 7.5.1, 7.5.3 and 7.7.2.

mod function;
pub mod register;

use std::ops::Range;

pub use function::{Bar, ConfigurationError, Identity, Msix};

use crate::limits::{Limits, TransferSize};
use crate::reset::Reset;
use crate::tlp::DWORD_OCTETS;
use crate::ByteEnables;

/// Octets of the configuration space of one function.
pub const CONFIGURATION_OCTETS: usize = 4096;
/// BAR registers of a type 0 header.
pub const BAR_COUNT: usize = 6;

/// Command: Memory Space Enable.
pub const COMMAND_MEMORY: u16 = 1 << 1;
/// Command: Bus Master Enable.
pub const COMMAND_BUS_MASTER: u16 = 1 << 2;
// Parity error response, SERR# enable, interrupt disable: kept, without effect here.
const COMMAND_KEPT: u16 = 1 << 6 | 1 << 8 | 1 << 10;
const STATUS_CAPABILITIES: u16 = 1 << 4;

const CAPABILITY_PCI_EXPRESS: u8 = 0x10;
const CAPABILITY_MSIX: u8 = 0x11;

/// Device Control: Extended Tag Field Enable.
pub const DEVICE_CONTROL_EXTENDED_TAG: u16 = 1 << 8;
/// Device Control: Initiate Function Level Reset.
pub const DEVICE_CONTROL_RESET: u16 = 1 << 15;
// Device Capabilities, bits 31:24: Function Level Reset Capability.
const DEVICE_CAPABILITY_RESET: u8 = 1 << 4;
/// Device Control: position of Max_Payload_Size.
pub const DEVICE_CONTROL_PAYLOAD_SHIFT: u32 = 5;
/// Device Control: position of Max_Read_Request_Size.
pub const DEVICE_CONTROL_READ_SHIFT: u32 = 12;
const DEVICE_CONTROL_SIZE_MASK: u32 = 0x7;
// Relaxed ordering and no snoop enabled, reads of 512 octets (section 7.5.3.4, defaults).
const DEVICE_CONTROL_DEFAULT: u16 = 1 << 4 | 1 << 11 | 2 << DEVICE_CONTROL_READ_SHIFT;
const DEVICE_CONTROL_WRITABLE: u16 = 0x79ff;

/// MSI-X Message Control: MSI-X Enable.
pub const MSIX_CONTROL_ENABLE: u16 = 1 << 15;
/// MSI-X Message Control: Function Mask.
pub const MSIX_CONTROL_MASK: u16 = 1 << 14;

/// The configuration space of one function.
///
/// ```
/// use pcie_sim::configuration::{register, Bar, ConfigurationSpace, Identity};
/// use pcie_sim::ByteEnables;
///
/// let bar = Bar { index: 0, octets: 0x1_0000, wide: false, prefetchable: false };
/// let mut space = ConfigurationSpace::new(Identity::default(), &[bar], None)?;
/// space.write(register::BAR0, ByteEnables::ONE_DWORD, u32::MAX);
/// assert_eq!(space.read(register::BAR0), 0xffff_0000);
/// # Ok::<(), pcie_sim::configuration::ConfigurationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfigurationSpace {
    values: Vec<u8>,
    // What a reset goes back to.
    initial: Vec<u8>,
    writable: Vec<u8>,
    bars: Vec<Bar>,
    msix: Option<Msix>,
}

impl ConfigurationSpace {
    /// A function after reset: nothing enabled, BARs at zero.
    ///
    /// # Errors
    /// A BAR or the MSI-X structures cannot exist as asked.
    pub fn new(
        identity: Identity,
        bars: &[Bar],
        msix: Option<Msix>,
    ) -> Result<Self, ConfigurationError> {
        let mut space = Self {
            values: vec![0; CONFIGURATION_OCTETS],
            initial: Vec::new(),
            writable: vec![0; CONFIGURATION_OCTETS],
            bars: bars.to_vec(),
            msix,
        };
        space.set(register::VENDOR_ID, &identity.vendor_id.to_le_bytes());
        space.set(register::VENDOR_ID + 2, &identity.device_id.to_le_bytes());
        let command = COMMAND_MEMORY | COMMAND_BUS_MASTER | COMMAND_KEPT;
        space.allow(register::COMMAND, &command.to_le_bytes());
        space.set(register::STATUS, &STATUS_CAPABILITIES.to_le_bytes());
        let class = identity.class_code << 8 | u32::from(identity.revision_id);
        space.set(register::REVISION_ID, &class.to_le_bytes());
        space.set(
            register::SUBSYSTEM,
            &identity.subsystem_vendor_id.to_le_bytes(),
        );
        space.set(
            register::SUBSYSTEM + 2,
            &identity.subsystem_id.to_le_bytes(),
        );
        space.set(register::CAPABILITIES, &[register::PCI_EXPRESS as u8]);
        space.allow(register::INTERRUPT_LINE, &[0xff]);
        space.add_bars(bars)?;
        space.add_pci_express();
        if let Some(msix) = msix {
            space.add_msix(msix)?;
        }
        space.initial = space.values.clone();
        Ok(space)
    }

    /// Advertises function-level reset. The register reads the bit that asks for one as zero; who
    /// writes to it looks for [`DEVICE_CONTROL_RESET`] in what is written.
    pub fn advertise_function_level_reset(&mut self) {
        let at = usize::from(register::DEVICE_CAPABILITIES) + 3;
        for values in [&mut self.values, &mut self.initial] {
            values[at] |= DEVICE_CAPABILITY_RESET;
        }
    }

    /// Goes back to the values of the start; of a function-level reset, Max_Payload_Size is
    /// excepted (section 6.6.2), because the link's other end has not changed it.
    pub fn reset(&mut self, reset: Reset) {
        let control = self.half(register::DEVICE_CONTROL);
        self.values.copy_from_slice(&self.initial);
        if reset == Reset::Function {
            let mask = (DEVICE_CONTROL_SIZE_MASK << DEVICE_CONTROL_PAYLOAD_SHIFT) as u16;
            let kept = self.half(register::DEVICE_CONTROL) & !mask | control & mask;
            self.set(register::DEVICE_CONTROL, &kept.to_le_bytes());
        }
    }

    /// The dword that holds `register`; zero past the end.
    pub fn read(&self, register: u16) -> u32 {
        let at = usize::from(register) & !(DWORD_OCTETS - 1);
        let dword = self.values.get(at..at + DWORD_OCTETS).unwrap_or_default();
        <[u8; DWORD_OCTETS]>::try_from(dword).map_or(0, u32::from_le_bytes)
    }

    /// Writes the octets of `data` that the first byte enables name into the dword that holds
    /// `register`, as far as they are writable.
    pub fn write(&mut self, register: u16, enables: ByteEnables, data: u32) {
        let at = usize::from(register) & !(DWORD_OCTETS - 1);
        for (offset, octet) in data.to_le_bytes().into_iter().enumerate() {
            let enabled = enables.first() >> offset & 1 == 1;
            let writable = self.writable.get(at + offset).copied().unwrap_or(0);
            if let Some(value) = self.values.get_mut(at + offset).filter(|_| enabled) {
                *value = *value & !writable | octet & writable;
            }
        }
    }

    /// The BARs it was built with.
    pub fn bars(&self) -> &[Bar] {
        &self.bars
    }

    /// The MSI-X structures it was built with.
    pub fn msix(&self) -> Option<&Msix> {
        self.msix.as_ref()
    }

    /// Whether the function answers memory requests.
    pub fn memory_enabled(&self) -> bool {
        self.half(register::COMMAND) & COMMAND_MEMORY != 0
    }

    /// Whether the function may send requests.
    pub fn bus_master_enabled(&self) -> bool {
        self.half(register::COMMAND) & COMMAND_BUS_MASTER != 0
    }

    /// Whether MSI-X is enabled.
    pub fn msix_enabled(&self) -> bool {
        self.msix.is_some() && self.half(register::MSIX_CONTROL) & MSIX_CONTROL_ENABLE != 0
    }

    /// Whether all vectors are masked.
    pub fn msix_masked(&self) -> bool {
        self.half(register::MSIX_CONTROL) & MSIX_CONTROL_MASK != 0
    }

    /// Sizes and tags that Device Control sets.
    pub fn limits(&self) -> Limits {
        let control = u32::from(self.half(register::DEVICE_CONTROL));
        let size = |shift: u32| {
            let encoding = control >> shift & DEVICE_CONTROL_SIZE_MASK;
            TransferSize::from_encoding(encoding).unwrap_or(TransferSize::Octets128)
        };
        let extended = control & u32::from(DEVICE_CONTROL_EXTENDED_TAG) != 0;
        Limits {
            max_payload: size(DEVICE_CONTROL_PAYLOAD_SHIFT),
            max_read_request: size(DEVICE_CONTROL_READ_SHIFT),
            tag_count: if extended { 256 } else { 32 },
            ..Limits::default()
        }
    }

    /// Where `bar` is in memory now.
    pub fn bar_range(&self, bar: &Bar) -> Range<u64> {
        let at = bar_register(bar.index);
        let low = u64::from(self.read(at) & !0xf);
        let high = if bar.wide {
            u64::from(self.read(at + 4))
        } else {
            0
        };
        let base = high << 32 | low;
        base..base.saturating_add(bar.octets)
    }

    /// The BAR and the offset in it that all `octets` octets from `address` fall into, if
    /// memory space is enabled.
    pub fn decode(&self, address: u64, octets: usize) -> Option<(u8, u64)> {
        if !self.memory_enabled() {
            return None;
        }
        let end = address.checked_add(octets as u64)?;
        self.bars.iter().find_map(|bar| {
            let range = self.bar_range(bar);
            let inside = range.contains(&address) && end <= range.end;
            inside.then_some((bar.index, address - range.start))
        })
    }

    fn add_bars(&mut self, bars: &[Bar]) -> Result<(), ConfigurationError> {
        let mut taken = [false; BAR_COUNT];
        for &Bar {
            index,
            octets,
            wide,
            prefetchable,
        } in bars
        {
            let fits = wide || octets <= 1 << 31;
            if !octets.is_power_of_two() || octets < 128 || !fits {
                return Err(ConfigurationError::BarSize { index, octets });
            }
            let first = usize::from(index);
            let registers = taken.get_mut(first..first + 1 + usize::from(wide));
            let registers = registers.ok_or(ConfigurationError::BarIndex { index })?;
            if registers.contains(&true) {
                return Err(ConfigurationError::BarIndex { index });
            }
            registers.fill(true);
            let kind = u32::from(wide) << 2 | u32::from(prefetchable) << 3;
            let mask = !(octets - 1);
            self.set(bar_register(index), &kind.to_le_bytes());
            self.allow(bar_register(index), &(mask as u32 & !0xf).to_le_bytes());
            if wide {
                self.allow(
                    bar_register(index + 1),
                    &((mask >> 32) as u32).to_le_bytes(),
                );
            }
        }
        Ok(())
    }

    fn add_pci_express(&mut self) {
        let next = if self.msix.is_some() {
            register::MSIX as u8
        } else {
            0
        };
        // Capability version 2, port type 0: an endpoint.
        self.set(
            register::PCI_EXPRESS,
            &[CAPABILITY_PCI_EXPRESS, next, 0x02, 0x00],
        );
        // Payloads of 4096 octets, eight-bit tags, role-based error reporting (always set).
        let capabilities = TransferSize::Octets4096.encoding() | 1 << 5 | 1 << 15;
        self.set(register::DEVICE_CAPABILITIES, &capabilities.to_le_bytes());
        self.set(
            register::DEVICE_CONTROL,
            &DEVICE_CONTROL_DEFAULT.to_le_bytes(),
        );
        self.allow(
            register::DEVICE_CONTROL,
            &DEVICE_CONTROL_WRITABLE.to_le_bytes(),
        );
    }

    fn add_msix(&mut self, msix: Msix) -> Result<(), ConfigurationError> {
        let vector_count = msix.vector_count;
        if !(1..=2048).contains(&vector_count) {
            return Err(ConfigurationError::VectorCount { vector_count });
        }
        for (bar, offset, octets) in [
            (msix.table_bar, msix.table_offset, msix.table_octets()),
            (msix.pending_bar, msix.pending_offset, msix.pending_octets()),
        ] {
            let size = self
                .bars
                .iter()
                .find(|known| known.index == bar)
                .map(|bar| bar.octets);
            let end = u64::from(offset) + octets as u64;
            if offset % 8 != 0 || size.is_none_or(|size| end > size) {
                return Err(ConfigurationError::MsixPlace { bar, offset });
            }
        }
        self.set(register::MSIX, &[CAPABILITY_MSIX, 0]);
        // Table Size holds the number of vectors less one.
        self.set(register::MSIX_CONTROL, &(vector_count - 1).to_le_bytes());
        let control = MSIX_CONTROL_ENABLE | MSIX_CONTROL_MASK;
        self.allow(register::MSIX_CONTROL, &control.to_le_bytes());
        let table = msix.table_offset | u32::from(msix.table_bar);
        self.set(register::MSIX + 4, &table.to_le_bytes());
        let pending = msix.pending_offset | u32::from(msix.pending_bar);
        self.set(register::MSIX + 8, &pending.to_le_bytes());
        Ok(())
    }

    fn half(&self, register: u16) -> u16 {
        (self.read(register) >> (register % 4 * 8)) as u16
    }

    fn set(&mut self, register: u16, octets: &[u8]) {
        let at = usize::from(register);
        self.values[at..at + octets.len()].copy_from_slice(octets);
    }

    fn allow(&mut self, register: u16, mask: &[u8]) {
        let at = usize::from(register);
        self.writable[at..at + mask.len()].copy_from_slice(mask);
    }
}

/// Offset of the register of BAR `index`.
pub const fn bar_register(index: u8) -> u16 {
    register::BAR0 + 4 * index as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR0: Bar = Bar {
        index: 0,
        octets: 0x1000,
        wide: true,
        prefetchable: true,
    };
    const MSIX: Msix = Msix {
        vector_count: 65,
        table_bar: 0,
        table_offset: 0x800,
        pending_bar: 0,
        pending_offset: 0xff0,
    };

    #[test]
    fn a_wide_bar_shows_its_size_over_two_registers() {
        let bar = Bar {
            octets: 1 << 33,
            ..BAR0
        };
        let mut space = ConfigurationSpace::new(Identity::default(), &[bar], None).expect("legal");
        for register in [register::BAR0, register::BAR0 + 4] {
            space.write(register, ByteEnables::ONE_DWORD, u32::MAX);
        }
        assert_eq!(space.read(register::BAR0), 0x0000_000c);
        assert_eq!(space.read(register::BAR0 + 4), 0xffff_fffe);
        space.write(register::BAR0 + 4, ByteEnables::ONE_DWORD, 0x0000_0012);
        assert_eq!(space.bar_range(&bar), 0x12_0000_0000..0x14_0000_0000);
        assert_eq!(
            space.decode(0x12_0000_0000, 4),
            None,
            "memory space is disabled"
        );
        space.write(
            register::COMMAND,
            ByteEnables::new(0b0011, 0),
            COMMAND_MEMORY.into(),
        );
        assert_eq!(space.decode(0x13_ffff_fffc, 4), Some((0, 0x1_ffff_fffc)));
        assert_eq!(space.decode(0x13_ffff_fffd, 4), None);
    }

    #[test]
    fn only_enabled_octets_and_writable_bits_change() {
        let mut space = ConfigurationSpace::new(Identity::default(), &[BAR0], None).expect("legal");
        space.write(register::COMMAND, ByteEnables::new(0b1101, 0), u32::MAX);
        assert_eq!(space.read(register::COMMAND), 0x0010_0046);
        space.write(4096 - 4, ByteEnables::ONE_DWORD, u32::MAX);
        assert_eq!(space.read(4096 - 4), 0);
        assert_eq!(space.read(u16::MAX), 0);
    }

    #[test]
    fn device_control_sets_the_limits() {
        let mut space = ConfigurationSpace::new(Identity::default(), &[BAR0], None).expect("legal");
        assert_eq!(space.limits().max_payload, TransferSize::Octets128);
        assert_eq!(space.limits().max_read_request, TransferSize::Octets512);
        assert_eq!(space.limits().tag_count, 32);
        let control = 0x1 << 5 | 0x5 << 12 | 1 << 8;
        space.write(
            register::DEVICE_CONTROL,
            ByteEnables::new(0b0011, 0),
            control,
        );
        assert_eq!(space.limits().max_payload, TransferSize::Octets256);
        assert_eq!(space.limits().max_read_request, TransferSize::Octets4096);
        assert_eq!(space.limits().tag_count, 256);
    }

    #[test]
    fn a_function_level_reset_is_advertised_and_its_bit_reads_as_zero() {
        let mut space = ConfigurationSpace::new(Identity::default(), &[BAR0], None).expect("legal");
        assert_eq!(space.read(register::DEVICE_CAPABILITIES) >> 28 & 1, 0);
        space.advertise_function_level_reset();
        let asked = u32::from(DEVICE_CONTROL_RESET | DEVICE_CONTROL_EXTENDED_TAG);
        space.write(register::DEVICE_CONTROL, ByteEnables::ONE_DWORD, asked);
        let control = space.read(register::DEVICE_CONTROL) as u16;
        assert_eq!(control, DEVICE_CONTROL_EXTENDED_TAG);
        space.reset(Reset::Function);
        assert_eq!(space.read(register::DEVICE_CAPABILITIES) >> 28 & 1, 1);
    }

    #[test]
    fn the_capability_list_leads_to_msix() {
        let identity = Identity {
            vendor_id: 0x1234,
            device_id: 0x5678,
            ..Identity::default()
        };
        let space = ConfigurationSpace::new(identity, &[BAR0], Some(MSIX)).expect("legal");
        assert_eq!(space.read(register::VENDOR_ID), 0x5678_1234);
        let first = space.read(register::CAPABILITIES) as u16 & 0xff;
        assert_eq!(space.read(first) & 0xff, u32::from(CAPABILITY_PCI_EXPRESS));
        let second = (space.read(first) >> 8) as u16 & 0xff;
        assert_eq!(space.read(second), 64 << 16 | u32::from(CAPABILITY_MSIX));
        assert_eq!(space.read(second + 4), 0x800);
        assert_eq!(space.read(second + 8), 0xff0);
    }

    #[test]
    fn impossible_functions_are_refused_by_name() {
        let build = |bars: &[Bar], msix| {
            ConfigurationSpace::new(Identity::default(), bars, msix).map(|_| ())
        };
        let narrow = Bar {
            wide: false,
            ..BAR0
        };
        for octets in [0, 64, 0x1001, 1 << 32] {
            let error = ConfigurationError::BarSize { index: 0, octets };
            assert_eq!(build(&[Bar { octets, ..narrow }], None), Err(error));
        }
        for bars in [
            &[BAR0, Bar { index: 1, ..narrow }][..],
            &[Bar { index: 1, ..BAR0 }, BAR0],
        ] {
            let index = bars[1].index;
            assert_eq!(
                build(bars, None),
                Err(ConfigurationError::BarIndex { index })
            );
        }
        let last_wide = Bar { index: 5, ..BAR0 };
        assert_eq!(
            build(&[last_wide], None),
            Err(ConfigurationError::BarIndex { index: 5 })
        );
        let none = Msix {
            vector_count: 0,
            ..MSIX
        };
        let error = ConfigurationError::VectorCount { vector_count: 0 };
        assert_eq!(build(&[BAR0], Some(none)), Err(error));
        for (bar, offset) in [(0, 0xff8), (0, 0x804), (2, 0x800)] {
            let misplaced = Msix {
                table_bar: bar,
                table_offset: offset,
                ..MSIX
            };
            let error = ConfigurationError::MsixPlace { bar, offset };
            assert_eq!(build(&[BAR0], Some(misplaced)), Err(error));
        }
    }
}
