//! The log of headers.
use crate::harness::{ask, World, GET, LIST, LONG_PUT, NULL, PUT};
use rpcrdma::{Endpoint, Settings};

fn lines(endpoint: &mut Endpoint, what: &str) -> Vec<String> {
    let all = std::iter::from_fn(|| endpoint.logged());
    let of_it = all.filter_map(|line| line.strip_prefix(what).map(str::to_owned));
    of_it.collect()
}

/// RPC-026: each message is a line at either end, with the same words.
#[test]
fn what_one_end_has_sent_the_other_has_received() {
    let settings = Settings {
        log_headers: true,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.connect();
    let mut calls = 0;
    for procedure in [NULL, PUT, GET, LIST, LONG_PUT] {
        for length in [1, 1_024, 5_000] {
            world.call(ask(procedure, 0, length));
            calls += 1;
        }
    }
    let mut other = world.server.endpoint.clone();
    let sent = lines(&mut world.client.endpoint.clone(), "sent ");
    assert_eq!(sent.len(), calls);
    assert_eq!(sent, lines(&mut world.server.endpoint, "received "));
    let answered = lines(&mut other, "sent ");
    assert_eq!(answered.len(), calls);
    assert_eq!(answered, lines(&mut world.client.endpoint, "received "));
    assert_eq!(world.client.endpoint.logged(), None);
    let has = |words: &str| sent.iter().any(|line| line.contains(words));
    assert!(has(" MSG read ") && has(" NOMSG read 0 ") && has(" MSG write ") && has(" reply "));
}

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    let mut world = World::default();
    world.call(ask(GET, 0, 5_000));
    assert_eq!(world.client.endpoint.logged(), None);
    assert_eq!(world.server.endpoint.logged(), None);
}
