//! Host and device, joined and set up.

use pcie_sim::configuration::{Bar, ConfigurationSpace, Identity};
use pcie_sim::link::{enumerate, step};
use pcie_sim::memory::Access;
use pcie_sim::{
    BarDevice, Bdf, Endpoint, RootComplex, RootComplexSettings, Tlp, Token, TransferError,
};

pub const FUNCTION: Bdf = Bdf::new(1, 0, 0);
/// Memory that holds [`pattern`].
pub const SOURCE: u64 = 0x10_0000;
/// Memory that the device fills.
pub const SINK: u64 = 0x20_0000;
pub const OCTETS: usize = 0x1_0000;
const BAR_BASE: u64 = 0xe000_0000;

/// What memory holds at `SOURCE + offset`: no two aligned dwords are the same.
pub fn pattern(offset: u64, octets: usize) -> Vec<u8> {
    (offset..offset + octets as u64)
        .map(|at| ((at / 4) >> (at % 4 * 5)) as u8 ^ at as u8)
        .collect()
}

/// Octets of BAR 0.
pub struct Scratch(pub Vec<u8>);

impl BarDevice for Scratch {
    fn read(&mut self, _now: u64, _bar: u8, offset: u64, data: &mut [u8]) {
        data.copy_from_slice(&self.0[offset as usize..][..data.len()]);
    }

    fn write(&mut self, _now: u64, _bar: u8, offset: u64, data: &[u8]) {
        self.0[offset as usize..][..data.len()].copy_from_slice(data);
    }
}

pub struct Bench {
    pub now: u64,
    pub host: RootComplex,
    pub device: Endpoint<Scratch>,
    /// Bus address of BAR 0.
    pub bar: u64,
}

impl Bench {
    pub fn new(settings: RootComplexSettings) -> Self {
        let bar = Bar {
            index: 0,
            octets: 0x1000,
            wide: false,
            prefetchable: false,
        };
        let space = ConfigurationSpace::new(Identity::default(), &[bar], None).expect("legal");
        let device = Endpoint::new(space, Scratch(vec![0; 0x1000]));
        let mut host = RootComplex::new(settings);
        let memory = host.memory_mut();
        memory
            .map("source", SOURCE, OCTETS, Access::READ)
            .expect("free");
        memory
            .write(SOURCE, &pattern(0, OCTETS))
            .expect("the host may");
        memory
            .map("sink", SINK, OCTETS, Access::READ_WRITE)
            .expect("free");
        let mut bench = Self {
            now: 0,
            host,
            device,
            bar: 0,
        };
        bench.enumerate();
        bench
    }

    /// Sets the function up, as after a reset.
    pub fn enumerate(&mut self) {
        let (now, host, device) = (self.now, &mut self.host, &mut self.device);
        let bars = enumerate(now, host, device, FUNCTION, BAR_BASE).expect("answers");
        self.bar = bars[0].base;
    }

    /// One tick: a packet each way.
    pub fn tick(&mut self) {
        self.now += 1;
        step(self.now, &mut self.host, &mut self.device);
    }

    pub fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.tick();
        }
    }

    /// Begins to read `octets` octets of the source from `offset` on.
    pub fn read(&mut self, offset: u64, octets: usize) -> Token {
        self.device
            .read_memory(self.now, SOURCE + offset, octets)
            .expect("bus master")
    }

    /// The result of a read of the device, at most 20,000 ticks later.
    pub fn result(&mut self, token: Token) -> Result<Vec<u8>, TransferError> {
        for _ in 0..20_000 {
            if let Some(octets) = self.device.poll(self.now, token)? {
                return Ok(octets);
            }
            self.tick();
        }
        panic!("no result after 20000 ticks");
    }

    /// The next packet down, without giving it to the device.
    pub fn take_down(&mut self) -> Option<Tlp> {
        self.host.next_downstream(self.now)
    }

    /// Nothing is under way, and no rule was broken.
    pub fn finish(mut self) {
        assert_eq!(self.device.outstanding().count(), 0);
        assert!(self.host.is_idle());
        assert_eq!(self.host.monitor_mut().finish(self.now), 0);
        assert_eq!(self.host.monitor().verdict(), Ok(()));
    }
}
