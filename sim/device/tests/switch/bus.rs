//! The registers of a software device, with frames that arrive between two operations.

use rnic_abi::registers;
use rnic_abi::registers::{POST, TABLE_COMMAND, TX_TAIL};
use rnic_device::model::{DeviceModel, ModelBar};
use rnic_driver::Bar;
use rnic_sim::DeviceCore;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// Frames that are to arrive, and how many operations of the device were begun.
#[derive(Debug, Default)]
pub struct Schedule {
    /// Before the operation of this number, in order.
    pub due: RefCell<VecDeque<(usize, Vec<u8>)>>,
    pub operations: Cell<usize>,
    /// Operations count, and frames arrive.
    pub is_on: Cell<bool>,
}

/// BAR0, through which the schedule is kept.
#[derive(Debug)]
pub struct ScheduledBar {
    bar: ModelBar,
    device: Rc<RefCell<DeviceModel>>,
    schedule: Rc<Schedule>,
}

impl ScheduledBar {
    pub fn new(bar: ModelBar, device: &Rc<RefCell<DeviceModel>>, schedule: &Rc<Schedule>) -> Self {
        Self {
            bar,
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
    pub fn arrive(&self, device: &RefCell<DeviceModel>) {
        let number = self.operations.get();
        let mut due = self.due.borrow_mut();
        while due.front().is_some_and(|(place, _)| *place <= number) {
            let frame = due.pop_front().map(|(_, frame)| frame);
            let mut device = device.borrow_mut();
            device.push_frame(frame.unwrap_or_default(), false);
            device.run(1_000);
        }
    }
}

impl Bar for ScheduledBar {
    fn read32(&mut self, offset: u32) -> u32 {
        self.bar.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if self.schedule.is_on.get() && is_operation(offset) {
            self.schedule.arrive(&self.device);
            self.schedule
                .operations
                .set(self.schedule.operations.get() + 1);
        }
        self.bar.write32(offset, value);
    }
}
