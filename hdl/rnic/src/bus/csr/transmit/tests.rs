//! Each register keeps what is allowed, and passes it to the rooms once.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Simulation};

fn write(uut: &mut Simulation<TransmitRegisters>, offset: u32, value: u32) {
    uut.address.next = u64::from(offset / 4).into();
    uut.data.next = u64::from(value).into();
    uut.tick();
    uut.write.next = true;
    uut.tick();
    uut.write.next = false;
}

fn read(uut: &mut Simulation<TransmitRegisters>, offset: u32) -> u32 {
    uut.address.next = u64::from(offset / 4).into();
    uut.tick();
    uut.settle();
    uut.value.val().to_u32()
}

#[test]
fn each_register_keeps_what_the_map_allows() {
    let mut uut = simulate!(TransmitRegisters::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.clear);
    let firsts = [
        (map::READ_MAX_REQUEST, map::READ_MAX_REQUEST_FIRST),
        (map::READ_TIMEOUT, map::READ_TIMEOUT_FIRST),
        (map::TX_CONTROL, 0),
        (map::TX_UNITS_LOG2, 0),
    ];
    for (offset, first) in firsts {
        assert_eq!(read(&mut uut, offset), first, "offset {offset:#x}");
    }
    for ring in 0..2 {
        let at = |register| map::tx_register(ring, register);
        let cases = [
            (at(map::TX_BASE_LOW), 0x1234_5ffe + ring, 0x1234_5000),
            (at(map::TX_BASE_HIGH), 0xfedc_ba98, 0xfedc_ba98),
            (at(map::TX_REPORT_LOW), 0xabcd_ef7f, 0xabcd_ef40),
            (at(map::TX_REPORT_HIGH), 0x0102_0304, 0x0102_0304),
            (at(map::TX_UNITS_LOG2), 16, 16),
            (at(map::TX_UNITS_LOG2), 17, 16),
            (at(map::TX_UNITS_LOG2), 3, 16),
            (at(map::TX_UNITS_LOG2), 4, 4),
            (at(map::TX_TAIL), 0x8000_0001, 0x8000_0001),
            (at(map::TX_HEAD), 5, 70 + ring),
        ];
        uut.head[ring as usize].next = u64::from(70 + ring).into();
        for (offset, written, expected) in cases {
            write(&mut uut, offset, written);
            assert_eq!(read(&mut uut, offset), expected, "offset {offset:#x}");
        }
        write(&mut uut, at(map::TX_UNITS_LOG2), 0);
        assert_eq!(read(&mut uut, at(map::TX_TAIL)), 0, "set up again");
    }
    for (offset, written, expected) in [
        (map::READ_MAX_REQUEST, 5, 5),
        (map::READ_MAX_REQUEST, 6, 5),
        (map::READ_TIMEOUT, 0xffff, 0xffff),
        (map::READ_TIMEOUT, 0x1_0000, 0xffff),
        (map::TX_CONTROL, 0xff, 3),
    ] {
        write(&mut uut, offset, written);
        assert_eq!(read(&mut uut, offset), expected, "offset {offset:#x}");
    }
    uut.pulse(|uut| &mut uut.clear);
    for (offset, first) in firsts {
        assert_eq!(read(&mut uut, offset), first, "offset {offset:#x} cleared");
    }
}

#[test]
fn a_doorbell_rings_once_and_a_set_up_comes_once() {
    let mut uut = simulate!(TransmitRegisters::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.clear);
    for ring in 0..2usize {
        let at = |register| map::tx_register(ring as u32, register);
        write(&mut uut, at(map::TX_UNITS_LOG2), 9);
        uut.settle();
        assert!(uut.set_up[ring].val() && !uut.set_up[1 - ring].val());
        assert_eq!(uut.units_log2[ring].val(), 9u64);
        uut.tick();
        uut.settle();
        assert!(!uut.set_up[ring].val());
        write(&mut uut, at(map::TX_TAIL), 3);
        uut.settle();
        assert!(uut.tail_valid[ring].val() && !uut.tail_valid[1 - ring].val());
        assert_eq!(uut.tail[ring].val(), 3u64);
        uut.tick();
        uut.settle();
        assert!(!uut.tail_valid[ring].val());
    }
}

#[test]
fn rust_and_verilog_agree() {
    lockstep!(
        "transmit_registers",
        TransmitRegisters::default(),
        6_000,
        |uut, random| {
            uut.clear.next = random.chance(1, 200);
            uut.address.next = (0x26 + random.below(0x16)).into();
            uut.write.next = random.chance(1, 3);
            uut.data.next = if random.chance(1, 2) {
                random.below(20).into()
            } else {
                random.wide()
            };
            for head in &mut uut.head {
                head.next = random.wide();
            }
        }
    );
}
