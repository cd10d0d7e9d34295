//! Tables of a connection: lookup, contexts, and what is received beyond a gap.

use super::entries::{padded, Words};
use super::lookup::{Entry, RANGE_MASK};
use super::DeviceModel;
use rnic_abi::tables::{LOOKUP, TCP};
use rnic_driver::QueueId;
use rnic_model::tcp::TcpReceiver;
use rnic_model::{MpaContext, TcpContext};

impl DeviceModel {
    pub(super) fn write_lookup(&mut self, index: usize, words: &Words) {
        let entry = Entry::of(words, self.sizes.connections());
        let table = &mut self.tables.connections;
        let Some(place) = table.entries.get_mut(index) else {
            return self.refuse(LOOKUP, index, "there is no such way");
        };
        let before = std::mem::replace(place, entry);
        for changed in [before, entry].into_iter().flatten() {
            let connection = self.tables.connections.find(&changed);
            self.model.set_lookup(changed.key, connection);
        }
    }

    pub(super) fn write_tcp(&mut self, connection: u16, words: &Words) {
        let held = self.model.write_tcp(
            connection,
            &TcpContext {
                rcv_nxt: words[0],
                window: words[1],
                seg_ack: words[2],
                seg_wnd: words[3] as u16,
                fin_seen: words[3] >> 16 & 1 == 1,
            },
        );
        self.events.forget(connection);
        if held {
            let reason = "it was written while the connection had ranges, which are dropped; \
                          release them first";
            self.refuse(TCP, connection.into(), reason);
        }
    }

    pub(super) fn write_mpa(&mut self, connection: u16, words: &Words) {
        let context = MpaContext {
            sequence_start: words[0],
            markers: words[1] & 1 == 1,
            crc: words[1] >> 1 & 1 == 1,
        };
        self.model.write_mpa(connection, &context);
    }

    pub(super) fn write_ddp(&mut self, connection: u16, words: &Words) {
        let (version, queue) = (words[0] >> 16 & 1, words[0] >> 17 & 0xf);
        let queue = QueueId(queue as u8);
        self.model
            .write_ddp(connection, words[0] as u16, version as u8, queue);
    }

    pub(super) fn read_tcp(&mut self, connection: u16) -> Words {
        let first = self.number_ranges(connection);
        let Some(tcp) = self.receiver(connection) else {
            return Words::default();
        };
        let last = u32::from(tcp.seg_wnd)
            | u32::from(tcp.fin.is_some()) << 16
            | (tcp.out_of_order.ranges().count() as u32) << 17
            | (first as u32) << 22;
        padded(&[tcp.rcv_nxt, tcp.window, tcp.seg_ack, last])
    }

    pub(super) fn read_out_of_order(&mut self, connection: u16) -> Words {
        let first = self.number_ranges(connection);
        let Some(tcp) = self.receiver(connection) else {
            return Words::default();
        };
        let sequence = |position: u64| tcp.rcv_nxt.wrapping_add(position as u32);
        let mut ranges = tcp.out_of_order.ranges();
        let changed = ranges.position(|range| {
            let changed = tcp
                .changed
                .map(|changed| changed.left.wrapping_sub(sequence(range.start)));
            changed.is_some_and(|distance| u64::from(distance) < range.end - range.start)
        });
        let count = tcp.out_of_order.ranges().count();
        // A number of none of them, if it is in order by now.
        let changed = (first + changed.unwrap_or(count)) & RANGE_MASK;
        padded(&[
            first as u32 | (count as u32) << 8 | (changed as u32) << 16,
            tcp.out_of_order.pages(),
            tcp.duplicate_acks.into(),
        ])
    }

    pub(super) fn read_in_use(&self) -> Words {
        let charged = self.model.receivers();
        let charged = charged.flat_map(|(_, tcp)| tcp.out_of_order.charged());
        let (ranges, spans) = charged.fold((0, 0), |(ranges, spans), (_, more)| {
            (ranges + 1, spans + more as u32)
        });
        padded(&[ranges, spans])
    }

    fn receiver(&self, connection: u16) -> Option<&TcpReceiver> {
        let mut receivers = self.model.receivers();
        receivers.find_map(|(id, tcp)| (id == connection).then_some(tcp))
    }

    /// Number all ranges there are; the number of the connection's first one.
    fn number_ranges(&mut self, connection: u16) -> usize {
        let (mut entries, mut first) = (Vec::new(), 0);
        for (id, tcp) in self.model.receivers() {
            if id == connection {
                first = entries.len();
            }
            let sequence = |position: u64| tcp.rcv_nxt.wrapping_add(position as u32);
            let ranges = tcp.out_of_order.ranges();
            let count = ranges.count();
            let charged = tcp.out_of_order.ranges().zip(tcp.out_of_order.charged());
            for (number, (range, (pages, _))) in charged.enumerate() {
                let has_next = number + 1 < count;
                let next = (entries.len() + 1) & RANGE_MASK;
                let link = if has_next { next as u32 | 1 << 8 } else { 0 };
                let (left, right) = (sequence(range.start), sequence(range.end));
                entries.push(padded(&[left, right, link, pages]));
            }
        }
        self.tables.ranges.entries = entries;
        first
    }
}
