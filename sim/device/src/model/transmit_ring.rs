//! A transmit ring: its registers, its doorbell, and the places of its units.

use super::rings::{set_high, set_low};
use rnic_abi::counters::Counter;
use rnic_abi::registers::{
    TX_BASE_HIGH, TX_BASE_LOW, TX_HEAD, TX_REPORT_HIGH, TX_REPORT_LOW, TX_TAIL, TX_UNITS_LOG2,
};
use rnic_abi::transmit_ring::{UNITS_LOG2_MAX, UNITS_LOG2_MIN, UNIT_OCTETS};

const BASE_ALIGN: u64 = 4096;
const REPORT_ALIGN: u64 = 64;
const BASE_LOW: u32 = 0;
const BASE_HIGH: u32 = TX_BASE_HIGH - TX_BASE_LOW;
const LOG2: u32 = TX_UNITS_LOG2 - TX_BASE_LOW;
const TAIL: u32 = TX_TAIL - TX_BASE_LOW;
const HEAD: u32 = TX_HEAD - TX_BASE_LOW;
const REPORT_LOW: u32 = TX_REPORT_LOW - TX_BASE_LOW;
const REPORT_HIGH: u32 = TX_REPORT_HIGH - TX_BASE_LOW;

/// One ring; its registers are numbered from `TX_BASE_LOW` on.
#[derive(Clone, Debug, Default)]
pub(super) struct TransmitRing {
    base: u64,
    /// 0: the ring is off.
    units_log2: u32,
    pub(super) tail: u32,
    pub(super) head: u32,
    pub(super) report: u64,
    pub(super) given_up: u32,
    pub(super) has_stopped: bool,
    /// The tail cuts the units of the frame at the head: nothing is done until it moves.
    pub(super) waits_for_tail: bool,
}

impl TransmitRing {
    pub(super) fn read(&self, register: u32) -> u32 {
        match register {
            BASE_LOW => self.base as u32,
            BASE_HIGH => (self.base >> 32) as u32,
            LOG2 => self.units_log2,
            TAIL => self.tail,
            HEAD => self.head,
            REPORT_LOW => self.report as u32,
            REPORT_HIGH => (self.report >> 32) as u32,
            _ => 0,
        }
    }

    /// Write a register; returns what that counts as.
    pub(super) fn write(&mut self, register: u32, value: u32) -> Option<Counter> {
        match register {
            BASE_LOW => set_low(&mut self.base, value, BASE_ALIGN),
            BASE_HIGH => set_high(&mut self.base, value),
            REPORT_LOW => set_low(&mut self.report, value, REPORT_ALIGN),
            REPORT_HIGH => set_high(&mut self.report, value),
            LOG2 if value == 0 || (UNITS_LOG2_MIN..=UNITS_LOG2_MAX).contains(&value) => {
                *self = Self {
                    base: self.base,
                    report: self.report,
                    units_log2: value,
                    ..Self::default()
                };
            }
            TAIL => return self.ring(value),
            _ => {}
        }
        None
    }

    /// The doorbell.
    fn ring(&mut self, tail: u32) -> Option<Counter> {
        let units = match self.units_log2 {
            0 => 0,
            log2 => 1u32 << log2,
        };
        let ahead = tail.wrapping_sub(self.head);
        if ahead > units || ahead < self.tail.wrapping_sub(self.head) {
            return Some(Counter::TxTailIgnored);
        }
        self.tail = tail;
        self.waits_for_tail = false;
        None
    }

    pub(super) fn has_work(&self) -> bool {
        let is_on = self.units_log2 != 0 && !self.has_stopped;
        is_on && !self.waits_for_tail && self.tail != self.head
    }

    /// Bus address of unit `index`.
    pub(super) fn unit(&self, index: u32) -> u64 {
        let place = u64::from(index & ((1u32 << self.units_log2) - 1));
        self.base.wrapping_add(place * UNIT_OCTETS as u64)
    }
}
