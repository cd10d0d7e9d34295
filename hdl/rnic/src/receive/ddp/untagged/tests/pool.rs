//! Receive buffers: entry of each MSN, and offsets around the end of a buffer.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};

fn connected() -> Simulation<BufferPool> {
    simulate!(BufferPool::default())
}

fn write_shape(
    uut: &mut Simulation<BufferPool>,
    queue: u64,
    first: u64,
    entries_log2: u64,
    is_open: bool,
) {
    uut.write_shape.next = true;
    uut.shape_queue.next = queue.into();
    uut.shape.next = QueueShape {
        first: first.into(),
        entries_log2: entries_log2.into(),
        is_open,
    };
    uut.tick();
    uut.write_shape.next = false;
}

fn write_buffer(uut: &mut Simulation<BufferPool>, entry: u64, address: u64, octets: u64) {
    uut.write_buffer.next = true;
    uut.buffer_entry.next = entry.into();
    uut.buffer.next = Buffer {
        address: address.into(),
        octets: octets.into(),
        to_high: 0u64.into(),
    };
    uut.tick();
    uut.write_buffer.next = false;
}

fn run(uut: &mut Simulation<BufferPool>, cycles: usize) {
    uut.ticks(cycles);
}

#[test]
fn entry_is_first_plus_msn_modulo_the_entries_for_every_size() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    for entries_log2 in 0..12u64 {
        let entries = 1 << entries_log2;
        for _ in 0..20 {
            let (queue, first) = (random.below(4096), random.below(2048 - entries + 1));
            let (msn, is_open) = (random.below(1 << 32), random.chance(3, 4));
            write_shape(&mut uut, queue, first, entries_log2, is_open);
            uut.queue.next = queue.into();
            uut.msn.next = msn.into();
            run(&mut uut, 3);
            assert_eq!(uut.entry.val(), first + msn % entries, "{entries} entries");
            assert_eq!(uut.is_open.val(), is_open);
        }
    }
}

#[test]
fn ddp_039_040_offsets_are_exact_to_the_octet() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    write_shape(&mut uut, 3, 2047, 0, true);
    uut.queue.next = 3u64.into();
    for _ in 0..600 {
        let octets = match random.below(3) {
            0 => random.below(40),
            1 => (1 << 32) - 1 - random.below(40),
            _ => random.below(1 << 32),
        };
        let address = random.bits();
        let mo = (octets + random.below(6)).saturating_sub(random.below(6)) & 0xffff_ffff;
        let payload = if random.chance(1, 3) {
            0
        } else {
            random.below(9)
        };
        write_buffer(&mut uut, 2047, address, octets);
        uut.mo.next = mo.into();
        uut.mo_end.next = (mo + payload).into();
        uut.has_payload.next = payload > 0;
        run(&mut uut, 6);
        let bad = if payload > 0 {
            mo >= octets
        } else {
            mo > octets
        };
        let context = format!("MO {mo}, payload {payload}, buffer of {octets}");
        assert_eq!(uut.mo_bad.val(), bad, "{context}");
        assert_eq!(uut.too_long.val(), mo + payload > octets, "{context}");
        assert_eq!(uut.address.val(), address.wrapping_add(mo), "{context}");
    }
}
