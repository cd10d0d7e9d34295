//! Words of the TCP header at every offset.
use super::super::*;
use crate::receive::front_end::testing::stored;
use rnic_hdl_tools::testkit::{simulate, Random};

fn words_are_found<const W: usize, const L: usize>() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(TcpHeader::<W, L>::default());
    // Every place a TCP header can begin at: 4 to 6 words, and an IP header of 5 to 15.
    for start in 9..=21 {
        let frame: Vec<u8> = (0..110).map(|_| random.bits() as u8).collect();
        uut.payload_start.next = (start as u64).into();
        for (control, data) in stored::<W>(&frame, &mut random) {
            uut.control.next = control;
            uut.data.next = data;
            uut.tick();
        }
        uut.control.next = FrameControl::default();
        uut.tick();
        let words = [
            (0, uut.word0.val()),
            (1, uut.word1.val()),
            (2, uut.word2.val()),
            (3, uut.word3.val()),
            (5, uut.word5.val()),
        ];
        for (number, word) in words {
            let octets = &frame[4 * (start + number) - 2..][..4];
            assert_eq!(word.to_u32().to_le_bytes(), octets, "{start} + {number}");
        }
    }
}

#[test]
fn finds_header_words_at_every_start() {
    words_are_found::<64, 2>();
    words_are_found::<128, 4>();
    words_are_found::<512, 16>();
}
