//! A transcript without what does not belong in a script.
//!
//! | left out                                  | because                                       |
//! |-------------------------------------------|-----------------------------------------------|
//! | reads of counters, with their answers     | no reset clears a counter, so that a second   |
//! |                                           | run of the script would find other values     |
//! | reads that are answered "busy", with that | how many they are depends on the host's pace; |
//! |                                           | the last one, answered "done", stays          |
//! | the reset that a driver begins with       | the pin has just done the same                |
//! | table data that the device holds already  | a table write keeps its ten words, and a      |
//! |                                           | driver writes all of them each time           |
//!
//! None of them changes anything in the device but for the reset. All that the device sends stays,
//! except for the answers to reads that are left out.

use pcie_sim::{Bdf, Header, Kind};
use rnic_abi::registers::{
    CONTROL, CONTROL_RESET, COUNTERS, TABLE_BUSY, TABLE_COMMAND, TABLE_DATA, TABLE_DATA_WORDS,
};
use rnic_abi::{counters, tables};
use rnic_sim::transcript::{Entry, Item};
use rnic_sim::BAR0_ADDRESS;
use std::collections::HashMap;
use std::ops::Range;

/// Offsets of the counters in the BAR.
const COUNTER_OFFSETS: Range<u32> = COUNTERS..COUNTERS + 4 * counters::COUNT as u32;
/// Those of the table data.
const DATA_OFFSETS: Range<u32> = TABLE_DATA..TABLE_DATA + 4 * TABLE_DATA_WORDS as u32;

/// The entries that a script is made of.
pub fn relevant(entries: Vec<Entry>) -> Vec<Entry> {
    let mut left_out = vec![false; entries.len()];
    let mut reads: HashMap<(Bdf, u8), (usize, u32)> = HashMap::new();
    let mut data = TableData::default();
    for (place, entry) in entries.iter().enumerate() {
        match access(&entry.item) {
            Some(Access::Read { id, offset }) => {
                reads.insert(id, (place, offset));
            }
            Some(Access::Answer { id, value }) => {
                if let Some((read, offset)) = reads.remove(&id) {
                    let is_left_out = is_busy_or_counter(offset, value);
                    (left_out[read], left_out[place]) = (is_left_out, is_left_out);
                }
            }
            Some(Access::Write { offset, value }) => {
                left_out[place] = resets(offset, value) || data.holds(offset, value);
            }
            None => {}
        }
    }
    let marked = entries.into_iter().zip(left_out);
    let kept = marked.filter(|(_, is_left_out)| !is_left_out);
    kept.map(|(entry, _)| entry).collect()
}

fn is_busy_or_counter(offset: u32, value: u32) -> bool {
    match offset {
        CONTROL => value & CONTROL_RESET != 0,
        TABLE_COMMAND => value & TABLE_BUSY != 0,
        other => COUNTER_OFFSETS.contains(&other),
    }
}

fn resets(offset: u32, value: u32) -> bool {
    offset == CONTROL && value & CONTROL_RESET != 0
}

/// What is known of the words that the device holds for the next table write.
#[derive(Default)]
struct TableData([Option<u32>; TABLE_DATA_WORDS]);

impl TableData {
    /// A register is written: does the write change nothing?
    fn holds(&mut self, offset: u32, value: u32) -> bool {
        // A read puts its result there.
        if offset == TABLE_COMMAND && value >> 24 == tables::READ {
            *self = Self::default();
        }
        if !DATA_OFFSETS.contains(&offset) {
            return false;
        }
        let word = (offset - TABLE_DATA) as usize / 4;
        self.0[word].replace(value) == Some(value)
    }
}

/// A register access of one doubleword.
enum Access {
    Read { id: (Bdf, u8), offset: u32 },
    Answer { id: (Bdf, u8), value: u32 },
    Write { offset: u32, value: u32 },
}

fn access(item: &Item) -> Option<Access> {
    let (Item::Request { header, payload } | Item::Tlp { header, payload }) = item else {
        return None;
    };
    let is_from_host = matches!(item, Item::Request { .. });
    let value = payload.first_chunk().copied().map(u32::from_le_bytes);
    match Header::parse(header).ok()?.kind {
        Kind::MRd(read) if is_from_host => Some(Access::Read {
            id: (read.requester, read.tag),
            offset: offset_of(read.address)?,
        }),
        Kind::MWr(write) if is_from_host => Some(Access::Write {
            offset: offset_of(write.address)?,
            value: value?,
        }),
        Kind::CplD(answer) => Some(Access::Answer {
            id: (answer.requester, answer.tag),
            value: value?,
        }),
        _ => None,
    }
}

fn offset_of(address: u64) -> Option<u32> {
    u32::try_from(address.checked_sub(BAR0_ADDRESS)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcie_sim::Tlp;

    fn entries(items: Vec<Item>) -> Vec<Entry> {
        let entry = |item| Entry {
            start: 0,
            end: 0,
            item,
        };
        items.into_iter().map(entry).collect()
    }

    fn write(offset: u32, value: u32) -> Item {
        let address = BAR0_ADDRESS + u64::from(offset);
        let tlp = Tlp::memory_write(Bdf::new(0, 0, 0), address, &value.to_le_bytes());
        let tlp = tlp.expect("a register can be written");
        Item::Request {
            header: tlp.header.pack().expect("well formed").to_vec(),
            payload: tlp.payload,
        }
    }

    fn read(tag: u8, offset: u32, value: u32) -> [Item; 2] {
        let address = BAR0_ADDRESS + u64::from(offset);
        let tlp = Tlp::memory_read(Bdf::new(0, 0, 0), tag, address, 4);
        let tlp = tlp.expect("a register can be read");
        let request = Item::Request {
            header: tlp.header.pack().expect("well formed").to_vec(),
            payload: Vec::new(),
        };
        let answer = Item::Tlp {
            header: vec![0x4a00_0001, 0x0100_0004, u32::from(tag) << 8],
            payload: value.to_le_bytes().to_vec(),
        };
        [request, answer]
    }

    #[test]
    fn counters_busy_answers_the_reset_and_known_table_data_are_left_out() {
        let kept = [
            vec![write(TABLE_DATA, 5)],
            vec![write(TABLE_COMMAND, tables::WRITE << 24)],
            read(3, TABLE_COMMAND, 0).to_vec(),
            vec![write(TABLE_DATA, 6)],
            vec![write(TABLE_COMMAND, tables::READ << 24)],
            vec![write(TABLE_DATA, 6)],
        ];
        let mut all = kept.to_vec();
        all.insert(4, vec![write(TABLE_DATA, 6)]);
        all.insert(2, read(2, TABLE_COMMAND, TABLE_BUSY).to_vec());
        all.insert(0, read(2, COUNTERS + 8, 9).to_vec());
        all.insert(0, read(1, CONTROL, CONTROL_RESET).to_vec());
        all.insert(0, vec![write(CONTROL, CONTROL_RESET)]);
        let found = relevant(entries(all.concat()));

        let found: Vec<Item> = found.into_iter().map(|entry| entry.item).collect();
        assert_eq!(found, kept.concat());
    }
}
