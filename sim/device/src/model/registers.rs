//! BAR0: which register an offset names, and what a write of it starts.

use super::rings::Ring;
use super::{DeviceModel, TICK_CYCLES};
use rnic_abi::counters::{ALL, COUNT};
use rnic_abi::interrupts::{
    ENTRY_OCTETS, HOLD_OFF, HOLD_OFF_MAX, PENDING, QUEUE_ROUTES_HIGH, QUEUE_ROUTES_LOW,
    RING_ROUTES, TABLE, VECTORS,
};
use rnic_abi::limits::{COMPLETION_QUEUES, PAGES};
use rnic_abi::registers::*;
use rnic_abi::tables::{is_short, name};
use rnic_abi::transmit_ring::RINGS;
use rnic_sim::inner_width;

const TABLE_END: u32 = TABLE + VECTORS as u32 * ENTRY_OCTETS;
const HOLD_OFF_END: u32 = HOLD_OFF + 4 * VECTORS as u32;
const COUNTERS_END: u32 = COUNTERS + 4 * COUNT as u32;
const TABLE_DATA_END: u32 = TABLE_DATA + 4 * TABLE_DATA_WORDS as u32;
const CQ_END: u32 = CQ_BASE_LOW + COMPLETION_QUEUES as u32 * CQ_STRIDE;
const TX_END: u32 = TX_BASE_LOW + RINGS as u32 * TX_STRIDE;

impl DeviceModel {
    pub(super) fn read_register(&self, offset: u32) -> u32 {
        match offset {
            IDENTITY => IDENTITY_VALUE,
            REVISION => REVISION_VALUE,
            CAPABILITIES => {
                (self.width | inner_width(self.width) << 16) as u32 | self.sizes.encode()
            }
            PACKET_PAGES => PAGES as u32,
            // A reset is done at once; on hardware it takes until such a read says so.
            CONTROL => {
                self.registers.is_resetting.set(false);
                u32::from(self.registers.enabled)
            }
            FREE_PAGES => PAGES as u32 - self.model.ooo_pool.pages(),
            CQ_OVERFLOW => self.rings.overflowed,
            HOST_RING_BASE_LOW..=HOST_RING_PRODUCER => self.rings.read_host(offset),
            EVENT_BASE_LOW..=EVENT_PRODUCER => self.rings.events.read(offset - EVENT_BASE_LOW),
            EVENT_DELAY_LOG2 => self.registers.event_delay_log2,
            TX_BASE_LOW..TX_END => {
                let (ring, register) = transmit_register(offset);
                self.transmit[ring].read(register)
            }
            TABLE_DATA..TABLE_DATA_END => {
                self.registers.table_data[((offset - TABLE_DATA) / 4) as usize]
            }
            CQ_BASE_LOW..CQ_END => {
                let (queue, register) = queue_register(offset);
                let value = self.rings.completions[queue].read(register);
                // Numbers of entries are modulo 2^31.
                value
                    & if register == CQ_PRODUCER - CQ_BASE_LOW {
                        u32::MAX >> 1
                    } else {
                        u32::MAX
                    }
            }
            COUNTERS..COUNTERS_END => self.model.counter(ALL[((offset - COUNTERS) / 4) as usize]),
            TABLE..TABLE_END => self.interrupts.read_table(offset - TABLE),
            PENDING => self.interrupts.pending(),
            HOLD_OFF..HOLD_OFF_END => self.interrupts.hold_off((offset - HOLD_OFF) / 4),
            QUEUE_ROUTES_LOW | QUEUE_ROUTES_HIGH | RING_ROUTES => self.interrupts.routes(offset),
            // An operation is done at once; on hardware it takes until such a read says so.
            TABLE_COMMAND => {
                self.registers.is_unread.set(false);
                0
            }
            _ => self.registers.kept.get(&offset).copied().unwrap_or(0),
        }
    }

    pub(super) fn write_register(&mut self, offset: u32, value: u32) {
        if self.registers.is_resetting.get() {
            return self.fault(format!(
                "register {offset:#05x}: written before CONTROL was read to see that the reset is \
                 over; the hardware would ignore the write, and so does this device"
            ));
        }
        self.write_after_reset(offset, value);
    }

    fn write_after_reset(&mut self, offset: u32, value: u32) {
        match offset {
            CONTROL if value & CONTROL_RESET != 0 => {
                self.reset_tables();
                self.registers.is_resetting.set(true);
            }
            CONTROL => self.registers.enabled = value & CONTROL_ENABLE != 0,
            HOST_RING_BASE_LOW..=HOST_RING_PRODUCER => self.write_host_ring(offset, value),
            OUT_OF_ORDER_PAGES | OUT_OF_ORDER_SHARE => {
                self.write_out_of_order(offset, value.min(OUT_OF_ORDER_PAGES_MAX))
            }
            EVENT_BASE_LOW..=EVENT_PRODUCER => {
                let written = self.rings.events.write(offset - EVENT_BASE_LOW, value);
                self.check_size(written, "EVENT_ENTRIES_LOG2", value);
            }
            EVENT_DELAY_LOG2 if is_event_delay(value) => {
                self.registers.event_delay_log2 = value;
            }
            TX_BASE_LOW..TX_END => self.write_transmit(offset, value),
            TX_CONTROL => {
                self.registers.loopback = value & TX_CONTROL_LOOPBACK != 0;
                self.keep(
                    offset,
                    value & (TX_CONTROL_LOOPBACK | TX_CONTROL_EXTENDED_TAGS),
                );
            }
            TABLE_COMMAND | TABLE_DATA..TABLE_DATA_END if self.registers.is_unread.get() => {
                let register = match offset {
                    TABLE_COMMAND => "TABLE_COMMAND",
                    _ => "TABLE_DATA",
                };
                self.fault(format!(
                    "{register}: written before TABLE_COMMAND was read to see that the operation \
                     before is done; the hardware would lose the write, and so does this device"
                ));
            }
            TABLE_COMMAND => {
                self.table_operation(value);
                // What does not exist is not started, as on hardware.
                let exists = name(value >> 16 & 0xf).is_some() && value >> 24 & 3 != 0;
                self.registers.is_unread.set(exists && !is_short(value));
            }
            POST_0 | POST_1 | POST_2 => {
                self.registers.post[((offset - POST_0) / 4) as usize] = value;
            }
            POST => self.ring(value),
            TABLE_DATA..TABLE_DATA_END => {
                self.registers.table_data[((offset - TABLE_DATA) / 4) as usize] = value;
            }
            CQ_BASE_LOW..CQ_END => self.write_queue_register(offset, value),
            TABLE..TABLE_END => self.interrupts.write_table(offset - TABLE, value),
            HOLD_OFF..HOLD_OFF_END if value <= HOLD_OFF_MAX => {
                let cycles = u64::from(value) * TICK_CYCLES;
                self.interrupts
                    .set_hold_off((offset - HOLD_OFF) / 4, value, cycles);
            }
            QUEUE_ROUTES_LOW | QUEUE_ROUTES_HIGH | RING_ROUTES => {
                self.interrupts.set_routes(offset, value);
            }
            MAX_PAYLOAD if value <= 2 => self.keep(offset, value),
            IN_ORDER_RESERVE => self.keep(offset, value & in_order_reserve(0x3ff, 0x3ff, 0x1f)),
            READ_MAX_REQUEST if value <= READ_MAX_REQUEST_MAX => self.keep(offset, value),
            READ_TIMEOUT if value <= READ_TIMEOUT_MAX => self.keep(offset, value),
            // There is no such register, or it is read only: the hardware ignores that too.
            _ => {}
        }
    }

    fn keep(&mut self, offset: u32, value: u32) {
        self.registers.kept.insert(offset, value);
    }

    fn write_out_of_order(&mut self, offset: u32, value: u32) {
        self.keep(offset, value);
        let kept = &self.registers.kept;
        let (pages_max, share) = (kept[&OUT_OF_ORDER_PAGES], kept[&OUT_OF_ORDER_SHARE]);
        self.model.ooo_pool.pages_max = pages_max;
        self.model.ooo_pool.share = share;
    }

    fn write_host_ring(&mut self, offset: u32, value: u32) {
        let written = self.rings.write_host(offset, value);
        let name = match offset {
            HOST_RING_SLOT_OCTETS_LOG2 => "HOST_RING_SLOT_OCTETS_LOG2",
            _ => "HOST_RING_SLOTS_LOG2",
        };
        self.check_size(written, name, value);
    }

    fn write_queue_register(&mut self, offset: u32, value: u32) {
        let (queue, register) = queue_register(offset);
        let ring = &mut self.rings.completions[queue];
        let written = ring.write(register, value);
        if written && register == Ring::ENTRIES_LOG2 {
            ring.producer = 0;
            self.rings.overflowed &= !(1 << queue);
        }
        self.check_size(written, "CQ_ENTRIES_LOG2", value);
    }

    fn write_transmit(&mut self, offset: u32, value: u32) {
        let (ring, register) = transmit_register(offset);
        if let Some(counter) = self.transmit[ring].write(register, value) {
            self.model.count_outside(counter);
        }
    }

    fn check_size(&mut self, is_taken: bool, register: &str, value: u32) {
        if !is_taken {
            self.fault(format!(
                "{register}: {value} is no size of this ring, which stays as it was; see \
                 docs/registers.md"
            ));
        }
    }
}

fn is_event_delay(log2: u32) -> bool {
    log2 == 0 || (EVENT_DELAY_LOG2_MIN..=EVENT_DELAY_LOG2_MAX).contains(&log2)
}

/// The number of a completion queue, and its register as an offset from the queue's first one.
fn queue_register(offset: u32) -> (usize, u32) {
    let place = offset - CQ_BASE_LOW;
    ((place / CQ_STRIDE) as usize, place % CQ_STRIDE)
}

/// As [`queue_register`], of transmit rings.
fn transmit_register(offset: u32) -> (usize, u32) {
    let place = offset - TX_BASE_LOW;
    ((place / TX_STRIDE) as usize, place % TX_STRIDE)
}
