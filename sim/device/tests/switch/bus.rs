//! The registers of a software device, with frames that arrive between two operations.

use rnic_abi::registers;
use rnic_abi::registers::{POST, TABLE_COMMAND, TX_TAIL};
use rnic_driver::Bar;
use rnic_sim::DeviceCore;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// Cycles in which a frame is received and all that follows from it is done.
pub const SETTLE_CYCLES: usize = 1_000;
/// Cycles that a register access takes.
const ACCESS_CYCLES: usize = 16;

/// Frames that are to arrive, and how many operations of the device were begun.
#[derive(Debug)]
pub struct Schedule {
    /// Before the operation of this number, in order.
    pub due: RefCell<VecDeque<(usize, Vec<u8>)>>,
    pub operations: Cell<usize>,
    /// Operations count, and frames arrive.
    pub is_on: Cell<bool>,
    /// Cycles from a frame to the operation before which it arrives: with few of them it is still
    /// on its way through the device.
    pub ahead: Cell<usize>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            due: RefCell::default(),
            operations: Cell::default(),
            is_on: Cell::default(),
            ahead: Cell::new(SETTLE_CYCLES),
        }
    }
}

/// BAR0, through which the schedule is kept.
#[derive(Debug)]
pub struct ScheduledBar<C> {
    device: Rc<RefCell<C>>,
    schedule: Rc<Schedule>,
}

impl<C> ScheduledBar<C> {
    pub fn new(device: &Rc<RefCell<C>>, schedule: &Rc<Schedule>) -> Self {
        Self {
            device: Rc::clone(device),
            schedule: Rc::clone(schedule),
        }
    }
}

/// Whether a write of this register changes what a frame finds.
fn is_operation(offset: u32) -> bool {
    let tails = [0, 1].map(|ring| registers::tx_register(ring, TX_TAIL));
    offset == TABLE_COMMAND || offset == POST || tails.contains(&offset)
}

impl Schedule {
    /// Frames that are due before the next operation arrive.
    pub fn arrive<C: DeviceCore>(&self, device: &RefCell<C>) {
        let number = self.operations.get();
        let mut due = self.due.borrow_mut();
        while due.front().is_some_and(|(place, _)| *place <= number) {
            let frame = due.pop_front().map(|(_, frame)| frame);
            let mut device = device.borrow_mut();
            device.push_frame(frame.unwrap_or_default(), false);
            device.run(self.ahead.get());
        }
    }
}

impl<C: DeviceCore> Bar for ScheduledBar<C> {
    fn read32(&mut self, offset: u32) -> u32 {
        let mut device = self.device.borrow_mut();
        device.run(ACCESS_CYCLES);
        let mut octets = [0; 4];
        device.read_bar(offset, &mut octets);
        u32::from_le_bytes(octets)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let schedule = &self.schedule;
        if schedule.is_on.get() && is_operation(offset) {
            schedule.arrive(&self.device);
            schedule.operations.set(schedule.operations.get() + 1);
        }
        let mut device = self.device.borrow_mut();
        device.write_bar(offset, &value.to_le_bytes());
        device.run(ACCESS_CYCLES);
    }
}
