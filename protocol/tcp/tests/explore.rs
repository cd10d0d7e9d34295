//! The explorer within bounds that take a second, and that it finds each error that is built in.
#[path = "../examples/explore/end.rs"]
mod end;
#[path = "../examples/explore/search.rs"]
mod search;
#[path = "../examples/explore/space.rs"]
mod space;

use end::Break;
use search::{bounds, explore, settings, Limits, Order};
use std::time::Duration;

const LIMITS: Limits = Limits {
    states: 1_000_000,
    time: Duration::from_secs(60),
};

/// TCP-002, TCP-007, TCP-034, MPA-031: in every order of delivery, with few faults, each record
/// arrives once, whole, and both ends close.
#[test]
fn every_order_of_few_segments_ends_well() {
    for (bounds, least) in [
        (bounds(1, [2, 0, 0], Order::Any), 1_000),
        (bounds(1, [0, 2, 0], Order::Any), 3_000),
        (bounds(1, [0, 0, 1], Order::Any), 3_000),
        (bounds(2, [1, 0, 0], Order::Any), 2_000),
        (bounds(3, [0, 0, 0], Order::Any), 50_000),
        (bounds(6, [1, 0, 0], Order::Sent { overtakings: 0 }), 50_000),
        (bounds(3, [0, 0, 0], Order::Sent { overtakings: 2 }), 5_000),
        (bounds(3, [0, 0, 1], Order::Sent { overtakings: 0 }), 10_000),
    ] {
        let report = explore(bounds, LIMITS, settings(), None);
        assert_eq!(report.finding, None, "{bounds:?}");
        assert!(
            report.is_whole && report.states > least,
            "{bounds:?} {report:?}"
        );
        assert!(
            report.steps as usize > report.states && report.parts.1 > 10,
            "{report:?}"
        );
    }
}

/// Each error that can be built in between a connection and the explorer is found.
#[test]
fn each_error_that_is_built_in_is_found() {
    for (name, broken) in Break::ALL {
        let report = explore(
            bounds(3, [1, 0, 0], Order::Any),
            LIMITS,
            settings(),
            Some(broken),
        );
        println!(
            "{name}: {:?} after {} states",
            report.finding, report.states
        );
        assert!(report.finding.is_some(), "{name} is not found");
    }
}
