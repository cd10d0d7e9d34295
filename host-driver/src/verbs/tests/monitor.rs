//! A monitor of a device that objects own.

use super::{prepare, region, STAG};
use crate::monitor::{Client, Monitor};
use std::thread;
use std::time::Duration;

#[test]
fn a_monitor_lists_what_the_objects_of_a_context_own() {
    let (_test, context, domain, _queue) = prepare();
    let (region, _) = region(&context, &domain, STAG);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("monitor");
    let mut monitor = Monitor::bind(&path).expect("it binds");
    let mut ask = || {
        let client = Client::new(&path, Duration::from_secs(60));
        thread::scope(|scope| {
            let asks = scope.spawn(move || client.regions());
            while !asks.is_finished() {
                context.serve_monitor(&mut monitor).expect("it serves");
                thread::yield_now();
            }
            asks.join().expect("no panic").expect("it answers")
        })
    };
    let stags: Vec<u32> = ask().iter().map(|region| region.stag).collect();
    assert_eq!(stags, [STAG]);
    drop(region);
    assert_eq!(ask(), []);
}
