//! In which order an end posts its requests.
use crate::harness::{ask, World, GET, NULL, PUT};
use rpcrdma::fabric::End;
use rpcrdma::place::Place;
use rpcrdma::verbs::{Completion, Limits, Memory, Rights, Status, Verbs, VerbsError, Work};
use rpcrdma::wire::Segment;
use rpcrdma::{Endpoint, Event, Pool};

/// An end that counts receives that were taken out and not posted again.
struct Counted<'a> {
    end: End<'a>,
    missing: &'a mut usize,
    sends: &'a mut usize,
}

impl Memory for Counted<'_> {
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        self.end.store(at, octets)
    }

    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        self.end.load(at, into)
    }
}

impl Verbs for Counted<'_> {
    fn limits(&self) -> Limits {
        self.end.limits()
    }

    fn post_receives(&mut self, batch: &[(u64, Place)]) -> Result<(), VerbsError> {
        *self.missing = self.missing.saturating_sub(batch.len());
        self.end.post_receives(batch)
    }

    fn send(&mut self, tag: u64, pieces: &[Place], handle: Option<u32>) -> Result<(), VerbsError> {
        assert_eq!(
            *self.missing, 0,
            "a Send whose credit counts a receive that is not posted"
        );
        *self.sends += 1;
        self.end.send(tag, pieces, handle)
    }

    fn write(&mut self, tag: u64, source: Place, sink: Segment) -> Result<(), VerbsError> {
        self.end.write(tag, source, sink)
    }

    fn read(&mut self, tag: u64, source: Segment, sink: Place) -> Result<(), VerbsError> {
        self.end.read(tag, source, sink)
    }

    fn expose(&mut self, place: Place, rights: Rights) -> Result<Segment, VerbsError> {
        self.end.expose(place, rights)
    }

    fn revoke(&mut self, handle: u32) -> Result<(), VerbsError> {
        self.end.revoke(handle)
    }

    fn poll(&mut self) -> Option<Completion> {
        let completion = self.end.poll()?;
        let is_message = completion.work == Work::Receive && completion.status == Status::Success;
        *self.missing += usize::from(is_message);
        Some(completion)
    }

    fn close(&mut self) {
        self.end.close();
    }
}

/// Missing receives, and Sends, of one end.
type Counts = (usize, usize);

fn poll(endpoint: &mut Endpoint, end: End<'_>, pool: &mut Pool, counts: &mut Counts) -> Vec<Event> {
    let (missing, sends) = counts;
    let mut verbs = Counted {
        end,
        missing,
        sends,
    };
    std::iter::from_fn(|| endpoint.poll(0, &mut verbs, pool)).collect()
}

/// RPC-034, RPC-044: the peer may answer a Send before anything else is posted, and takes every
/// receive for posted that its credits count. So they are posted first, at both ends.
#[test]
fn receives_are_posted_before_every_send() {
    let mut world = World::default();
    let (mut client, mut server) = ((0, 0), (0, 0));
    for _ in 0..3 {
        for asked in [ask(NULL, 0, 0), ask(PUT, 0, 5_000), ask(GET, 0, 5_000)] {
            world.submit(asked).expect("room");
        }
        for _ in 0..12 {
            let side = &mut world.client;
            let end = world.fabric.end(side.end);
            for event in poll(&mut side.endpoint, end, &mut side.pool, &mut client) {
                if let Event::Replied(call) = event {
                    world.client.endpoint.release(call, &mut world.client.pool);
                }
            }
            let side = &mut world.server;
            let end = world.fabric.end(side.end);
            for event in poll(&mut side.endpoint, end, &mut side.pool, &mut server) {
                if let Event::Call(id) = event {
                    world.answer(id);
                }
            }
            world.fabric.run();
        }
    }
    assert_eq!((client, server), ((0, 9), (0, 9)));
    world.assert_clean();
}
