//! The choices that a user makes when a device is opened, and their limits.

use crate::device::access::Registers;
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::device::rings::check_size;
use rnic_abi::limits::PAGES;
use rnic_abi::registers;
use rnic_abi::transmit_ring::{UNITS_LOG2_MAX, UNITS_LOG2_MIN};

/// Choices made when the device is opened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// PCI Express maximum payload size in octets: 128, 256 or 512.
    pub max_payload_octets: u32,
    /// log2 of the entries of completion queue 0, 1..=16. With 12, the default, it has room for
    /// whatever all connections can cause: 2,048 buffers and reads, 1,024 errors. A smaller one
    /// takes fewer connections and buffers ([`DriverError::CompletionQueueSize`]).
    pub completion_entries_log2: u32,
    /// log2 of the slots of the host receive ring, 1..=16.
    pub host_slots_log2: u32,
    /// log2 of the octets of one slot, 7..=14; a frame may have 16 octets less.
    pub host_slot_octets_log2: u32,
    /// log2 of the entries of the event ring, 1..=16.
    pub event_entries_log2: u32,
    /// Delay of events about octets in order alone: 0 for none; 12..=31 for every second segment,
    /// or so many cycles of the device, in log2. 16 is 420 us at 156.25 MHz, within the 500 us that
    /// an ACK may be delayed (RFC 9293 section 3.8.6.3).
    pub event_delay_log2: u32,
    /// log2 of the units of the control transmit ring, 4..=16; 0: the device has none. A frame
    /// takes a unit, and one more for each two of its pieces.
    pub control_units_log2: u32,
    /// The same of the bulk transmit ring.
    pub bulk_units_log2: u32,
    /// PCI Express maximum read request size in octets: 128, 256, 512, 1024, 2048 or 4096. Used
    /// with a transmit ring, as the next one.
    pub max_read_request_octets: u32,
    /// Time after which a read of host memory has failed, in microseconds, 1..=65535.
    pub read_timeout_us: u32,
    /// Pages of packet memory that out-of-order segments of all connections may hold together; at
    /// most `OUT_OF_ORDER_PAGES_MAX`. The other pages are left to segments in order: mostly
    /// unfinished FPDUs.
    pub out_of_order_pages: u32,
    /// The same limit for each connection.
    pub out_of_order_share: u32,
    /// Free pages reserved for one connection at a time, which uses them to complete its FPDU; at
    /// most `PAGES`. An FPDU is sure to complete if its frames need no more pages than these. With
    /// 0 nothing is reserved, and unfinished FPDUs of several connections may deadlock.
    pub in_order_reserve: u32,
    /// The reserve once two streams have sent FPDUs of `LONG_FPDU_OCTETS` or more; at most
    /// `PAGES`. A value below `in_order_reserve`, such as 0, keeps the reserve as it is, and long
    /// FPDUs may deadlock.
    pub long_reserve: u32,
    /// log2 of the cycles after which a connection loses the reserve if none of its segments is
    /// accepted, 0..=31. Choose more than the peer's retransmission timeout.
    pub reserve_hold_log2: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_payload_octets: 256,
            completion_entries_log2: 12,
            host_slots_log2: 8,
            host_slot_octets_log2: 14,
            event_entries_log2: 10,
            event_delay_log2: 16,
            control_units_log2: 0,
            bulk_units_log2: 0,
            max_read_request_octets: 512,
            read_timeout_us: registers::READ_TIMEOUT_FIRST,
            out_of_order_pages: registers::OUT_OF_ORDER_PAGES_MAX,
            out_of_order_share: registers::OUT_OF_ORDER_PAGES_MAX,
            in_order_reserve: registers::IN_ORDER_RESERVE_PAGES_FIRST,
            long_reserve: registers::IN_ORDER_RESERVE_LONG_FIRST,
            reserve_hold_log2: registers::IN_ORDER_RESERVE_HOLD_FIRST,
        }
    }
}

/// What a number is, its value, which values are allowed, and these in words.
type Bound = (
    &'static str,
    u32,
    std::ops::RangeInclusive<u32>,
    &'static str,
);

/// Refuses the first number that is out of bounds.
fn within(bounds: &[Bound]) -> Result<(), DriverError> {
    match bounds
        .iter()
        .find(|(_, value, allowed, _)| !allowed.contains(value))
    {
        None => Ok(()),
        Some(&(what, value, _, allowed)) => Err(DriverError::Configuration {
            what,
            value: u64::from(value),
            allowed,
        }),
    }
}

impl Config {
    /// Refuses what the device does not support.
    pub(crate) fn check(&self) -> Result<(), DriverError> {
        self.max_payload_code()?;
        check_size(self.completion_entries_log2)?;
        self.check_rings()?;
        self.check_transmit()?;
        self.check_pages()
    }

    fn check_rings(&self) -> Result<(), DriverError> {
        let delay = registers::EVENT_DELAY_LOG2_MIN..=registers::EVENT_DELAY_LOG2_MAX;
        if self.event_delay_log2 != 0 && !delay.contains(&self.event_delay_log2) {
            return Err(DriverError::Configuration {
                what: "log2 of the cycles that an event is delayed",
                value: u64::from(self.event_delay_log2),
                allowed: "0 or 12..=31",
            });
        }
        within(&[
            (
                "log2 of the host ring's slots",
                self.host_slots_log2,
                1..=16,
                "1..=16",
            ),
            (
                "log2 of a host slot's octets",
                self.host_slot_octets_log2,
                7..=14,
                "7..=14",
            ),
            (
                "log2 of the event ring's entries",
                self.event_entries_log2,
                1..=16,
                "1..=16",
            ),
            (
                "log2 of the cycles of the reserve's timeout",
                self.reserve_hold_log2,
                0..=31,
                "0..=31",
            ),
        ])
    }

    fn check_pages(&self) -> Result<(), DriverError> {
        let ooo_pages = 0..=registers::OUT_OF_ORDER_PAGES_MAX;
        let reserve = 0..=PAGES as u32;
        within(&[
            (
                "the number of pages for out-of-order segments",
                self.out_of_order_pages,
                ooo_pages.clone(),
                "0..=472",
            ),
            (
                "the number of pages for a connection's out-of-order segments",
                self.out_of_order_share,
                ooo_pages,
                "0..=472",
            ),
            (
                "the number of pages reserved for segments in order",
                self.in_order_reserve,
                reserve.clone(),
                "0..=512",
            ),
            (
                "the number of pages reserved for long FPDUs",
                self.long_reserve,
                reserve,
                "0..=512",
            ),
        ])
    }

    /// As [`Config::check`], for transmission.
    fn check_transmit(&self) -> Result<(), DriverError> {
        self.max_read_request_code()?;
        for (what, value) in [
            (
                "log2 of the control transmit ring's units",
                self.control_units_log2,
            ),
            (
                "log2 of the bulk transmit ring's units",
                self.bulk_units_log2,
            ),
        ] {
            if value != 0 && !(UNITS_LOG2_MIN..=UNITS_LOG2_MAX).contains(&value) {
                return Err(DriverError::Configuration {
                    what,
                    value: u64::from(value),
                    allowed: "0 or 4..=16",
                });
            }
        }
        if !(1..=registers::READ_TIMEOUT_MAX).contains(&self.read_timeout_us) {
            return Err(DriverError::Configuration {
                what: "the number of microseconds of a read's timeout",
                value: u64::from(self.read_timeout_us),
                allowed: "1..=65535",
            });
        }
        Ok(())
    }

    /// log2 of a transmit ring's units, if the device is to have it.
    pub(crate) fn units_log2(&self, ring: TransmitRing) -> Option<u32> {
        let units_log2 = match ring {
            TransmitRing::Control => self.control_units_log2,
            TransmitRing::Bulk => self.bulk_units_log2,
        };
        (units_log2 != 0).then_some(units_log2)
    }

    /// Program the registers that hold for all reads of host memory.
    pub(crate) fn program_reads(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        bar.write(registers::READ_MAX_REQUEST, self.max_read_request_code()?)?;
        bar.write(registers::READ_TIMEOUT, self.read_timeout_us)
    }

    /// Program the registers that hold for all connections.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        bar.write(registers::MAX_PAYLOAD, self.max_payload_code()?)?;
        bar.write(registers::OUT_OF_ORDER_PAGES, self.out_of_order_pages)?;
        bar.write(registers::OUT_OF_ORDER_SHARE, self.out_of_order_share)?;
        bar.write(registers::EVENT_DELAY_LOG2, self.event_delay_log2)?;
        let reserve = registers::in_order_reserve(
            self.in_order_reserve,
            self.long_reserve,
            self.reserve_hold_log2,
        );
        bar.write(registers::IN_ORDER_RESERVE, reserve)
    }

    /// The value of `READ_MAX_REQUEST`.
    fn max_read_request_code(&self) -> Result<u32, DriverError> {
        match self.max_read_request_octets {
            octets @ (128 | 256 | 512 | 1024 | 2048 | 4096) => Ok(octets.ilog2() - 7),
            other => Err(DriverError::Configuration {
                what: "the maximum read request size",
                value: u64::from(other),
                allowed: "128, 256, 512, 1024, 2048 or 4096",
            }),
        }
    }

    /// The value of `MAX_PAYLOAD`.
    fn max_payload_code(&self) -> Result<u32, DriverError> {
        match self.max_payload_octets {
            128 => Ok(0),
            256 => Ok(1),
            512 => Ok(2),
            other => Err(DriverError::Configuration {
                what: "the maximum payload size",
                value: u64::from(other),
                allowed: "128, 256 or 512",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `change` makes of the default configuration.
    fn checked(change: impl Fn(&mut Config)) -> Result<(), DriverError> {
        let mut config = Config::default();
        change(&mut config);
        config.check()
    }

    #[test]
    fn values_at_their_limits_pass_and_those_beyond_are_refused() {
        type Field = fn(&mut Config) -> &mut u32;
        let fields: [(Field, u32, u32); 10] = [
            (|config| &mut config.read_timeout_us, 1, 65535),
            (|config| &mut config.completion_entries_log2, 1, 16),
            (|config| &mut config.host_slots_log2, 1, 16),
            (|config| &mut config.host_slot_octets_log2, 7, 14),
            (|config| &mut config.event_entries_log2, 1, 16),
            (|config| &mut config.reserve_hold_log2, 0, 31),
            (|config| &mut config.out_of_order_pages, 0, 472),
            (|config| &mut config.out_of_order_share, 0, 472),
            (|config| &mut config.in_order_reserve, 0, 512),
            (|config| &mut config.long_reserve, 0, 512),
        ];
        for (index, (field, low, high)) in fields.into_iter().enumerate() {
            for allowed in [low, high] {
                let result = checked(|config| *field(config) = allowed);
                assert_eq!(result, Ok(()), "field {index}: {allowed}");
            }
            for refused in low.checked_sub(1).into_iter().chain([high + 1]) {
                let result = checked(|config| *field(config) = refused);
                let Err(DriverError::Configuration { value, .. }) = result else {
                    panic!("field {index}: {refused} passes");
                };
                assert_eq!(value, u64::from(refused));
            }
        }
    }

    #[test]
    fn an_event_delay_is_none_or_what_the_device_can_measure() {
        for allowed in [0, 12, 31] {
            assert_eq!(checked(|config| config.event_delay_log2 = allowed), Ok(()));
        }
        for refused in [1, 11, 32] {
            assert!(checked(|config| config.event_delay_log2 = refused).is_err());
        }
    }

    #[test]
    fn a_transmit_ring_is_off_or_has_16_to_65536_units() {
        type Field = fn(&mut Config) -> &mut u32;
        let fields: [(Field, TransmitRing); 2] = [
            (
                |config| &mut config.control_units_log2,
                TransmitRing::Control,
            ),
            (|config| &mut config.bulk_units_log2, TransmitRing::Bulk),
        ];
        for (field, ring) in fields {
            for (value, expected) in [(0, None), (4, Some(4)), (16, Some(16))] {
                let mut config = Config::default();
                *field(&mut config) = value;
                assert_eq!(config.check(), Ok(()));
                assert_eq!(config.units_log2(ring), expected);
            }
            for refused in [1, 3, 17] {
                assert!(checked(|config| *field(config) = refused).is_err());
            }
        }
    }

    #[test]
    fn read_request_sizes_have_their_codes() {
        for (octets, code) in [128, 256, 512, 1024, 2048, 4096].into_iter().zip(0..) {
            let config = Config {
                max_read_request_octets: octets,
                ..Config::default()
            };
            assert_eq!(config.max_read_request_code(), Ok(code));
            assert_eq!(config.check(), Ok(()));
        }
        for refused in [0, 64, 384, 8192] {
            assert!(checked(|config| config.max_read_request_octets = refused).is_err());
        }
    }

    #[test]
    fn payload_sizes_have_their_codes() {
        for (octets, code) in [(128, 0), (256, 1), (512, 2)] {
            let config = Config {
                max_payload_octets: octets,
                ..Config::default()
            };
            assert_eq!(config.max_payload_code(), Ok(code));
        }
        assert!(checked(|config| config.max_payload_octets = 1024).is_err());
    }
}
