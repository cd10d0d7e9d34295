//! No page is owned twice or lost, in any order of allocation and release.
use super::*;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};
use std::collections::{HashSet, VecDeque};

fn connected() -> Simulation<PagePool> {
    simulate!(PagePool::default())
}

/// Allocates pages with odds `take` of 8 and releases chains with odds `give` of 8 for `cycles`
/// cycles, then releases everything; no page is ever owned twice or lost.
fn exercise(take: u64, give: u64, cycles: u64) {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let mut owned = HashSet::new();
    let mut chains: Vec<Vec<u64>> = Vec::new();
    let mut growing: Vec<u64> = Vec::new();
    let mut queues: [VecDeque<Vec<u64>>; 5] = Default::default();
    // Pages released to the pool and not allocated since.
    let mut returned = HashSet::new();
    let mut cycle = 0;
    loop {
        let draining = cycle >= cycles;
        uut.alloc_take.next = false;
        uut.link_write.next = false;
        if uut.alloc_valid.val() && !draining && random.chance(take, 8) {
            let page = uut.alloc_page.val().to_u64();
            uut.alloc_take.next = true;
            assert!(owned.insert(page), "page {page} twice");
            returned.remove(&page);
            if let Some(before) = growing.last() {
                uut.link_write.next = true;
                uut.link_page.next = (*before).into();
                uut.link_next.next = page.into();
            }
            growing.push(page);
        }
        if !growing.is_empty() && (draining || random.chance(1, 4)) {
            chains.push(std::mem::take(&mut growing));
        }
        if !chains.is_empty() && (draining || random.chance(give, 8)) {
            let chain = chains.swap_remove(random.below(chains.len() as u64) as usize);
            queues[random.below(5) as usize].push_back(chain);
        }
        let block = &mut *uut;
        let ports = [
            (
                &mut block.release0,
                &mut block.release0_valid,
                block.release0_ready.val(),
            ),
            (
                &mut block.release1,
                &mut block.release1_valid,
                block.release1_ready.val(),
            ),
            (
                &mut block.release2,
                &mut block.release2_valid,
                block.release2_ready.val(),
            ),
            (
                &mut block.release3,
                &mut block.release3_valid,
                block.release3_ready.val(),
            ),
            (
                &mut block.own_release,
                &mut block.own_release_valid,
                block.own_release_room.val(),
            ),
        ];
        for (number, ((chain, valid, ready), queue)) in
            ports.into_iter().zip(&mut queues).enumerate()
        {
            // The store's port has no ready: it is used only while there is space.
            valid.next = !queue.is_empty() && (ready || number < 4);
            if let Some(front) = queue.front() {
                chain.next.head_page = front[0].into();
                chain.next.tail_page = front[front.len() - 1].into();
                if ready {
                    for page in queue.pop_front().expect("a chain is there") {
                        owned.remove(&page);
                        returned.insert(page);
                    }
                }
            }
        }
        uut.tick();
        cycle += 1;
        let free = uut.free_pages.val().to_u64() as usize;
        assert!(free + owned.len() <= 512);
        // What is neither free nor owned is on its way back, or not yet handed out at first.
        if cycle > 520 {
            assert!(free + owned.len() + returned.len() >= 512, "pages lost");
        }
        if draining && owned.is_empty() && free == 512 {
            return;
        }
        assert!(cycle < cycles + 3000, "{free} pages free");
    }
}

#[test]
fn no_page_is_owned_twice_or_lost() {
    exercise(4, 2, 4000);
}

#[test]
fn an_empty_pool_allocates_released_pages() {
    exercise(8, 1, 4000);
}

#[test]
fn frees_every_page_under_load() {
    exercise(3, 8, 3000);
}

#[test]
fn allocates_in_one_cycle_and_frees_in_three() {
    let mut uut = connected();
    uut.wait_for(4000, |uut| uut.free_pages.val() == 512u64);
    uut.ticks(10);
    let mut pages: Vec<u64> = Vec::new();
    uut.alloc_take.next = true;
    for _ in 0..512 {
        assert!(uut.alloc_valid.val(), "after {} pages", pages.len());
        let page = uut.alloc_page.val();
        uut.link_write.next = !pages.is_empty();
        uut.link_page.next = pages.last().copied().unwrap_or(0).into();
        uut.link_next.next = page;
        pages.push(page.to_u64());
        uut.tick();
    }
    uut.alloc_take.next = false;
    uut.link_write.next = false;
    assert_eq!(uut.free_pages.val(), 0u64);
    uut.release2.next.head_page = pages[0].into();
    uut.release2.next.tail_page = pages[511].into();
    uut.pulse(|uut| &mut uut.release2_valid);
    uut.wait_for(3 * 512 + 8, |uut| uut.free_pages.val() == 512u64);
}
