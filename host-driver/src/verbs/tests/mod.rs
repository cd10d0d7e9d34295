//! Misuse and failures first: what is closed in which order, what a fence that fails leaves behind,
//! and what comes while something ends.

mod bus;
mod fence;
mod monitor;
mod order;
mod traffic;

use super::testing::{TestContext, TestDevice, TestMemory};
use super::{Connection, MemoryRegion, ProtectionDomain, RegionOptions, Rights, WindowOptions};
use crate::device::tables::ConnectionConfig;
use crate::testing::connection_config;

type TestRegion = MemoryRegion<TestDevice, TestMemory>;
type TestDomain = ProtectionDomain<TestDevice, TestMemory>;
type TestQueue = super::CompletionQueue<TestDevice, TestMemory>;
type TestConnection = Connection<TestDevice, TestMemory>;

const STAG: u32 = 0x0011_1142;
const OTHER_STAG: u32 = 0x0022_2242;

/// A region that peers may write, and the address of its memory.
fn region(context: &TestContext, domain: &TestDomain, stag: u32) -> (TestRegion, u64) {
    let memory = context.allocate(4096).expect("memory");
    let address = memory.place().address;
    let region = domain.register(memory, &options(stag));
    (region.expect("it is new"), address)
}

fn options(stag: u32) -> RegionOptions {
    RegionOptions {
        rights: Rights::REMOTE_WRITE | Rights::READ_SINK,
        tagged_offset: 0x1000,
        stag: Some(stag),
    }
}

fn window(stag: u32) -> WindowOptions {
    WindowOptions {
        rights: Rights::REMOTE_WRITE,
        range: 64..128,
        tagged_offset: 0,
        stag: Some(stag),
    }
}

/// A connection to the peer at `port`, with queue 0 of two entries and as many reads.
fn connection(domain: &TestDomain, queue: &TestQueue, port: u16) -> TestConnection {
    let mut config: ConnectionConfig = connection_config();
    config.key.remote.set_port(port);
    let connection = domain.open_connection(queue, &config).expect("it is new");
    connection.open_queue(0, 1).expect("there is room");
    connection.open_queue(3, 1).expect("there is room");
    connection
}

/// The objects of a test.
fn prepare() -> (TestDevice, TestContext, TestDomain, TestQueue) {
    let (test, context) = TestDevice::open();
    let domain = context.protection_domain().expect("the first");
    let queue = context.completion_queue(4).expect("queue 0");
    (test, context, domain, queue)
}
