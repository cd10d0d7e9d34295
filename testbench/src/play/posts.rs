//! Two ways to post: every other post of the driver goes through the tables instead of the port.
//!
//! ```text
//!  driver --POST_0..2, POST--> PostPaths --+--> the same
//!                                          +--> RECEIVE_POOL, QUEUE_TAIL
//! ```
//!
//! It knows each queue by what the driver writes to table QUEUE. What the device then does must not
//! depend on the way, so a run compares the port with the tables as well as hardware with the
//! model.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::registers::{
    table_command, CONTROL, CONTROL_RESET, POST, POST_0, POST_2, POST_OFFSET_SHIFT, TABLE_COMMAND,
    TABLE_DATA,
};
use rnic_abi::tables::{QUEUE, QUEUE_TAIL, RECEIVE_POOL, WRITE};
use rnic_driver::Bar;
use std::collections::HashMap;

/// The window of an open queue.
#[derive(Copy, Clone, Debug)]
struct Window {
    first: u32,
    entries_log2: u32,
    /// MSN of the next post.
    next_msn: u32,
}

/// A BAR that chooses the way of each post.
#[derive(Debug)]
pub(crate) struct PostPaths<B> {
    bar: B,
    random: ChaCha8Rng,
    /// The port's words, and the first two of the table data, as the driver has written them.
    words: [u32; 3],
    data: [u32; 2],
    windows: HashMap<u32, Window>,
}

impl<B: Bar> PostPaths<B> {
    /// Over `bar`; `seed` is that of the choices.
    pub(crate) fn new(bar: B, seed: u64) -> Self {
        Self {
            bar,
            random: ChaCha8Rng::seed_from_u64(seed),
            words: [0; 3],
            data: [0; 2],
            windows: HashMap::new(),
        }
    }

    /// A write of table QUEUE opens a queue, or closes it.
    fn note_queue(&mut self, index: u32) {
        let [shape, next_msn] = self.data;
        let window = Window {
            first: shape & 0x7ff,
            entries_log2: shape >> 16 & 0xf,
            next_msn,
        };
        match shape >> 31 {
            0 => self.windows.remove(&index),
            _ => self.windows.insert(index, window),
        };
    }

    /// Post by the tables, each operation of which is short: nothing is waited for.
    fn post_by_tables(&mut self, doorbell: u32, window: Window) {
        let Window {
            first,
            entries_log2,
            next_msn,
        } = window;
        let [low, high, octets] = self.words;
        let words = [low, high, octets, doorbell >> POST_OFFSET_SHIFT & 7];
        for (offset, word) in (TABLE_DATA..).step_by(4).zip(words) {
            self.bar.write32(offset, word);
        }
        let entry = first + (next_msn & ((1 << entries_log2) - 1));
        let command = table_command(WRITE, RECEIVE_POOL, entry);
        self.bar.write32(TABLE_COMMAND, command);
        let tail = next_msn.wrapping_add(1) & 0xffff;
        self.bar.write32(TABLE_DATA, tail);
        let command = table_command(WRITE, QUEUE_TAIL, doorbell & 0xfff);
        self.bar.write32(TABLE_COMMAND, command);
    }

    fn post(&mut self, doorbell: u32) {
        let window = self.windows.get_mut(&(doorbell & 0xfff));
        let posted = window.map(|window| {
            let before = *window;
            window.next_msn = window.next_msn.wrapping_add(1);
            before
        });
        match posted {
            Some(window) if self.random.random_bool(0.5) => self.post_by_tables(doorbell, window),
            _ => {
                for (offset, word) in (POST_0..).step_by(4).zip(self.words) {
                    self.bar.write32(offset, word);
                }
                self.bar.write32(POST, doorbell);
            }
        }
    }
}

impl<B: Bar> Bar for PostPaths<B> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.bar.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        match offset {
            POST_0..=POST_2 => return self.words[((offset - POST_0) / 4) as usize] = value,
            POST => return self.post(value),
            TABLE_DATA => self.data[0] = value,
            _ if offset == TABLE_DATA + 4 => self.data[1] = value,
            TABLE_COMMAND if value >> 24 & 3 == WRITE && value >> 16 & 0xf == QUEUE => {
                self.note_queue(value & 0xfff);
            }
            CONTROL if value & CONTROL_RESET != 0 => self.windows.clear(),
            _ => {}
        }
        self.bar.write32(offset, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes, in their order.
    #[derive(Debug, Default)]
    struct Writes(Vec<(u32, u32)>);

    impl Bar for Writes {
        fn read32(&mut self, _: u32) -> u32 {
            0
        }

        fn write32(&mut self, offset: u32, value: u32) {
            self.0.push((offset, value));
        }
    }

    /// Both ways come up, name the same entry and tail, and a queue that is closed has one.
    #[test]
    fn posts_take_both_ways() {
        let mut bar = PostPaths::new(Writes::default(), 3);
        bar.write32(TABLE_DATA, 1 << 31 | 2 << 16 | 64);
        bar.write32(TABLE_DATA + 4, 0xffff);
        bar.write32(TABLE_COMMAND, table_command(WRITE, QUEUE, 13));
        let mut ways = [0; 2];
        for number in 0..64u32 {
            bar.bar.0.clear();
            for (offset, word) in (POST_0..POST).step_by(4).zip([number, 2, 3]) {
                bar.write32(offset, word);
            }
            bar.write32(POST, 5 << 16 | 13);
            let msn = 0xffff + number;
            let writes = &bar.bar.0;
            let by_port = writes.last() == Some(&(POST, 5 << 16 | 13));
            ways[usize::from(by_port)] += 1;
            let expected = match by_port {
                true => vec![
                    (POST_0, number),
                    (POST_0 + 4, 2),
                    (POST_2, 3),
                    (POST, 5 << 16 | 13),
                ],
                false => vec![
                    (TABLE_DATA, number),
                    (TABLE_DATA + 4, 2),
                    (TABLE_DATA + 8, 3),
                    (TABLE_DATA + 12, 5),
                    (
                        TABLE_COMMAND,
                        table_command(WRITE, RECEIVE_POOL, 64 + msn % 4),
                    ),
                    (TABLE_DATA, (msn + 1) & 0xffff),
                    (TABLE_COMMAND, table_command(WRITE, QUEUE_TAIL, 13)),
                ],
            };
            assert_eq!(*writes, expected, "{number}");
        }
        assert!(ways.iter().all(|&count| count > 16), "{ways:?}");
        bar.write32(TABLE_DATA, 0);
        bar.write32(TABLE_COMMAND, table_command(WRITE, QUEUE, 13));
        for _ in 0..20 {
            bar.write32(POST, 13);
            assert_eq!(bar.bar.0.last(), Some(&(POST, 13)));
        }
    }
}
