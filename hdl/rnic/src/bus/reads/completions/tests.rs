//! A completion fits only where the one before ended, with what is missing.
use super::*;
use rnic_hdl_tools::testkit::{bits_of_words, lockstep, simulate, Random, Simulation};

const DEVICE_ID: u32 = 0x0318;

type Check = CompletionCheck<4, 4, 16>;

/// A header as sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    format: u32,
    poisoned: bool,
    length: u32,
    status: u32,
    byte_count: u32,
    requester: u32,
    tag: u32,
    lower: u32,
}

/// The first completion of the request for octets 5 to 300 of place 7: up to octet 127.
const FIRST: Sent = Sent {
    format: 0x4a,
    poisoned: false,
    length: 31,
    status: 0,
    byte_count: 296,
    requester: DEVICE_ID,
    tag: 7,
    lower: 5,
};
/// The second one, up to octet 255.
const SECOND: Sent = Sent {
    length: 32,
    byte_count: 173,
    lower: 0,
    ..FIRST
};
/// The last one: octets 256 to 300.
const THIRD: Sent = Sent {
    length: 12,
    byte_count: 45,
    ..SECOND
};

fn header(sent: Sent) -> Bits<128> {
    bits_of_words(&[
        sent.format << 24 | u32::from(sent.poisoned) << 14 | sent.length & 0x3ff,
        sent.status << 13 | sent.byte_count & 0xfff,
        sent.requester << 16 | sent.tag << 8 | sent.lower,
        0,
    ])
}

/// A check with that request open.
fn with_request() -> Simulation<Check> {
    let mut uut = simulate!(Check::default());
    uut.pulse(|uut| &mut uut.link_reset);
    uut.device_id.next = u64::from(DEVICE_ID).into();
    uut.issue_tag.next = 7u64.into();
    uut.span.next.first = 5u64.into();
    uut.span.next.last = 300u64.into();
    uut.pulse(|uut| &mut uut.issue);
    uut
}

/// Sends headers in packets of one beat, `gap` idle cycles between them; returns what was made of
/// each: accepted, fits, over, unexpected.
fn outcomes(uut: &mut Simulation<Check>, sent: &[Sent], gap: usize) -> Vec<[bool; 4]> {
    let mut found = Vec::new();
    let mut cycles: Vec<Option<Sent>> = Vec::new();
    for one in sent {
        cycles.push(Some(*one));
        cycles.extend(vec![None; gap]);
    }
    cycles.extend([None; 4]);
    for one in cycles {
        if uut.checked_valid.val() {
            let checked = uut.checked.val();
            found.push([
                checked.accepted,
                checked.fits,
                checked.over,
                uut.unexpected.val(),
            ]);
        }
        uut.completion_valid.next = one.is_some();
        uut.completion_last.next = true;
        uut.completion_header.next = header(one.unwrap_or(FIRST));
        uut.tick();
    }
    found
}

const FITS: [bool; 4] = [true, true, false, false];
const ENDS: [bool; 4] = [true, true, true, false];
const MISFIT: [bool; 4] = [true, false, false, false];
const REFUSED: [bool; 4] = [true, false, true, false];
const UNEXPECTED: [bool; 4] = [false, false, false, true];

/// The first two flags of a completion for no open tag are of no use.
fn assert_made(found: &[[bool; 4]], expected: &[[bool; 4]], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        if *expected == UNEXPECTED {
            assert!(!found[0] && found[3], "{what}: {found:?}");
        } else {
            assert_eq!(found, expected, "{what}");
        }
    }
}

#[test]
fn what_is_due_fits_once_and_in_order() {
    for gap in 0..3 {
        let uut = &mut with_request();
        let made = outcomes(uut, &[FIRST, SECOND, THIRD, THIRD, FIRST], gap);
        assert_made(
            &made,
            &[FITS, FITS, ENDS, UNEXPECTED, UNEXPECTED],
            "in order",
        );
        // The tag is issued again.
        uut.pulse(|uut| &mut uut.issue);
        let made = outcomes(uut, &[SECOND, FIRST, FIRST, THIRD, SECOND, THIRD], gap);
        assert_made(
            &made,
            &[MISFIT, FITS, MISFIT, MISFIT, FITS, ENDS],
            "out of order",
        );
    }
}

/// One whole completion, and the least that a boundary permits.
#[test]
fn any_boundary_of_64_octets_may_end_a_completion() {
    let whole = Sent {
        length: 75,
        ..FIRST
    };
    assert_made(
        &outcomes(&mut with_request(), &[whole], 0),
        &[ENDS],
        "whole",
    );
    let mut pieces = vec![Sent {
        length: 15,
        ..FIRST
    }];
    for place in 1..5 {
        pieces.push(Sent {
            length: if place == 4 { 12 } else { 16 },
            byte_count: 301 - 64 * place,
            lower: (64 * place) & 0x7f,
            ..FIRST
        });
    }
    for gap in 0..3 {
        let made = outcomes(&mut with_request(), &pieces, gap);
        assert_made(&made, &[FITS, FITS, FITS, FITS, ENDS], "pieces");
    }
}

#[test]
fn a_completion_that_differs_in_one_field_does_not_fit() {
    let misfits = [
        (
            "length",
            Sent {
                length: 30,
                ..FIRST
            },
        ),
        (
            "length",
            Sent {
                length: 32,
                ..FIRST
            },
        ),
        ("length 0", Sent { length: 0, ..FIRST }),
        (
            "a doubleword too many",
            Sent {
                length: 76,
                ..FIRST
            },
        ),
        (
            "to the place's end",
            Sent {
                length: 127,
                ..FIRST
            },
        ),
        (
            "round the place",
            Sent {
                length: 128 + 31,
                ..FIRST
            },
        ),
        (
            "byte count",
            Sent {
                byte_count: 297,
                ..FIRST
            },
        ),
        (
            "byte count 0",
            Sent {
                byte_count: 0,
                ..FIRST
            },
        ),
        (
            "byte count + 512",
            Sent {
                byte_count: 808,
                ..FIRST
            },
        ),
        (
            "byte count + 2048",
            Sent {
                byte_count: 2344,
                ..FIRST
            },
        ),
        ("lower address", Sent { lower: 4, ..FIRST }),
        (
            "lower address",
            Sent {
                lower: 0x45,
                ..FIRST
            },
        ),
        (
            "no data",
            Sent {
                format: 0x0a,
                length: 0,
                ..FIRST
            },
        ),
    ];
    for (what, misfit) in misfits {
        for gap in 0..2 {
            let made = outcomes(&mut with_request(), &[misfit, FIRST, SECOND, THIRD], gap);
            assert_made(&made, &[MISFIT, FITS, FITS, ENDS], what);
        }
    }
}

#[test]
fn a_status_that_is_not_successful_ends_the_request() {
    for status in 1..8 {
        let format = if status == 1 { 0x4a } else { 0x0a };
        let refusal = Sent {
            status,
            format,
            ..SECOND
        };
        for gap in 0..2 {
            let made = outcomes(&mut with_request(), &[FIRST, refusal, SECOND], gap);
            assert_made(&made, &[FITS, REFUSED, UNEXPECTED], "refused");
        }
    }
}

#[test]
fn completions_for_nobody_are_unexpected_and_other_packets_are_ignored() {
    for alien in [
        Sent { tag: 8, ..FIRST },
        Sent { tag: 0x17, ..FIRST },
        Sent { tag: 0x87, ..FIRST },
        Sent {
            requester: DEVICE_ID ^ 0x100,
            ..FIRST
        },
    ] {
        let made = outcomes(&mut with_request(), &[alien, FIRST], 0);
        assert_made(&made, &[UNEXPECTED, FITS], "alien");
    }
    for format in [0x00, 0x20, 0x40, 0x60, 0x4b, 0x0b, 0x30, 0x74, 0x44] {
        let other = Sent { format, ..FIRST };
        let made = outcomes(&mut with_request(), &[other, FIRST], 0);
        assert!(!made[0][0] && !made[0][3], "{format:#x}");
        assert_eq!(made[1], FITS, "{format:#x}");
    }
}

/// Headers near those that are due, so that many fit.
fn random_header(random: &mut Random) -> Bits<128> {
    let mut sent = [FIRST, SECOND, THIRD, THIRD][random.below(4) as usize];
    match random.below(16) {
        0 => sent.length = random.below(1024) as u32,
        1 => sent.byte_count ^= 1 << random.below(12),
        2 => sent.lower ^= 1 << random.below(7),
        3 => sent.tag ^= 1 << random.below(8),
        4 => sent.status = random.below(8) as u32,
        5 => sent.format = [0x0a, 0x4b, 0x40][random.below(3) as usize],
        6 => sent.poisoned = true,
        7 => sent.requester ^= 1 << random.below(16),
        _ => {}
    }
    header(sent)
}

#[test]
fn lockstep_with_verilog() {
    let mut fitting = 0;
    lockstep!("completion_check", Check::default(), 8000, |uut, random| {
        uut.link_reset.next = random.chance(1, 1000);
        uut.device_id.next = u64::from(DEVICE_ID).into();
        uut.completion_header.next = random_header(random);
        uut.completion_keep.next = random.wide();
        uut.completion_last.next = random.chance(5, 6);
        uut.completion_valid.next = random.chance(7, 8);
        uut.issue.next = random.chance(1, 16);
        uut.issue_tag.next = (7 ^ (u64::from(random.chance(1, 8)) << random.below(4))).into();
        uut.span.next.first = 5u64.into();
        uut.span.next.last = (300 - 100 * u64::from(random.chance(1, 8))).into();
        fitting += usize::from(uut.checked_valid.val() && uut.checked.val().fits);
    });
    assert!(fitting > 300, "{fitting} fit");
}
