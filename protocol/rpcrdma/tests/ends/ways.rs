//! Each way of a message, in the sizes around its limits.
use crate::harness::{ask, World, GET, LIST, LONG_PUT, NULL, PUT};
use rpcrdma::Settings;

const SIZES: [u32; 16] = [
    0, 1, 3, 4, 5, 1_023, 1_024, 1_025, 3_900, 4_095, 4_096, 4_097, 12_345, 65_536, 131_072,
    1_048_576,
];

/// RPC-003, RPC-008, RPC-014, RPC-016: every size either way, inline or as a chunk, arrives.
#[test]
fn every_size_arrives() {
    let mut world = World::default();
    world.call(ask(NULL, 0, 0));
    for procedure in [PUT, GET, LIST, LONG_PUT] {
        for (index, length) in SIZES.into_iter().enumerate() {
            if matches!(procedure, LONG_PUT) && length > 500_000 {
                continue;
            }
            world.call(ask(procedure, index as u32 * 3 + 1, length));
            world.assert_clean();
        }
    }
}

/// The same with steps by a seed, and peers that know RFC 5666 alone.
#[test]
fn every_size_arrives_without_private_data() {
    let settings = Settings {
        read_lists: true,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.peer_data = [None, None];
    world.is_stepped = true;
    world.connect();
    for procedure in [PUT, GET, LIST, LONG_PUT] {
        for (index, length) in SIZES.into_iter().enumerate() {
            if matches!(procedure, LONG_PUT) && length > 500_000 {
                continue;
            }
            world.call(ask(procedure, index as u32 * 3 + 1, length));
            world.assert_clean();
        }
    }
}
