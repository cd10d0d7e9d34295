//! The whole room.

#[test]
fn the_room_is_emitted_at_every_width() {
    for width in [64, 128, 512] {
        let text = super::verilog(width).unwrap_or_else(|error| panic!("{width}: {error}"));
        std::fs::write(format!("/tmp/h-tx-transmit-{width}.v"), &text).expect("file");
        assert!(text.contains("module transmit("), "{width}");
    }
}
