//! The endpoint as the initiator: the peer's Reply makes it switch, and segments arrive between any
//! two of the operations by which it does.

use crate::peer::{Peer, Role, PEER};
use crate::scene::{settings, Outcome, Scene, Script, ROUNDS};
use rnic_driver::verbs::endpoint::{PairOptions, SendOperation};
use rnic_driver::Dma;
use rnic_sim::DeviceCore;

impl<C: DeviceCore, D: Dma> Scene<C, D> {
    /// Operations of the switch at a Reply that is there before the first of them.
    pub fn places_of_initiator(&mut self) -> usize {
        self.run_initiator(&Script::of(&[0], 1));
        self.schedule.operations.get()
    }

    /// Play a script whose first segment is the Reply; panics if the invariant does not hold.
    pub fn run_initiator(&mut self, script: &Script) -> Outcome {
        self.port = self.port.checked_add(1).unwrap_or(10_000);
        let iss = u32::from(self.port).wrapping_mul(0x9e37_79b9);
        let mut peer = Peer::new(Role::Responder, self.port, iss, script.segments);
        let to = (PEER, self.port).into();
        let stream = self.endpoint.open(to, |_| ()).expect("it begins");
        for _ in 0..ROUNDS {
            self.poll();
            self.exchange(&mut peer);
            if stream.is_connected().expect("it is not refused") {
                break;
            }
        }
        let options = PairOptions {
            receives: 8,
            ..PairOptions::default()
        };
        let pair = stream.queue_pair(&self.domain, &settings(), &options);
        let pair = pair.expect("there is room");
        for id in 0..8 {
            let memory = self.context.allocate(64).expect("memory");
            pair.post_receive(id, memory).expect("posted");
        }
        pair.begin(b"").expect("a Request");
        self.poll();
        self.exchange(&mut peer);
        assert!(peer.is_started(), "{script:?}: no Request");
        self.begin(script, &peer);
        self.schedule.is_on.set(true);
        for _ in 0..ROUNDS {
            self.poll();
            self.exchange(&mut peer);
            // An error is a reset: what the peer learns of it comes below.
            if !matches!(pair.poll_started(), Ok(None)) {
                break;
            }
            // A Reply that was lost is sent again.
            for frame in peer.unacknowledged() {
                self.push(frame);
            }
        }
        self.schedule.is_on.set(false);
        self.arrive_rest();
        // The peer may send FPDUs after this one (START-014).
        let mut memory = self.context.allocate(4).expect("memory");
        memory.write(0, b"goes").expect("it fits");
        let payload = [memory.part(0..4).expect("all of it")];
        // If it is reset already, nothing can be posted.
        let _ = pair.post_send(1, &SendOperation::send(&payload));
        self.finish(script, &mut peer, Some(pair))
    }
}
