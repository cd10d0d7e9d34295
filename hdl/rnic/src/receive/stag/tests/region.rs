//! Region check every cycle, around the bounds of random regions.
use super::super::*;
use rnic_abi::tables::RIGHT_STREAM_BOUND;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};
use std::collections::VecDeque;

/// A region and a segment to check, in plain integers.
#[derive(Clone, Copy, Debug)]
struct Question {
    region: u64,
    found: bool,
    key: u64,
    to: u64,
    length: u64,
    pd: u64,
    connection: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    valid: bool,
    rights: u64,
    key: u64,
    pd: u64,
    connection: u64,
    base: u64,
    octets: u64,
    bus_offset: u64,
}

fn stored(random: &mut Random) -> Stored {
    let base = match random.below(4) {
        0 => random.below(100),
        1 => u64::MAX - random.below(100),
        2 => (random.below(3) << 32).wrapping_sub(random.below(3)),
        _ => random.bits(),
    };
    let octets = if random.chance(1, 4) {
        random.below(1 << 48)
    } else {
        random.below(80)
    };
    Stored {
        valid: !random.chance(1, 6),
        rights: random.below(32),
        key: random.below(2),
        pd: 0x8000 + random.below(2),
        connection: 0x200 + random.below(2),
        base,
        octets,
        bus_offset: random.bits(),
    }
}

/// A segment with ends near those of the region.
fn question(random: &mut Random, regions: &[Stored]) -> Question {
    let region = random.below(regions.len() as u64);
    let stored = regions[region as usize];
    let end = stored.base.wrapping_add(stored.octets);
    let anchor = if random.chance(1, 2) {
        stored.base
    } else {
        end
    };
    Question {
        region,
        found: !random.chance(1, 8),
        key: random.below(2),
        to: anchor
            .wrapping_add(random.below(7))
            .wrapping_sub(random.below(60)),
        length: random.below(70),
        pd: 0x8000 + random.below(2),
        connection: 0x200 + random.below(2),
    }
}

/// unknown, foreign, address; outside where the segment does not wrap.
fn expected(question: &Question, stored: &Stored) -> (bool, bool, u64, Option<bool>) {
    let bound = stored.rights & u64::from(RIGHT_STREAM_BOUND) != 0;
    let foreign = stored.pd != question.pd || (bound && stored.connection != question.connection);
    let (base, to) = (u128::from(stored.base), u128::from(question.to));
    let to_end = to + u128::from(question.length);
    let outside = to < base || to_end > base + u128::from(stored.octets);
    (
        !question.found || !stored.valid || stored.key != question.key,
        foreign,
        question.to.wrapping_add(stored.bus_offset),
        (to_end < 1 << 64).then_some(outside),
    )
}

fn write(uut: &mut Simulation<RegionCheck>, region: u64, stored: &Stored) {
    uut.write.next = true;
    uut.write_region.next = region.into();
    uut.write_valid.next = stored.valid;
    uut.write_entry.next = RegionEntry {
        rights: stored.rights.into(),
        stag_key: stored.key.into(),
        pd: stored.pd.into(),
        connection: stored.connection.into(),
        base: stored.base.into(),
        octets: stored.octets.into(),
        bus_offset: stored.bus_offset.into(),
    };
    uut.tick();
    uut.write.next = false;
}

fn ask(uut: &mut RegionCheck, question: &Question) {
    uut.found.next = question.found;
    uut.stag_key.next = question.key.into();
    uut.to.next = question.to.into();
    uut.to_end.next = question.to.wrapping_add(question.length).into();
    uut.pd.next = question.pd.into();
    uut.connection.next = question.connection.into();
}

#[test]
fn every_cycle_a_check_is_exact_to_the_octet() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(RegionCheck::default());
    let regions: Vec<Stored> = (0..16).map(|_| stored(&mut random)).collect();
    for (region, stored) in regions.iter().enumerate() {
        write(&mut uut, region as u64, stored);
    }
    // The last five segments; the newest enters with its region alone.
    let mut asked: VecDeque<Question> = VecDeque::new();
    let (mut outsides, mut insides) = (0, 0);
    for _ in 0..3000 {
        asked.push_front(question(&mut random, &regions));
        uut.region.next = asked[0].region.into();
        if asked.len() > 2 {
            ask(&mut uut, &asked[2]);
        }
        uut.settle();
        if asked.len() > 4 {
            let at = |age: usize| expected(&asked[age], &regions[asked[age].region as usize]);
            let (unknown, foreign, address, _) = at(3);
            assert_eq!(uut.unknown.val(), unknown);
            assert_eq!(uut.foreign.val(), foreign);
            assert_eq!(uut.bus_address.val(), address);
            assert_eq!(uut.rights.val(), regions[asked[3].region as usize].rights);
            if let Some(outside) = at(4).3 {
                assert_eq!(uut.outside.val(), outside, "{:?}", asked[4]);
                outsides += u32::from(outside);
                insides += u32::from(!outside);
            }
        }
        asked.truncate(5);
        uut.tick();
    }
    assert!(
        outsides > 300 && insides > 300,
        "{outsides} outside, {insides} inside"
    );
}

#[test]
fn invalidated_region_is_unknown_and_keeps_its_other_words() {
    let mut uut = simulate!(RegionCheck::default());
    let region = Stored {
        valid: true,
        key: 9,
        base: 77,
        ..Stored::default()
    };
    write(&mut uut, 1023, &region);
    uut.invalidate.next = true;
    uut.invalidate_region.next = 1023u64.into();
    uut.tick();
    uut.invalidate.next = false;
    uut.region.next = 1023u64.into();
    uut.found.next = true;
    uut.stag_key.next = 9u64.into();
    uut.ticks(3);
    assert!(uut.unknown.val() && !uut.entry_valid.val());
    assert_eq!(uut.entry.val().base, 77u64);
}
