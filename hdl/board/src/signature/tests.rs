//! Signatures against another CRC32C, over random TLPs of one to four beats.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

/// Waits until the beat that is offered is taken; returns whether the unit made it wait.
fn taken(uut: &mut Simulation<Signature>) -> bool {
    uut.settle();
    let waited = !uut.ready.val();
    uut.wait_for(20, |uut| uut.ready.val());
    uut.tick();
    waited
}

/// A random header: of a write or of a completion with data, of three or four doublewords.
fn header(random: &mut Random) -> [u32; 4] {
    let first = [
        0x4000_0001,
        0x6000_0001,
        0x4a00_0001,
        0x0000_0001,
        0x2000_0001,
    ];
    let mut header = [0; 4].map(|_: u32| random.below(1 << 32) as u32);
    header[0] = first[random.below(5) as usize];
    header
}

fn wide(dwords: [u32; 4]) -> Bits<128> {
    let low = |dword: u32| Bits::<128>::from(u64::from(dword));
    dwords
        .into_iter()
        .rev()
        .fold(Bits::<128>::default(), |sum, dword| {
            (sum << 32) | low(dword)
        })
}

#[test]
fn it_is_the_crc32c_of_the_doublewords_that_count() {
    let mut uut = simulate!(Signature::default());
    let mut random = Random::from_environment();
    uut.pulse(|uut| &mut uut.clear);
    let (mut octets, mut answer, mut waits) = (vec![], None, 0);
    for number in 1..=200u64 {
        let header = header(&mut random);
        let beats = 1 + random.below(4);
        let length = if header[0] & FOUR_DWORDS == 0 { 3 } else { 4 };
        octets.extend(
            header[..length]
                .iter()
                .flat_map(|dword| dword.to_le_bytes()),
        );
        for beat in 0..beats {
            let data = [0; 4].map(|_: u32| random.below(1 << 32) as u32);
            let kept = random.below(5) as usize;
            octets.extend(data[..kept].iter().flat_map(|dword| dword.to_le_bytes()));
            if beat == 0 && header[0] == 0x4a00_0001 {
                answer = Some(data[0]);
            }
            uut.header.next = wide(header);
            uut.data.next = wide(data);
            uut.keep.next = ((1u64 << kept) - 1).into();
            uut.last.next = beat + 1 == beats;
            uut.valid.next = true;
            waits += u64::from(taken(&mut uut));
            uut.valid.next = false;
        }
        uut.ticks(10);
        assert_eq!(uut.signature.val(), u64::from(crc32c::crc32c(&octets)));
        assert_eq!(uut.count.val(), number);
    }
    assert!(waits > 0, "beats follow each other, so some must wait");
    let answer = answer.expect("a fifth of them are completions");
    assert_eq!(uut.answer.val(), u64::from(answer));
}

#[test]
fn lockstep_with_verilog() {
    lockstep!(
        "signature_unit",
        Signature::default(),
        4000,
        |uut, random| {
            uut.clear.next = random.chance(1, 200);
            uut.header.next = random.wide();
            uut.data.next = random.wide();
            uut.keep.next = ((1u64 << random.below(5)) - 1).into();
            uut.last.next = random.chance(1, 2);
            uut.valid.next = random.chance(1, 2);
        }
    );
}
