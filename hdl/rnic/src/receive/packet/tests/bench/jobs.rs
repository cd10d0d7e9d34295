//! Jobs over the frames held, and released pages.
use super::{Bench, Job};
use crate::messages::*;
use crate::receive::packet::reader::FrameEntry;
use crate::receive::packet::Packet;
use rnic_hdl_tools::testkit::Random;

impl<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    > Bench<W, D, A, B, O, H>
{
    pub(super) fn jobs(&mut self, uut: &mut Packet<W, D, A, B, O, H>, random: &mut Random) {
        let free = self.planned.is_none() && self.offered.is_empty();
        if free && !self.draining && random.chance(self.traffic.job, 100) {
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
        } else {
            self.offered.extend(self.planned.take());
        }
        let (data, valid) = (&mut uut.job, &mut uut.job_valid);
        let taken = self
            .offered
            .drive_as(|job| job.job, data, valid, &uut.job_ready, random);
        self.jobs.extend(taken);
        uut.cancel.next = random.chance(self.traffic.cancel, 1000);
        let tag = random.below(8);
        uut.cancel_tag.next = tag.into();
        if uut.cancel.next {
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
            kind: [JobKind::Stream, JobKind::Place, JobKind::Host][random.below(3) as usize],
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

    pub(super) fn give_back(&mut self, uut: &mut Packet<W, D, A, B, O, H>, random: &mut Random) {
        let due = self.draining || self.held.len() > self.traffic.hoard;
        if due && random.chance(self.traffic.release, 100) {
            let unread = self.held.iter().position(|held| held.readers == 0);
            let part = unread.filter(|at| self.held[*at].pages() > 1 && random.chance(1, 3));
            if let Some(at) = part {
                let pages = 1 + random.below(self.held[at].pages() - 1);
                let chain = self.trim(at, pages);
                self.releases[random.below(4) as usize].push(chain);
            } else if let Some(at) = unread {
                let held = self.held.swap_remove(at);
                self.releases[random.below(4) as usize].push(PageChain {
                    head_page: held.head.into(),
                    tail_page: held.tail.into(),
                });
            }
        }
        let [first, second, third, fourth] = &mut self.releases;
        let (data, valid) = (&mut uut.release0, &mut uut.release0_valid);
        first.drive(data, valid, &uut.release0_ready, random);
        let (data, valid) = (&mut uut.release1, &mut uut.release1_valid);
        second.drive(data, valid, &uut.release1_ready, random);
        let (data, valid) = (&mut uut.release2, &mut uut.release2_valid);
        third.drive(data, valid, &uut.release2_ready, random);
        let (data, valid) = (&mut uut.release3, &mut uut.release3_valid);
        fourth.drive(data, valid, &uut.release3_ready, random);
    }
}
