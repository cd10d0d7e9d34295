//! Every error of layers 0 to 2, octet by octet.
use super::*;
use rnic_wire::ddp::errors::{Cause, DDP_TABLE, MPA_TABLE, RDMAP_BOUNDS, RDMAP_STAG, RDMAP_TABLE};

const TAGGED: [u8; 14] = [0xc1, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const UNTAGGED: [u8; 18] = [0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0];
const REQUEST: [u8; 28] = [7; 28];

/// RDMAP-016, RDMAP-017, RDMAP-018, RDMAP-019, RDMAP-022, DDP-045, DDP-046: each row of the three
/// tables with a tagged and an untagged segment, one of a Read Request, and none.
#[test]
fn every_error_has_the_headers_it_must_carry() {
    let tagged = Refused::new(46, &TAGGED).expect("14 octets");
    let untagged = Refused::new(0xfd00, &UNTAGGED).expect("18 octets");
    let request = untagged.with_read_request(&REQUEST);
    let mut rows = 0;
    for &(cause, name) in [RDMAP_TABLE, DDP_TABLE, MPA_TABLE].into_iter().flatten() {
        rows += 1;
        let head = [cause.layer << 4 | cause.error_type, cause.code];
        let alone = [head[0], head[1], 0, 0];
        assert_eq!(payload(cause, None).as_slice(), alone, "{name}");
        let type_0 = cause.error_type == 0;
        let catastrophic =
            cause.layer == 0 && cause.error_type == 2 && [7, 8].contains(&cause.code);
        if cause.layer == 2 || type_0 || catastrophic {
            for refused in [&tagged, &untagged, &request] {
                assert_eq!(payload(cause, Some(refused)).as_slice(), alone, "{name}");
            }
            continue;
        }
        let with = |flags: u8, length: [u8; 2], headers: &[&[u8]]| {
            let mut octets = vec![head[0], head[1], flags, 0, length[0], length[1]];
            octets.extend(headers.concat());
            octets
        };
        let want = with(0xc0, [0, 46], &[&TAGGED]);
        assert_eq!(payload(cause, Some(&tagged)).as_slice(), want, "{name}");
        let want = with(0xc0, [0xfd, 0], &[&UNTAGGED]);
        assert_eq!(payload(cause, Some(&untagged)).as_slice(), want, "{name}");
        let want = match cause.layer {
            0 => with(0xe0, [0xfd, 0], &[&UNTAGGED, &REQUEST]),
            _ => want,
        };
        assert_eq!(payload(cause, Some(&request)).as_slice(), want, "{name}");
    }
    assert_eq!(rows, 33);
}

#[test]
fn only_whole_headers_are_reported() {
    for octets in 0..=20 {
        let untagged = Refused::new(1, &[0x41; 20][..octets]);
        let tagged = Refused::new(1, &[0xc1; 20][..octets]);
        assert_eq!(
            (untagged.is_some(), tagged.is_some()),
            (octets == 18, octets == 14)
        );
    }
}

/// RDMAP-020: a received Terminate is reported with its fields; whatever its octets are, nothing
/// panics.
#[test]
fn a_received_terminate_is_read() {
    let request = Refused::new(46, &UNTAGGED).expect("18 octets");
    let request = request.with_read_request(&REQUEST);
    let sent = payload(RDMAP_BOUNDS, Some(&request));
    let found = Received::new(sent.as_slice());
    assert_eq!((found.cause, found.read_msn), (Some(RDMAP_BOUNDS), Some(9)));
    assert_eq!(found.octets.as_slice(), sent.as_slice());
    let tagged = Refused::new(46, &TAGGED).expect("14 octets");
    let found = Received::new(payload(RDMAP_STAG, Some(&tagged)).as_slice());
    assert_eq!((found.cause, found.read_msn), (Some(RDMAP_STAG), None));
    for octets in 0..=sent.as_slice().len() {
        let found = Received::new(&sent.as_slice()[..octets]);
        assert_eq!(found.cause.is_some(), octets >= 4);
        assert_eq!(found.read_msn.is_some(), octets == 52);
    }
    for first in 0..=255 {
        for flags in 0..=255 {
            for octets in [4, 5, 6, 7, 19, 20, 24, 48, 52, 60] {
                let mut payload = vec![0xff; octets];
                (payload[0], payload[2]) = (first, flags);
                let found = Received::new(&payload);
                let (layer, error_type) = match found.is_exchanged {
                    false => (first >> 4, first & 15),
                    true => (first & 15, first >> 4),
                };
                let cause = Cause {
                    layer,
                    error_type,
                    code: 0xff,
                };
                assert_eq!(found.cause, Some(cause));
                assert!(
                    !found.is_exchanged || flags & 0xe0 == 0,
                    "{first:#x} {flags:#x}"
                );
            }
        }
    }
}

/// RDMAP-016, RDMAP-020: what Linux' siw sends is reported as it means it. First octets as they
/// were seen on the wire (docs/live.md), then each error of the tables as siw would send it: none
/// is read as another one, and none of a peer that keeps to RFC 5040 is touched.
#[test]
fn layer_and_type_may_come_exchanged() {
    let read = |octets: &[u8]| {
        let found = Received::new(octets);
        (
            found.cause.and_then(|cause| cause.name()),
            found.is_exchanged,
            found.read_msn,
        )
    };
    let of_a_read = [&[0x10, 0, 7, 0, 0, 0][..], &UNTAGGED, &REQUEST].concat();
    assert_eq!(read(&of_a_read), (Some("invalid STag"), true, None));
    assert_eq!(read(&[0x10, 1, 7, 0]), (Some("base or bounds"), true, None));
    assert_eq!(
        read(&[0x21, 2, 3, 0]),
        (Some("no buffer for the MSN"), true, None)
    );
    assert_eq!(
        read(&[0x11, 1, 3, 0]),
        (Some("base or bounds"), false, None)
    );
    assert_eq!(
        read(&[0x02, 2, 0, 0]),
        (Some("CRC32C mismatch"), true, None)
    );
    // Of RDMAP's and DDP's own these have the same octets: without M, D and R they are taken as
    // RFC 5040 has them.
    assert_eq!(
        read(&[0x10, 0, 0, 0]),
        (Some("local catastrophic"), false, None)
    );
    for &(cause, name) in [RDMAP_TABLE, DDP_TABLE, MPA_TABLE].into_iter().flatten() {
        let (layer, error_type) = (cause.layer, cause.error_type);
        let right = [layer << 4 | error_type, cause.code];
        let swapped = [error_type << 4 | layer, cause.code];
        for flags in [0, 0x40, 0xc0, 0xe0] {
            assert!(!read(&[right[0], right[1], flags, 0]).1, "{name}");
        }
        for flags in [1, 3, 7] {
            let found = Received::new(&[swapped[0], swapped[1], flags, 0]);
            assert_eq!(found.cause, Some(cause), "{name}");
            assert_eq!(found.is_exchanged, layer != error_type, "{name}");
        }
    }
    let text = Received::new(&[0x21, 2, 3, 0]).to_string();
    assert!(
        text.ends_with("no buffer for the MSN (it has layer and type exchanged)"),
        "{text}"
    );
}
