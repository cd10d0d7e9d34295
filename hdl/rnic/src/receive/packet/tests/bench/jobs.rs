//! Jobs over the frames held, and released pages.
use super::{Bench, Job};
use crate::messages::*;
use crate::receive::packet::reader::FrameEntry;
use crate::receive::packet::Packet;
use rnic_hdl_tools::testkit::Random;

impl Bench {
    pub(super) fn jobs<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    >(
        &mut self,
        uut: &mut Packet<W, D, A, B, O, H>,
        random: &mut Random,
    ) {
        if self.planned.is_none() && !self.draining && random.chance(self.habits.job, 100) {
            self.planned = self.plan(random);
        }
        uut.frame_table_write.next = false;
        uut.frame_link_write.next = false;
        if let Some((before, entry, slot)) = self.tables.pop_front() {
            uut.frame_table_write.next = true;
            uut.frame_table_index.next = slot.into();
            uut.frame_table_data.next = entry;
            uut.frame_link_write.next = true;
            uut.frame_link_index.next = before.into();
            uut.frame_link_next.next = slot.into();
            uut.job_valid.next = false;
        } else if let Some(planned) = &self.planned {
            self.offered |= random.chance(80, 100);
            uut.job_valid.next = self.offered;
            uut.job.next = planned.job;
            if self.offered && uut.job_ready.val() {
                self.jobs.extend(self.planned.take());
                self.jobs_accepted += 1;
                self.offered = false;
            }
        } else {
            uut.job_valid.next = false;
        }
        uut.kill.next = random.chance(self.habits.kill, 1000);
        let tag = random.below(8);
        uut.kill_tag.next = tag.into();
        if uut.kill.next {
            for (i, job) in self.jobs.iter_mut().enumerate() {
                if (self.jobs_ended + i as u64) % 8 == tag {
                    job.may_be_cut = true;
                }
            }
        }
    }

    /// A job over one to four frames that no other job reads (a frame has one entry only).
    fn plan(&mut self, random: &mut Random) -> Option<Job> {
        let mut frames: Vec<usize> = (0..self.held.len())
            .filter(|i| self.held[*i].readers == 0)
            .collect();
        if frames.is_empty() {
            return None;
        }
        let count = 1 + random.below(4) as usize;
        let mut job = ReadJob {
            kind: random.wide(),
            connection: random.wide(),
            sequence: random.wide(),
            phase: random.wide(),
            markers: random.chance(1, 2),
            crc: random.chance(1, 2),
            ..Default::default()
        };
        let (mut expected, mut heads, mut before) = (Vec::new(), Vec::new(), 0);
        for number in 0..count.min(frames.len()) {
            let held =
                &mut self.held[frames.swap_remove(random.below(frames.len() as u64) as usize)];
            // A frame's last page, or a slot of the upper half.
            let slot = held.tail + 512 * random.below(2);
            let length = held.octets.len() as u64;
            let offset = random.below(length);
            let octets = 1 + match random.below(3) {
                0 => length - offset - 1,
                1 => random.below((length - offset).min(40)),
                _ => random.below(length - offset),
            };
            if number == 0 {
                job.head_page = held.head.into();
                job.slot = slot.into();
                job.offset = offset.into();
                job.run_octets = octets.into();
            } else {
                let entry = FrameEntry {
                    head_page: held.head.into(),
                    offset: offset.into(),
                    octets: octets.into(),
                };
                self.tables.push_back((before, entry, slot));
            }
            expected.extend(&held.octets[offset as usize..(offset + octets) as usize]);
            heads.push(held.head);
            before = slot;
            held.readers += 1;
        }
        // The job may end within its last frame's octets.
        if heads.len() > 1 && random.chance(1, 2) {
            expected.pop();
        }
        job.octets = (expected.len() as u64).max(job.run_octets.to_u64()).into();
        Some(Job {
            job,
            expected,
            received: Vec::new(),
            frames: heads,
            opened: false,
            started: false,
            may_be_cut: false,
        })
    }

    /// Releases the first `pages` pages of a frame that keeps others; offsets then count from the
    /// next page.
    fn trim(&mut self, at: usize, pages: u64) -> PageChain {
        let held = &mut self.held[at];
        let (head, mut tail) = (held.head, held.head);
        for _ in 1..pages {
            tail = self.next[&tail];
        }
        held.head = self.next[&tail];
        held.octets.drain(..256 * pages as usize);
        self.parts_released += 1;
        PageChain {
            head_page: head.into(),
            tail_page: tail.into(),
        }
    }

    pub(super) fn give_back<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    >(
        &mut self,
        uut: &mut Packet<W, D, A, B, O, H>,
        random: &mut Random,
    ) {
        let due = self.draining || self.held.len() > self.habits.hoard;
        if due && random.chance(self.habits.release, 100) {
            let unread = self.held.iter().position(|held| held.readers == 0);
            let part = unread.filter(|at| self.held[*at].pages() > 1 && random.chance(1, 3));
            if let Some(at) = part {
                let pages = 1 + random.below(self.held[at].pages() - 1);
                let chain = self.trim(at, pages);
                self.releases[random.below(4) as usize].push_back(chain);
            } else if let Some(at) = unread {
                let held = self.held.swap_remove(at);
                self.releases[random.below(4) as usize].push_back(PageChain {
                    head_page: held.head.into(),
                    tail_page: held.tail.into(),
                });
            }
        }
        let ports = [
            (
                &mut uut.release0,
                &mut uut.release0_valid,
                uut.release0_ready.val(),
            ),
            (
                &mut uut.release1,
                &mut uut.release1_valid,
                uut.release1_ready.val(),
            ),
            (
                &mut uut.release2,
                &mut uut.release2_valid,
                uut.release2_ready.val(),
            ),
            (
                &mut uut.release3,
                &mut uut.release3_valid,
                uut.release3_ready.val(),
            ),
        ];
        for ((chain, valid, ready), queue) in ports.into_iter().zip(&mut self.releases) {
            valid.next = !queue.is_empty();
            if let Some(front) = queue.front() {
                chain.next = *front;
                if ready {
                    queue.pop_front();
                }
            }
        }
    }
}
