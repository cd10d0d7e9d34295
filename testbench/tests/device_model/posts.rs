//! The posting port at its limits, on both devices, by a driver that writes registers itself: what
//! each device does is held against what `docs/registers.md` says.

use crate::machine::{Machine, Model, Rtl};
use rnic_abi::counters::Counter;
use rnic_abi::limits::QUEUE_SLOTS;
use rnic_abi::registers::{
    post, table_command, CONTROL, CONTROL_ENABLE, CONTROL_RESET, POST, POST_0, POST_1, POST_2,
    TABLE_BUSY, TABLE_COMMAND, TABLE_DATA, TABLE_UNFENCED,
};
use rnic_abi::tables::{QUEUE, WRITE};
use rnic_driver::{Bar, Completion, Config, ConnectionId, Device, Dma, DmaBuffer};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};

/// Octets from one buffer to the next, and of each buffer.
const STRIDE: usize = 64;
/// Octets of each message.
const OCTETS: usize = 12;
/// More messages at once would be dropped for lack of pages.
const BURST: usize = 64;

/// A device with a connection, whose queue 0 the test posts to.
struct Rig<'a, M: Machine> {
    machine: &'a M,
    device: Device<M::Bar, M::Dma>,
    /// The same registers, past the driver.
    bar: M::Bar,
    connection: ConnectionId,
    builder: FrameBuilder,
    sender: Sender,
    buffers: DmaBuffer,
    sent: usize,
    /// Messages of all.
    messages: u32,
}

impl<'a, M: Machine> Rig<'a, M> {
    /// Queue 0 of the connection has `1 << entries_log2` entries and expects `first_msn`.
    fn open(machine: &'a M, entries_log2: u32, first_msn: u32) -> Self {
        // The memory of the last one is the device's.
        let ((raw, _), (bar, dma)) = (machine.attach(), machine.attach());
        let config = Config {
            completion_entries_log2: 13,
            ..Config::default()
        };
        let mut device = Device::open(bar, dma, config).expect("the device opens");
        let buffers = device.dma().allocate("buffers", STRIDE << 12, 64);
        let mut rig = Self {
            machine,
            device,
            bar: raw,
            connection: ConnectionId(0),
            builder: FrameBuilder::new(Endpoint::host(7, 47_000), Endpoint::host(8, 4_420)),
            sender: Sender::new(StreamConfig::default()),
            buffers: buffers.expect("memory"),
            sent: 0,
            messages: 0,
        };
        rig.connect(entries_log2, first_msn);
        rig
    }

    fn connect(&mut self, entries_log2: u32, first_msn: u32) {
        let stream = StreamConfig::default();
        let config = self.builder.connection(&stream, 1 << 20, 3);
        self.connection = self.device.open_connection(&config).expect("it has room");
        let opened = self
            .device
            .open_queue_at(self.connection, 0, entries_log2, first_msn);
        opened.expect("it has room");
        self.sender = Sender::new(stream);
        self.sender.set_next_msn(0, first_msn);
        self.sent = 0;
    }

    fn index(&self, qn: u32) -> u32 {
        u32::from(self.connection.0) * QUEUE_SLOTS as u32 + qn
    }

    /// Buffer number `number` of the test, as message after message would have it.
    fn buffer(&self, number: u32) -> u64 {
        self.buffers.address + u64::from(number % 4096) * STRIDE as u64
    }

    /// Four writes, and no read.
    fn post(&mut self, doorbell: u32, address: u64, octets: u32) {
        self.bar.write32(POST_0, address as u32);
        self.bar.write32(POST_1, (address >> 32) as u32);
        self.bar.write32(POST_2, octets);
        self.bar.write32(POST, doorbell);
    }

    /// Post buffers `numbers` to queue 0.
    fn post_buffers(&mut self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let address = self.buffer(number);
            self.post(post(self.index(0), 0), address, STRIDE as u32);
        }
    }

    /// Octets of message `number`.
    fn octets(number: u32) -> [u8; OCTETS] {
        std::array::from_fn(|at| (number as usize * 31 + at * 7) as u8)
    }

    /// Send `count` messages; the MSN of each that was received.
    fn send(&mut self, count: usize) -> Vec<u32> {
        let mut received = Vec::new();
        for _ in 0..count {
            self.sender.send(&Self::octets(self.messages));
            self.messages += 1;
        }
        let fpdus = self.sender.fpdus()[self.sent..].to_vec();
        self.sent += fpdus.len();
        for burst in fpdus.chunks(BURST) {
            for fpdu in burst {
                let sequence = self.sender.sequence(fpdu.octets.start);
                let payload = &self.sender.stream()[fpdu.octets.clone()];
                let frame = self.builder.segment(sequence, 1, FLAG_ACK, payload);
                self.machine.push(frame, false);
            }
            self.machine.settle();
            while let Some(completion) = self.device.poll_completion() {
                match completion {
                    Completion::Receive { msn, .. } => received.push(msn),
                    Completion::Error { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        received
    }

    /// Whether message `number` is in buffer `buffer`.
    fn has(&mut self, buffer: u32, number: u32) -> bool {
        let mut octets = [0; OCTETS];
        let address = self.buffer(buffer);
        self.device.dma().read(address, &mut octets);
        octets == Self::octets(number)
    }

    fn counter(&mut self, counter: Counter) -> u32 {
        self.device.counter(counter).expect("the device answers")
    }

    /// Posts refused: to closed queues, to full ones.
    fn refused(&mut self) -> (u32, u32) {
        (
            self.counter(Counter::RefusePostClosed),
            self.counter(Counter::RefusePostFull),
        )
    }

    /// A write of the queue's table entry, past the driver; not waited for.
    fn write_queue(&mut self, words: [u32; 2], flags: u32) {
        self.bar.write32(TABLE_DATA, words[0]);
        self.bar.write32(TABLE_DATA + 4, words[1]);
        let command = table_command(WRITE, QUEUE, self.index(0)) | flags;
        self.bar.write32(TABLE_COMMAND, command);
    }

    fn wait(&mut self) {
        while self.bar.read32(TABLE_COMMAND) & TABLE_BUSY != 0 {}
    }
}

/// A queue is filled, overfilled by one, emptied, and filled again, so that MSNs pass `wraps` and
/// the window begins anew; then a message without a buffer stops the stream.
fn fills<M: Machine>(machine: &M, entries_log2: u32, first_msn: u32) {
    let what = format!("{entries_log2}, {first_msn:#x}");
    let entries = 1u32 << entries_log2;
    let mut rig = Rig::open(machine, entries_log2, first_msn);
    for round in 0..2 {
        let begin = round * entries;
        rig.post_buffers(begin..begin + entries);
        let nowhere = rig.buffer(4095);
        rig.post(post(rig.index(0), 0), nowhere, STRIDE as u32);
        assert_eq!(rig.refused(), (0, round + 1), "{what}: one beyond");
        let received = rig.send(entries as usize);
        let msns = (begin..begin + entries).map(|number| first_msn.wrapping_add(number));
        assert_eq!(received, msns.collect::<Vec<u32>>(), "{what}");
        for number in begin..begin + entries {
            assert!(rig.has(number, number), "{what}: buffer {number}");
        }
    }
    // One place free, and two posts: the second one is refused, whatever was received before.
    rig.post_buffers(2 * entries..3 * entries + 1);
    assert_eq!(rig.refused(), (0, 3), "{what}");
    assert_eq!(rig.send(entries as usize).len(), entries as usize, "{what}");
    assert!(rig.send(1).is_empty(), "{what}");
    assert_eq!(rig.counter(Counter::RefuseDdpNoBuffer), 1, "{what}");
}

/// DDP-037, at the ends of the numbers: of entries 1, 2 and 2,048, of MSNs 2^16 and 2^32.
fn queues_fill<M: Machine>(machine: impl Fn() -> M) {
    for (entries_log2, first_msn) in [
        (0, 1),
        (0, 0xffff),
        (0, u32::MAX),
        (1, 0xfffe),
        (4, u32::MAX - 20),
        (11, 0xf800 - 5),
    ] {
        fills(&machine(), entries_log2, first_msn);
    }
}

#[test]
fn queues_fill_and_wrap_on_hardware() {
    queues_fill(Rtl::new);
}

#[test]
fn queues_fill_and_wrap_on_the_model() {
    queues_fill(Model::new);
}

/// Queues that are not open take nothing, and the one that is open is as it was.
fn closed<M: Machine>(machine: &M) {
    let mut rig = Rig::open(machine, 1, 1);
    let address = rig.buffer(9);
    // Bits that mean nothing; queues 1 to 3 of the connection; those of other connections.
    let own = rig.index(0);
    let doorbells = [
        own + 1,
        own + 2,
        own + 3,
        0xff8,
        0xfff,
        0xfff8_f000 | (own + 1),
    ];
    for (doorbell, refused) in doorbells.into_iter().zip(1..) {
        rig.post(doorbell, address, 64);
        assert_eq!(rig.refused(), (refused, 0), "{doorbell:#x}");
    }
    assert!(rig.send(1).is_empty());
    assert_eq!(rig.counter(Counter::RefuseDdpNoBuffer), 1);
    rig.device
        .close_connection(rig.connection)
        .expect("it is open");
    rig.post(own, address, 64);
    assert_eq!(rig.refused(), (7, 0), "its queue is closed with it");
}

#[test]
fn closed_queues_take_no_post() {
    closed(&Rtl::new());
    closed(&Model::new());
}

/// A post after a write of the queue's entry finds the new one, one before it the old one,
/// whether the write fences or not, and nobody waits between them.
fn reopened<M: Machine>(machine: impl Fn() -> M) {
    for flags in [0, TABLE_UNFENCED] {
        let machine = machine();
        let mut rig = Rig::open(&machine, 1, 1);
        let (open, shut) = ([1 << 31 | 1 << 16, 1], [0, 0]);
        let (first, second) = (rig.buffer(1), rig.buffer(2));
        let doorbell = post(rig.index(0), 0);
        rig.post(doorbell, first, 64);
        rig.write_queue(open, flags);
        rig.post(doorbell, second, 64);
        rig.wait();
        assert_eq!(rig.send(1), [1]);
        assert!(rig.has(2, 0) && !rig.has(1, 0), "the queue was emptied");
        rig.write_queue(shut, flags);
        rig.post(doorbell, first, 64);
        rig.wait();
        assert_eq!(rig.refused(), (1, 0));
        rig.write_queue(open, flags);
        rig.post(doorbell, first, 64);
        // A write that fences is not short: the next one has to wait for it.
        rig.wait();
        rig.write_queue(shut, flags);
        rig.wait();
        rig.post(doorbell, first, 64);
        assert_eq!(rig.refused(), (2, 0));
    }
}

#[test]
fn posts_and_writes_of_their_queue_keep_their_order_on_hardware() {
    reopened(Rtl::new);
}

#[test]
fn posts_and_writes_of_their_queue_keep_their_order_on_the_model() {
    reopened(Model::new);
}

/// Wherever a reset meets the four writes of a post, the queue is closed after it, nothing is
/// posted, and the words are 0: a doorbell alone posts a buffer of no octets.
fn reset<M: Machine>(machine: impl Fn() -> M) {
    for writes in 0..=4 {
        let machine = machine();
        let mut rig = Rig::open(&machine, 2, 1);
        let address = rig.buffer(1);
        let doorbell = post(rig.index(0), 0);
        let words = [
            (POST_0, address as u32),
            (POST_1, (address >> 32) as u32),
            (POST_2, 64),
            (POST, doorbell),
        ];
        for (register, value) in words.into_iter().take(writes) {
            rig.bar.write32(register, value);
        }
        rig.bar.write32(CONTROL, CONTROL_RESET);
        // Ignored until the reset is over.
        rig.post(doorbell, address, 64);
        while rig.bar.read32(CONTROL) & CONTROL_RESET != 0 {}
        assert_eq!(rig.refused(), (0, 0), "after {writes} writes");
        rig.bar.write32(POST, doorbell);
        assert_eq!(rig.refused(), (1, 0), "after {writes} writes");
        rig.bar.write32(CONTROL, CONTROL_ENABLE);
        let closed = rig.device.close_connection(rig.connection);
        closed.expect("the driver takes it for open");
        rig.connect(2, 1);
        rig.bar.write32(POST, doorbell);
        assert!(rig.send(1).is_empty(), "after {writes} writes");
        let found = [Counter::RefuseDdpMo, Counter::RefuseDdpNoBuffer].map(|it| rig.counter(it));
        assert_eq!(found, [1, 0], "after {writes} writes");
    }
}

#[test]
fn a_reset_in_the_middle_of_a_post_leaves_nothing_of_it_on_hardware() {
    reset(Rtl::new);
}

#[test]
fn a_reset_in_the_middle_of_a_post_leaves_nothing_of_it_on_the_model() {
    reset(Model::new);
}
