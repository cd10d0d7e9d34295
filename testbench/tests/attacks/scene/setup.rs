//! What stands when an attack begins: connections, queues with buffers, regions; the same in
//! hardware and model, each piece of memory between two guards.

use super::{
    stream, Name, Peer, Piece, Scene, BOUND_STAG, BUFFERS, BUFFER_OCTETS, BYSTANDER, EMPTY_STAG,
    GOOD_OCTETS, GOOD_STAG, GUARD_OCTETS, MARKED, REGION_OCTETS, REGION_TO, SHARED_STAG, SINK_STAG,
    STAG, TOP_STAG, TOP_TO, WINDOW,
};
use rnic_abi::limits::READ_QUEUE;
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_driver::{ConnectionId, RegionConfig};
use rnic_testbench::play::dut::{Buffer, Dut, ReadSink};
use rnic_testbench::play::tally::Place;
use rnic_testbench::traffic::{FrameBuilder, Sender, StreamConfig};

const DOMAIN: u16 = 7;
const BYSTANDER_DOMAIN: u16 = 8;
const FIRST_ADDRESS: u64 = 0x80_0000_0000;
const ADDRESS_DISTANCE: u64 = 0x10_0000;

impl Scene {
    pub(super) fn open(&mut self, number: usize, builder: FrameBuilder) {
        let stream = stream(number);
        let domain = match number {
            BYSTANDER => BYSTANDER_DOMAIN,
            _ => DOMAIN,
        };
        let config = builder.connection(&stream, WINDOW, domain);
        let connection = self.each(|dut| dut.open(&config));
        for tally in &mut self.tallies {
            tally.open(number, connection);
        }
        self.peers.push(Peer {
            connection,
            builder,
            sender: Sender::new(stream),
            sent: 0,
        });
        for qn in 0..3 {
            self.each(|dut| dut.open_queue(connection, qn, 2, 1));
            (1..=BUFFERS).for_each(|msn| self.post(number, qn, msn));
        }
        self.each(|dut| dut.open_queue(connection, READ_QUEUE as u32, 2, u32::MAX));
    }

    /// One more connection, without queues.
    pub fn open_one_more(&mut self, builder: &FrameBuilder, stream: &StreamConfig) {
        let config = builder.connection(stream, WINDOW, 1);
        let connection = self.each(|dut| dut.open(&config));
        for tally in &mut self.tallies {
            tally.open_unknown(stream.sequence_start, connection);
        }
    }

    /// The owner of the attacked connection asks for `octets` octets, to go to `stag` from `offset`
    /// on.
    pub fn asks(&mut self, stag: u32, offset: u64, octets: usize) {
        self.asks_on(self.attacked, stag, offset, octets);
    }

    /// The same on the connection whose stream has markers, which is not attacked.
    pub fn asks_elsewhere(&mut self, stag: u32, offset: u64, octets: usize) {
        assert_ne!(self.attacked, MARKED);
        self.asks_on(MARKED, stag, offset, octets);
    }

    /// The owner registers a region anew under its STag, with so many octets.
    pub fn grows(&mut self, stag: u32, octets: u64) {
        let region = self.regions.iter().find(|region| region.stag == stag);
        let mut region = *region.expect("it is registered");
        region.octets = octets;
        self.each(|dut| dut.deregister(stag));
        self.each(|dut| dut.register(&region));
    }

    fn asks_on(&mut self, number: usize, stag: u32, offset: u64, octets: usize) {
        let read = ReadSink {
            stag,
            offset,
            octets: octets as u32,
        };
        let connection = self.peers[number].connection;
        let posted = self.rtl.post_read(connection, read, None);
        let posted = posted.expect("the queue has room");
        let same = self.model.post_read(connection, read, Some(posted));
        assert_eq!(same, Ok(posted));
    }

    fn post(&mut self, number: usize, qn: u32, msn: u32) {
        let address = self.map(Name::Buffer(number, qn, msn), BUFFER_OCTETS);
        let buffer = Buffer {
            address,
            octets: BUFFER_OCTETS as u32,
        };
        let connection = self.peers[number].connection;
        let posted = self.rtl.post(connection, qn, buffer, None);
        let posted = posted.expect("the queue has room");
        let same = self.model.post(connection, qn, buffer, Some(posted));
        assert_eq!(same, Ok(posted));
        for tally in &mut self.tallies {
            tally.buffer(number, qn, msn, address);
        }
    }

    pub(super) fn register_all(&mut self) {
        let (write, invalidate) = (RIGHT_REMOTE_WRITE, RIGHT_REMOTE_INVALIDATE);
        let own = [
            (STAG, write | invalidate, REGION_TO, REGION_OCTETS),
            (SINK_STAG, RIGHT_READ_SINK, REGION_TO, REGION_OCTETS),
            (SHARED_STAG, write, REGION_TO, REGION_OCTETS),
            (EMPTY_STAG, write, REGION_TO, 0),
            (TOP_STAG, write, TOP_TO, REGION_OCTETS),
        ];
        for (stag, rights, tagged_offset, octets) in own {
            self.register(stag, rights, DOMAIN, None, tagged_offset, octets);
        }
        let all = write | invalidate | RIGHT_READ_SINK;
        let bystander = Some(self.peers[BYSTANDER].connection);
        self.register(BOUND_STAG, all, DOMAIN, bystander, REGION_TO, REGION_OCTETS);
        self.register(
            GOOD_STAG,
            all,
            BYSTANDER_DOMAIN,
            None,
            REGION_TO,
            GOOD_OCTETS,
        );
    }

    fn register(
        &mut self,
        stag: u32,
        rights: u32,
        protection_domain: u16,
        connection: Option<ConnectionId>,
        tagged_offset: u64,
        octets: usize,
    ) {
        let address = self.map(Name::Region(stag), octets);
        let octets = octets as u64;
        let config = RegionConfig {
            stag,
            rights,
            protection_domain,
            connection,
            tagged_offset,
            octets,
            address,
        };
        self.each(|dut| dut.register(&config));
        self.regions.push(config);
        for tally in &mut self.tallies {
            let place = Place {
                address,
                base: tagged_offset,
                octets,
            };
            tally.region(BYSTANDER, stag, place);
        }
    }

    /// Map zeroed memory between two guards; the address of its first octet.
    fn map(&mut self, name: Name, octets: usize) -> u64 {
        let address = FIRST_ADDRESS + ADDRESS_DISTANCE * self.memory.len() as u64;
        let whole = octets + 2 * GUARD_OCTETS as usize;
        for dut in self.duts() {
            dut.map("between guards", address, whole);
        }
        let expected = vec![0; whole];
        self.memory.push(Piece {
            name,
            address,
            expected,
        });
        address + GUARD_OCTETS
    }
}
