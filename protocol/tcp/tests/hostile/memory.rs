//! How much memory a connection takes, as the allocator counts it.
use crate::peer::{head, Scripted, ACK};
use rnic_tcp::{Connection, Settings};
use stats_alloc::{StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Tests that measure run one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// What the test and its harness take beside the connection.
const SLACK_OCTETS: usize = 16 << 10;

/// What was in use before the connection.
pub struct Gauge {
    _alone: MutexGuard<'static, ()>,
    before: usize,
}

fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

impl Gauge {
    pub fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            _alone: alone,
            before: in_use(),
        }
    }

    /// Octets on the heap since the beginning.
    pub fn octets(&self) -> usize {
        in_use().saturating_sub(self.before)
    }

    /// The connection takes no more than it says. Nothing that is large may be in use beside it.
    pub fn verify(&self, settings: &Settings, what: &str) {
        let (octets, most) = (self.octets(), settings.memory_octets_max());
        assert!(
            octets < most + SLACK_OCTETS,
            "{what}: {octets} octets of {most}"
        );
    }
}

/// The bound is one that a connection comes near, or it would say nothing: with as many records in
/// flight as can be, each of them sent again, and as many octets beyond gaps.
#[test]
fn the_bound_is_less_than_four_times_what_can_be_reached() {
    let settings = Settings::default();
    let gauge = Gauge::new();
    let mut peer = Scripted::established();
    let mut open = head(ACK, 0, 0);
    open.window = u16::MAX;
    peer.give(&open, &[]);
    peer.push(u64::from(settings.records_max), 1);
    for gap in 0..40 {
        peer.give(&head(ACK, 1_000 + 20 * gap, 0), &[0; 10]);
    }
    peer.now_us += 2_000_000;
    drop(peer.outputs());
    gauge.verify(&settings, "all in flight");
    let (reached, most) = (gauge.octets(), settings.memory_octets_max());
    println!("{reached} of {most} octets");
    assert!(most < 4 * reached, "{most} is far from {reached}");
    assert!(
        size_of::<Connection>() < 1_500,
        "{}",
        size_of::<Connection>()
    );
}
