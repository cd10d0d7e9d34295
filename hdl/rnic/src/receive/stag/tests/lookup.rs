//! STag lookup every cycle, against what the driver wrote.
use super::super::*;
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::tables::hash_slot;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};
use std::collections::{HashMap, VecDeque};

/// Latency from `hash` to `region`, in cycles.
const LATENCY: usize = 4;

fn hash_of(stag_index: u64) -> u32 {
    crc32c::crc32c(&stag_index.to_be_bytes()[5..])
}

fn connected() -> Simulation<StagLookup> {
    simulate!(StagLookup::default())
}

fn write(uut: &mut Simulation<StagLookup>, way: usize, stag_index: u64, entry: Option<u64>) {
    let slot = hash_slot(hash_of(stag_index), way) as u64;
    uut.write.next = true;
    uut.write_index.next = ((way as u64) << 9 | slot).into();
    uut.write_entry.next = StagEntry {
        valid: entry.is_some(),
        stag_index: stag_index.into(),
        region: entry.unwrap_or(0).into(),
    };
    uut.tick();
    uut.write.next = false;
}

#[test]
fn every_cycle_a_lookup_finds_exactly_what_the_driver_wrote() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let mut slots: HashMap<(usize, usize), u64> = HashMap::new();
    let mut regions: HashMap<u64, u64> = HashMap::new();
    for _ in 0..300 {
        let (way, stag_index, region) = (
            random.below(HASH_WAYS as u64) as usize,
            random.below(1 << 24),
            random.below(1024),
        );
        let slot = (way, hash_slot(hash_of(stag_index), way));
        if regions.contains_key(&stag_index) {
            continue;
        }
        // The former owner of the slot is gone, as after a replacement by the driver.
        if let Some(former) = slots.insert(slot, stag_index) {
            regions.remove(&former);
        }
        regions.insert(stag_index, region);
        write(&mut uut, way, stag_index, Some(region));
    }
    let known: Vec<u64> = regions.keys().copied().collect();
    let mut expected: VecDeque<Option<Option<u64>>> = vec![None; LATENCY].into();
    for _ in 0..1500 {
        let near = known[random.below(known.len() as u64) as usize];
        let stag_index = match random.below(4) {
            0 => random.below(1 << 24),
            1 => near ^ (1 << random.below(24)),
            _ => near,
        };
        uut.stag_index.next = stag_index.into();
        uut.hash.next = u64::from(hash_of(stag_index)).into();
        uut.settle();
        expected.push_back(Some(regions.get(&stag_index).copied()));
        if let Some(region) = expected.pop_front().expect("one lookup per cycle") {
            assert_eq!(uut.found.val(), region.is_some());
            assert_eq!(uut.region.val(), region.unwrap_or(0));
        }
        uut.tick();
    }
}

#[test]
fn cleared_slot_is_not_found() {
    for way in 0..HASH_WAYS {
        let mut uut = connected();
        write(&mut uut, way, 0xabcdef, Some(7));
        write(&mut uut, way, 0xabcdef, None);
        uut.stag_index.next = 0xabcdefu64.into();
        uut.hash.next = u64::from(hash_of(0xabcdef)).into();
        uut.ticks(LATENCY + 1);
        assert!(!uut.found.val(), "way {way}");
    }
}
