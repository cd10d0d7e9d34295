//! A distributed RAM: write and combinational read, in lockstep with its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};

type Uut = LutRam<Bits<12>, 4>;

#[test]
fn read_is_combinational_and_a_write_shows_after_its_edge() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(Uut::default());
    let mut model = [0u64; 16];
    for _ in 0..4000 {
        let write = random.chance(1, 2);
        let (written, read) = (random.below(16), random.below(16));
        let data = random.below(1 << 12);
        uut.write_enable.next = write;
        uut.write_address.next = written.into();
        uut.write_data.next = data.into();
        uut.read_address.next = read.into();
        uut.settle();
        assert_eq!(uut.read_data.val(), model[read as usize]);
        uut.tick();
        if write {
            model[written as usize] = data;
        }
        assert_eq!(uut.read_data.val(), model[read as usize]);
    }
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("lut_ram", Uut::default(), 4000, |uut, random| {
        uut.write_enable.next = random.chance(1, 2);
        uut.write_address.next = random.wide();
        uut.write_data.next = random.wide();
        uut.read_address.next = random.wide();
    });
}
