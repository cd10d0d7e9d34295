//! How many packets a second the root complex takes: memory writes, as header dwords, with every
//! check on. Run it with `cargo run --release -p pcie-sim --example throughput`.

use std::time::Instant;

use pcie_sim::memory::Access;
use pcie_sim::{Bdf, RootComplex, RootComplexSettings, Tlp};

const BASE: u64 = 0x1_0000_0000;
const REGION_OCTETS: usize = 1 << 24;
const PACKETS: u64 = 2_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:>14} {:>14} {:>14}", "octets/packet", "packets/s", "MB/s");
    for octets in [4usize, 32, 64, 128, 256] {
        let mut host = RootComplex::new(RootComplexSettings::default());
        host.memory_mut()
            .map("sink", BASE, REGION_OCTETS, Access::WRITE)?;
        let data = vec![0x5a; octets];
        let begin = Instant::now();
        for packet in 0..PACKETS {
            let address = BASE + packet * octets as u64 % REGION_OCTETS as u64;
            let tlp = Tlp::memory_write(Bdf::new(1, 0, 0), address, &data);
            let tlp = tlp.ok_or("a packet of up to 4096 octets can be built")?;
            let header = tlp.header.pack()?;
            host.upstream_dwords(packet, &header, tlp.payload);
        }
        let seconds = begin.elapsed().as_secs_f64();
        if let Err(record) = host.monitor().verdict() {
            return Err(record.clone().into());
        }
        let rate = PACKETS as f64 / seconds;
        println!(
            "{octets:>14} {rate:>14.0} {:>14.0}",
            rate * octets as f64 / 1e6
        );
    }
    Ok(())
}
