//! What an initiator makes of the enhanced data in a Reply.
use super::*;
use rnic_wire::ddp::errors::{MPA_READ_RESOURCES, MPA_RTR};

fn enhanced(a: bool, kinds: u8, ird: u16, ord: u16) -> Vec<u8> {
    let first = u16::from(a) << 15 | u16::from(kinds & 1) << 14 | ird;
    let second = u16::from(kinds >> 1) << 14 | ord;
    let data = [first.to_be_bytes(), second.to_be_bytes()].concat();
    reply(0x50, 2, &data)
}

/// MPA2-004, MPA2-009: an initiator lowers its ORD to the responder's IRD, holds no more than the
/// responder's ORD, and ends the stream of one that reads deeper than offered.
#[test]
fn depths_follow_the_reply() {
    let settings = Settings {
        ird: 4,
        ord: 8,
        ..Settings::default()
    };
    for ird in [0, 1, 2, 7, 8, 9, 0x3ffe, 0x3fff] {
        for ord in [0, 1, 3, 4, 5, 0x3ffe, 0x3fff] {
            let deep = ord > 4 && ord != 0x3fff;
            let found = match initiator_after(settings, &enhanced(false, 0, ird, ord)) {
                Some(InitiatorOutput::Agreed(agreed)) if !deep => agreed,
                Some(InitiatorOutput::Terminate { agreed, cause }) if deep => {
                    assert_eq!(cause, MPA_READ_RESOURCES);
                    agreed
                }
                other => panic!("{other:?}"),
            };
            assert_eq!((found.ird, found.ord), (ord.min(4), ird.min(8)));
        }
    }
}

/// MPA2-005, MPA2-008, MPA2-009: what each Reply to each offer selects: one that was offered, or a
/// Terminate with 0x07; flags without A select nothing.
#[test]
fn an_rtr_is_one_that_was_offered() {
    for offered in 1..8u8 {
        let rtr = RtrKinds {
            fpdu: offered & 1 != 0,
            read: offered & 2 != 0,
            write: offered & 4 != 0,
        };
        let settings = Settings {
            peer_to_peer: true,
            rtr,
            ..Settings::default()
        };
        for selected in 0..8 {
            for (a, ird) in [(false, 4), (true, 4), (true, 0)] {
                let found = initiator_after(settings, &enhanced(a, selected, ird, 4));
                let common = offered & selected & if ird == 0 { 5 } else { 7 };
                let want = match common {
                    0 => None,
                    common if common & 4 != 0 => Some(Rtr::Write),
                    common if common & 1 != 0 => Some(Rtr::Fpdu),
                    _ => Some(Rtr::Read),
                };
                let want = want.filter(|_| a);
                match found {
                    Some(InitiatorOutput::Agreed(found)) => assert_eq!(found.rtr, want),
                    Some(InitiatorOutput::Terminate { cause, .. }) => {
                        assert_eq!((want, cause), (None, MPA_RTR));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    let error = initiator_error(Settings::default(), &enhanced(true, 4, 4, 4));
    assert_eq!(error, StartupError::PeerToPeerUnasked);
    assert_eq!(error.octet(), Some(20));
}
