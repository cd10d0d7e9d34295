//! The packet store against frames, pages and verdicts in plain Rust.
use super::*;
use crate::messages::FrameVerdict;
use rnic_hdl_tools::testkit::{bits_of, octets_of, simulate, Random};
use std::collections::{HashMap, VecDeque};

/// A frame as the test knows it.
#[derive(Default)]
struct Sent {
    octets: Vec<u8>,
    pages: Vec<u64>,
    dropped: bool,
}

/// What the store wrote.
#[derive(Default)]
struct Written {
    words: HashMap<(u64, u64), Vec<u8>>,
    next: HashMap<u64, u64>,
    jump: HashMap<u64, u64>,
}

impl Written {
    /// What the store writes in this cycle.
    fn note<const W: usize, const D: usize, const B: usize>(&mut self, uut: &PacketStore<W, D, B>) {
        if uut.memory_write.val() {
            let page = uut.memory_page.val().to_u64();
            let word = octets_of(uut.memory_data.val());
            self.words
                .insert((page, uut.memory_word.val().to_u64()), word);
        }
        let next = uut.link_next.val().to_u64();
        if uut.link_write.val() {
            self.next.insert(uut.link_page.val().to_u64(), next);
        }
        if uut.jump_write.val() {
            self.jump.insert(uut.jump_page.val().to_u64(), next);
        }
    }

    fn chain(&self, head: u64, tail: u64) -> Vec<u64> {
        let mut pages = vec![head];
        while pages[pages.len() - 1] != tail {
            pages.push(self.next[&pages[pages.len() - 1]]);
        }
        pages
    }

    /// Pages, octets and links of a stored frame equal those sent.
    fn check(&self, head: u64, tail: u64, sent: &Sent, word_octets: usize) {
        let pages = self.chain(head, tail);
        assert_eq!(pages, sent.pages);
        let words = 256 / word_octets;
        for (i, octets) in sent.octets.chunks(word_octets).enumerate() {
            let word = &self.words[&(pages[i / words], (i % words) as u64)];
            assert_eq!(&word[..octets.len()], octets, "word {i}");
        }
        for eight_on in 8..pages.len() {
            assert_eq!(self.jump[&pages[eight_on - 8]], pages[eight_on]);
        }
    }
}

/// Frames against a pool that offers a page with odds `offer` of 16. Every page taken is in one
/// stored frame or refused chain.
fn exercise<const W: usize, const D: usize, const B: usize>(offer: u64, cycles: u64) -> [u64; 3] {
    let mut random = Random::from_environment();
    let mut uut = simulate!(PacketStore::<W, D, B>::default());
    let mut written = Written::default();
    let (mut sending, mut position) = (Sent::default(), 0);
    let mut ended: Option<(Sent, u64)> = None;
    let mut judged: Option<Sent> = None;
    let mut stored: VecDeque<Sent> = VecDeque::new();
    // A page is offered again only long after its release.
    let mut free: VecDeque<u64> = (0..512).collect();
    let [mut kept, mut refused, mut counted] = [0; 3];
    let mut offered = false;
    for _ in 0..cycles {
        // What the store said about the frame of the cycle before.
        if let Some(frame) = judged.take() {
            let lost = uut.count_no_page.val();
            assert!(!(lost && frame.dropped));
            counted += u64::from(lost);
            if lost || frame.dropped {
                assert_eq!(uut.refused_valid.val(), !frame.pages.is_empty());
                if uut.refused_valid.val() {
                    let chain = uut.refused.val();
                    let (head, tail) = (chain.head_page.to_u64(), chain.tail_page.to_u64());
                    assert_eq!(written.chain(head, tail), frame.pages);
                    free.extend(&frame.pages);
                    refused += 1;
                }
            } else {
                assert!(!uut.refused_valid.val());
                stored.push_back(frame);
            }
        } else {
            assert!(!uut.refused_valid.val() && !uut.count_no_page.val());
        }
        uut.stored_ready.next = random.chance(1, 6);
        if uut.stored_valid.val() && uut.stored_ready.next {
            let sent = stored.pop_front().expect("a frame that was kept");
            let chain = uut.stored.val().pages;
            let (head, tail) = (chain.head_page.to_u64(), chain.tail_page.to_u64());
            written.check(head, tail, &sent, D / 8);
            free.extend(&sent.pages);
            kept += 1;
        }
        // The next beat, and the pool.
        offered = !free.is_empty() && (offered || random.chance(offer, 16));
        uut.alloc_valid.next = offered;
        uut.alloc_page.next = free.front().copied().unwrap_or(0).into();
        uut.release_room.next = random.chance(15, 16);
        if sending.octets.is_empty() {
            let limit = if random.chance(1, 2) { 100 } else { 3000 };
            let length = 1 + random.below(limit);
            sending.octets = (0..length).map(|_| random.bits() as u8).collect();
            position = 0;
        }
        let end = (position + W / 8).min(sending.octets.len());
        let last = end == sending.octets.len();
        let beat = random.chance(7, 8) && !(last && ended.is_some());
        uut.store_valid.next = beat;
        uut.store_last.next = last;
        uut.store_data.next = bits_of(&sending.octets[position..end]);
        // The verdict on the frame before.
        uut.frame_info_valid.next = false;
        if let Some((mut frame, delay)) = ended.take() {
            if delay > 0 {
                ended = Some((frame, delay - 1));
            } else {
                frame.dropped = random.chance(1, 4);
                uut.frame_info_valid.next = true;
                let verdict = if frame.dropped {
                    FrameVerdict::Drop
                } else {
                    FrameVerdict::Host
                };
                uut.frame_info.next.segment.verdict = verdict;
                judged = Some(frame);
            }
        }
        uut.settle();
        if uut.alloc_take.val() {
            assert!(offered && beat);
            sending.pages.extend(free.pop_front());
            offered = false;
        }
        if beat {
            position = end;
            if last {
                ended = Some((std::mem::take(&mut sending), random.below(5)));
            }
        }
        uut.tick();
        written.note(&uut);
    }
    [kept, refused, counted]
}

#[test]
fn each_page_is_in_one_frame_or_refused_chain() {
    let [kept, refused, counted] = exercise::<64, 128, 4>(12, 12_000);
    assert!(kept > 20 && refused > 5, "{kept} {refused} {counted}");
    let [kept, refused, counted] = exercise::<128, 128, 4>(6, 12_000);
    assert!(
        kept > 20 && refused > 5 && counted > 5,
        "{kept} {refused} {counted}"
    );
    let [kept, refused, counted] = exercise::<512, 512, 2>(8, 6000);
    assert!(
        kept > 20 && refused > 5 && counted > 5,
        "{kept} {refused} {counted}"
    );
}
