//! Headers in words.
use super::vectors::all;
use crate::wire::{Caps, Header};

const FIRST: &str = "0xaabbcc01:4096:0x10";
const LAST: &str = "0xaabbcc02:2048:0xfffffffffffff800";
const FILLED: &str = "0xaabbcc02:9:0xfffffffffffff800";

/// RPC-025, RPC-026: transaction, version, credits, type and every segment are in the line.
#[test]
fn a_line_has_every_field() {
    let cases = [
        ("3.1 short call", "MSG".to_owned()),
        (
            "3.8 call with write chunks",
            format!("MSG write {FIRST} {LAST}"),
        ),
        (
            "3.8 call with read chunks",
            format!("MSG read 96 {FIRST} read 96 0xaabbcc02:5:0x2010"),
        ),
        ("3.8 done", "DONE".to_owned()),
        (
            "4.1 call with chunk lists",
            format!("MSG read 96 {FIRST} write {LAST} reply 0x00000009:8:0x700000006"),
        ),
        ("3.9 padded call", "MSGP align 256 threshold 128".to_owned()),
        (
            "5.1 long call with an item",
            format!("NOMSG read 0 {FIRST} read 4096 {LAST}"),
        ),
        (
            "5.2 long reply by RDMA Write",
            format!("NOMSG reply {FIRST} {FILLED}"),
        ),
        ("5.2 empty write chunk", "MSG write".to_owned()),
        (
            "4.2 versions that are others",
            "ERROR versions 2 5".to_owned(),
        ),
        ("4.2 chunk error", "ERROR chunk".to_owned()),
        ("4.2 other error", "ERROR 9".to_owned()),
    ];
    let all = all();
    for (name, words) in cases {
        let (_, octets) = all
            .iter()
            .find(|vector| vector.0 == name)
            .expect("it is there");
        let header = Header::parse(octets, &Caps::default()).expect("a header");
        let expected = format!("xid 0x11223344 vers 1 credits 32 {words}");
        assert_eq!(header.to_string(), expected, "{name}");
    }
}
