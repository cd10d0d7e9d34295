//! Messages as they are made.
use super::place;
use crate::stream::{rounded, Item, Message, TooMuch, ITEMS_MAX};

#[test]
fn octets_are_rounded_up_to_words() {
    let expected = [(0, 0), (1, 4), (3, 4), (4, 4), (5, 8), (u32::MAX, 1 << 32)];
    for (octets, with_roundup) in expected {
        assert_eq!(rounded(octets), with_roundup);
    }
}

/// RPC-008: positions count every item before, with its roundup, and every inline octet.
#[test]
fn positions_are_those_of_the_unreduced_stream() -> Result<(), TooMuch> {
    let mut message = Message::new();
    message.u32(0x0102_0304);
    message.u64(0x0506_0708_090a_0b0c);
    message.item(place(100, 5))?;
    message.opaque(b"abc")?;
    message.fixed(b"defgh");
    message.item(place(200, 0))?;
    message.item(place(300, 8))?;
    let inline =
        b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\0\0\0\x05\0\0\0\x03abc\0defgh\0\0\0\
        \0\0\0\0\0\0\0\x08";
    assert_eq!(message.inline(), inline);
    let items = [
        Item {
            position: 16,
            place: place(100, 5),
        },
        Item {
            position: 44,
            place: place(200, 0),
        },
        Item {
            position: 48,
            place: place(300, 8),
        },
    ];
    assert_eq!(message.items(), items);
    assert_eq!(message.octets(), 56);
    message.clear();
    assert_eq!(message, Message::new());
    Ok(())
}

/// What a threshold has to be above.
#[test]
fn the_longest_inline_opaque_is_known() -> Result<(), TooMuch> {
    let mut message = Message::new();
    message.fixed(&[0; 3]);
    assert_eq!(message.opaque_octets_max(), 0);
    message.fixed(&[0; 9]);
    assert_eq!(message.opaque_octets_max(), 5);
    message.opaque(&[0; 6])?;
    assert_eq!(message.opaque_octets_max(), 6);
    message.opaque(&[0; 4])?;
    message.item(place(0, 100))?;
    assert_eq!(message.opaque_octets_max(), 6);
    message.clear();
    assert_eq!(message.opaque_octets_max(), 0);
    Ok(())
}

#[test]
fn items_and_octets_have_limits() -> Result<(), TooMuch> {
    let mut message = Message::new();
    for _ in 0..ITEMS_MAX {
        message.item(place(0, 1))?;
    }
    let before = message.clone();
    assert_eq!(message.item(place(0, 1)), Err(TooMuch));
    assert_eq!(message, before, "what failed left nothing");
    assert!(TooMuch.to_string().contains("64 items"));

    // 4 octets of count, and an item up to the last position.
    let mut message = Message::new();
    assert_eq!(message.item(place(0, u32::MAX - 3)), Err(TooMuch));
    assert_eq!(message.item(place(0, u32::MAX)), Err(TooMuch));
    message.item(place(0, u32::MAX - 7))?;
    assert_eq!(message.octets(), (1 << 32) - 4);
    assert_eq!(message.item(place(0, 0)), Err(TooMuch));
    Ok(())
}
