//! Walks along the longest frame: every page found in time.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};

/// Offers the link to page `index` of a frame, and the jump to it if there is one.
fn link(uut: &mut PageWalk, frame: &[u64], index: usize) {
    uut.link_write.next = true;
    uut.link_page.next = frame[index - 1].into();
    uut.link_next.next = frame[index].into();
    uut.jump_write.next = index >= 8;
    uut.jump_page.next = frame[index.saturating_sub(8)].into();
}

/// `count` different pages in random order.
fn random_frame(count: usize, random: &mut Random) -> Vec<u64> {
    let mut pages: Vec<u64> = (0..512).collect();
    let pick = |_| pages.swap_remove(random.below(pages.len() as u64) as usize);
    (0..count).map(pick).collect()
}

fn links_to_follow(pages: usize) -> usize {
    let jumps = (pages - 1) / 8;
    jumps + pages - 8 * jumps
}

#[test]
fn every_page_of_the_longest_frame_is_found_in_time() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(PageWalk::default());
    let frame = random_frame(37, &mut random);
    for index in 1..frame.len() {
        link(&mut uut, &frame, index);
        uut.tick();
    }
    (uut.link_write.next, uut.jump_write.next) = (false, false);
    for first in 0..frame.len() {
        for pages in 1..frame.len() - first {
            uut.first_page.next = frame[first].into();
            uut.pages.next = (pages as u64).into();
            uut.pulse(|uut| &mut uut.start);
            uut.first_page.next = random.wide();
            let cycles = uut.wait_for(100, |uut| uut.done.val());
            let links = links_to_follow(pages);
            assert_eq!(cycles, 2 * links as u64, "{pages} pages from {first}");
            let found = (uut.page.val().to_u64(), uut.page_before.val().to_u64());
            let expected = (frame[first + pages], frame[first + pages - 1]);
            assert_eq!(found, expected, "{pages} pages from {first}");
        }
    }
}

/// Walks in one frame while another one is being stored.
#[test]
fn lockstep_with_verilog() {
    let (mut walked, mut stored) = (Vec::new(), Vec::new());
    let (mut linked, mut walks, mut expected) = (0, 0, None);
    lockstep!("page_walk", PageWalk::default(), 6000, |uut, random| {
        if uut.done.val() {
            if let Some(expected) = expected.take() {
                let found = (uut.page.val().to_u64(), uut.page_before.val().to_u64());
                assert_eq!(found, expected);
                walks += 1;
            }
        }
        (uut.link_write.next, uut.jump_write.next) = (false, false);
        uut.start.next = false;
        if linked + 1 < stored.len() {
            if random.chance(1, 2) {
                linked += 1;
                link(uut, &stored, linked);
            }
        } else if uut.done.val() {
            walked = std::mem::take(&mut stored);
            // Of 512 pages, none that is being walked.
            stored = random_frame(80, random);
            stored.retain(|page| !walked.contains(page));
            stored.truncate(37);
            linked = 0;
        }
        if uut.done.val() && walked.len() > 1 && random.chance(1, 2) {
            let first = random.below(walked.len() as u64 - 1) as usize;
            let pages = 1 + random.below((walked.len() - 1 - first) as u64) as usize;
            uut.first_page.next = walked[first].into();
            uut.pages.next = (pages as u64).into();
            uut.start.next = true;
            expected = Some((walked[first + pages], walked[first + pages - 1]));
        }
    });
    assert!(walks > 100, "{walks} walks");
}
