//! The explorer within bounds that take seconds, and that it finds each error that is built in.
#[path = "../examples/explore/model.rs"]
mod model;
#[path = "../examples/explore/search.rs"]
mod search;
#[path = "../examples/explore/tamper.rs"]
mod tamper;

use model::Bounds;
use search::{explore, Report};
use tamper::Break;

const STATES_MAX: usize = 400_000;

const fn bounds(dones: bool, calls: u32, grants: &'static [u32], disconnects: u8) -> Bounds {
    Bounds {
        dones,
        calls,
        is_warm: false,
        grants,
        disconnects,
    }
}

/// RPC-004, RPC-005, RPC-015, RPC-022, RPC-034, RPC-035, RPC-039, RPC-042: in every order of one
/// call and its DONE with a disconnect, and of two without, no Send is above the grant or without
/// a receive, no result given out early, and nothing left over.
#[test]
fn every_order_of_few_calls_ends_well() {
    for (bounds, least) in [
        (bounds(true, 1, &[0, 1, 2, 3], 1), 9_000),
        (bounds(true, 2, &[0, 2], 0), 10_000),
        (bounds(false, 2, &[0, 3], 0), 5_000),
    ] {
        let report = explore(bounds, STATES_MAX, None);
        assert!(report.finding.is_none(), "{bounds:?} {:?}", report.finding);
        assert!(
            report.is_whole && report.states > least && report.ends > 1,
            "{report:?}"
        );
        assert!(report.steps as usize > report.states, "{report:?}");
    }
}

/// Each error that can be built in between an end and the fabric is found.
#[test]
fn each_error_that_is_built_in_is_found() {
    for (name, broken) in Break::ALL {
        let all = [bounds(true, 1, &[0, 1], 1), bounds(true, 2, &[0, 1], 0)];
        let mut reports = all
            .iter()
            .map(|&bounds| explore(bounds, STATES_MAX, Some(broken)));
        let finding = reports.find_map(|report| report.finding);
        println!("{name}: {:?}", finding.as_ref().map(|finding| finding.what));
        let finding = finding.unwrap_or_else(|| panic!("{name} is not found"));
        assert!(!finding.steps.is_empty(), "{name} is found on a way to it");
    }
}

/// A set that is cut at its limit of states is no proof, and neither is a finding.
#[test]
fn only_all_states_are_a_proof() {
    let all = bounds(true, 1, &[0, 1], 0);
    let search = |states_max, broken| explore(all, states_max, broken);
    let whole = search(STATES_MAX, None);
    assert!(whole.is_whole && whole.states > 100, "{whole:?}");
    let cut = search(100, None);
    assert_eq!((cut.states, cut.is_whole), (100, false));
    let found = search(STATES_MAX, Some(Break::ReplyLost));
    assert!(Report::verdict(&[whole]).is_ok());
    let words = Report::verdict(&[cut]).expect_err("states are left");
    assert!(words.starts_with("1 of 1 sets"), "{words}");
    assert!(Report::verdict(&[found]).is_err());
}
