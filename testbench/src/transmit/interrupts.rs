//! The interrupts of a run: each report is followed by one, as often as the hold-off allows, and
//! none comes while its vector is masked.

use pcie_sim::memory::Memory;
use rnic_abi::interrupts::{CONTROL_MASKED, ENTRY_OCTETS, TABLE, VECTORS};
use rnic_driver::{Bar, Device, InterruptSource};
use rnic_sim::{SimBar, SimDma, Simulation, WriteObserver};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Where interrupts are written.
const WINDOW: u64 = 0xfee0_0000;
const WINDOW_OCTETS: u64 = 0x1000;
/// Data of vector 0.
const DATA: u32 = 0x40;
/// Hold-offs in microseconds.
const HOLD_OFFS: [u32; 4] = [30, 0, 3, 0];
/// Cycles that a message may wait for the host to take it: a hold-off begins when it is begun.
const WAIT_CYCLES: u64 = 200;
/// Fewest cycles of a tick, at any width.
const TICK_CYCLES: u64 = 156;

/// The last write, if no interrupt has followed it.
#[derive(Clone, Debug, Default)]
struct Unreported(Rc<Cell<Option<u64>>>);

impl WriteObserver for Unreported {
    fn written(&mut self, now: u64, address: u64, _: usize, _: &Memory) {
        let is_interrupt = (WINDOW..WINDOW + WINDOW_OCTETS).contains(&address);
        self.0.set((!is_interrupt).then_some(now));
    }
}

/// One vector for what transmission reports.
#[derive(Debug)]
pub(super) struct Interrupts {
    simulation: Rc<RefCell<Simulation>>,
    bar: SimBar,
    unreported: Unreported,
    vector: u8,
    hold_off: u32,
    is_masked: bool,
    last: Option<u64>,
    count: u64,
}

impl Interrupts {
    /// Set up a vector as an operating system does, and have transmission raise it; which one, and
    /// its hold-off, follow from the number of the run.
    pub fn new(
        simulation: &Rc<RefCell<Simulation>>,
        mut bar: SimBar,
        device: &mut Device<SimBar, SimDma>,
        run: u64,
    ) -> Self {
        // Each vector in turn, with each hold-off in turn.
        let vector = (run % VECTORS as u64) as u8;
        let hold_off = HOLD_OFFS[((run + run / VECTORS as u64) % 4) as usize];
        let unreported = Unreported::default();
        {
            let mut simulation = simulation.borrow_mut();
            let window = WINDOW..WINDOW + WINDOW_OCTETS;
            simulation.complex_mut().add_interrupt_window(window);
            simulation.set_msix(true, false);
            simulation.observe_writes(Box::new(unreported.clone()));
        }
        let source = InterruptSource::Transmitted;
        device
            .route_interrupt(source, Some(vector))
            .expect("it is there");
        device.set_hold_off(vector, hold_off).expect("it is there");
        let number = u32::from(vector);
        let words = [WINDOW as u32 + 4 * number, 0, DATA + number, 0];
        // In one request.
        let entry: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bar.write(TABLE + number * ENTRY_OCTETS, &entry);
        Self {
            simulation: Rc::clone(simulation),
            bar,
            unreported,
            vector,
            hold_off,
            is_masked: false,
            last: None,
            count: 0,
        }
    }

    /// Mask the vector, or unmask it; what is wrong until then.
    pub fn mask(&mut self, masked: bool) -> Option<String> {
        let wrong = self.take();
        let control = TABLE + u32::from(self.vector) * ENTRY_OCTETS + 12;
        self.bar
            .write32(control, u32::from(masked) * CONTROL_MASKED);
        self.is_masked &= masked;
        // From this answer on the mask holds.
        self.bar.read32(control);
        let late = self.take();
        self.is_masked = masked;
        wrong.or(late)
    }

    /// Look at the interrupts so far; what is wrong with them.
    pub fn take(&mut self) -> Option<String> {
        let mut wrong = None;
        while let Some(interrupt) = self.simulation.borrow_mut().complex_mut().next_interrupt() {
            let number = u32::from(self.vector);
            let expected = (WINDOW + 4 * u64::from(number), DATA + number);
            let least = u64::from(self.hold_off.saturating_sub(1)) * TICK_CYCLES;
            let least = least.saturating_sub(WAIT_CYCLES);
            let is_early = self.last.is_some_and(|last| interrupt.now - last < least);
            if self.is_masked || is_early || (interrupt.address, interrupt.data) != expected {
                let (masked, last, hold_off) = (self.is_masked, self.last, self.hold_off);
                wrong = Some(format!(
                    "{interrupt:?} of vector {number}; masked: {masked}, the last one at {last:?}, \
                     hold-off {hold_off}"
                ));
            }
            self.last = Some(interrupt.now);
            self.count += 1;
        }
        wrong
    }

    /// After the last report and its hold-off; interrupts, or what is wrong.
    pub fn end(&mut self) -> Result<u64, String> {
        let wrong = self.mask(false);
        let settled = (u64::from(self.hold_off) + 2) * 3 * TICK_CYCLES;
        self.simulation.borrow_mut().run(settled as usize);
        if let Some(wrong) = wrong.or(self.take()) {
            return Err(wrong);
        }
        match self.unreported.0.get() {
            None => Ok(self.count),
            Some(cycle) => Err(format!("no interrupt follows the report of cycle {cycle}")),
        }
    }
}
