//! A world for two ends, and calls through it until all are over.
use crate::harness::{Ask, World, AREAS, GET, LIST, LONG_PUT, NULL, PUT};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rpcrdma::fabric::{self, Faults};
use rpcrdma::{CallId, Event, Settings, SubmitError};

/// A way for two ends to be.
#[derive(Clone, Copy)]
pub struct Mode {
    pub name: &'static str,
    has_private_data: bool,
    read_lists: bool,
    remote_invalidation: bool,
    credits: u32,
}

pub const MODES: [Mode; 4] = [
    mode("RFC 8166", true, false, true, 8),
    mode("no invalidation", true, false, false, 3),
    mode("RFC 5666, DONE", false, true, false, 2),
    mode("RFC 5666, 1 KiB", false, false, false, 5),
];

const fn mode(
    name: &'static str,
    has_private_data: bool,
    read_lists: bool,
    remote_invalidation: bool,
    credits: u32,
) -> Mode {
    Mode {
        name,
        has_private_data,
        read_lists,
        remote_invalidation,
        credits,
    }
}

fn world(mode: Mode, seed: u64, faults: Faults) -> World {
    let settings = Settings {
        credits: mode.credits,
        read_lists: mode.read_lists,
        remote_invalidation: mode.remote_invalidation,
        attempts_max: u32::MAX,
        ..Settings::default()
    };
    let fabric = fabric::Settings {
        seed,
        reads: 1,
        entries: 8,
        sends: 64,
        watches_sources: true,
        faults,
        ..fabric::Settings::default()
    };
    let mut world = World::new(fabric, settings, settings);
    world.is_stepped = true;
    world.answers = false;
    if !mode.has_private_data {
        world.peer_data = [None, None];
    }
    world.connect();
    world
}

/// Calls by their areas.
struct Run {
    world: World,
    random: ChaCha8Rng,
    read_lists: bool,
    calls: [Option<(CallId, Ask)>; AREAS as usize],
    submitted: u64,
    completed: u64,
    octets: u64,
}

impl Run {
    fn new(mode: Mode, seed: u64, faults: Faults) -> Self {
        Self {
            world: world(mode, seed, faults),
            random: ChaCha8Rng::seed_from_u64(seed),
            read_lists: mode.read_lists,
            calls: [None; AREAS as usize],
            submitted: 0,
            completed: 0,
            octets: 0,
        }
    }

    /// As many octets of one length as of twice it; 1 MiB and around now and then.
    fn length(&mut self) -> u32 {
        let top = self.random.random_range(0..=20);
        let length = (1_u32 << top) - self.random.random_range(0..1 << top);
        match self.random.random_range(0..10) {
            0 => 0,
            1 => (1 << top) - 1,
            2 => 1 << top,
            _ => length,
        }
    }

    fn submit(&mut self) {
        let Some(area) = self.calls.iter().position(Option::is_none) else {
            return;
        };
        let procedure = [NULL, PUT, GET, GET, PUT, LIST, LONG_PUT][self.random.random_range(0..7)];
        let length = match procedure {
            LIST => self.length().min(40_000),
            LONG_PUT => self.length().min(5_000),
            _ => self.length(),
        };
        let offset = self.random.random_range(0..4_096);
        let ask = Ask {
            procedure,
            offset,
            length,
            area: area as u32,
        };
        // Without a result the octets come inline, in the reply chunk, or in a read list.
        let has_result = self.random.random_bool(0.8) || length > 40_000;
        self.world.offers_reply = !self.read_lists || self.random.random_bool(0.5);
        match self.world.submit_with(ask, has_result) {
            Ok(call) => {
                self.calls[area] = Some((call, ask));
                self.submitted += 1;
            }
            Err(SubmitError::Full) => {}
            Err(error) => panic!("{ask:?}: {error}"),
        }
    }

    fn take_events(&mut self) {
        let mut told = std::mem::take(&mut self.world.told);
        for event in told.drain(..) {
            match event {
                Event::Replied(call) => {
                    let is_it = |slot: &&mut Option<_>| slot.is_some_and(|(id, _)| id == call);
                    let slot = self.calls.iter_mut().find(is_it).expect("a call of ours");
                    let (_, ask) = slot.take().expect("it is not empty");
                    self.world.check(call, ask);
                    self.completed += 1;
                    self.octets += u64::from(ask.length);
                }
                Event::Failed(_, failure) => panic!("a call failed: {failure}"),
                Event::Released(_) | Event::Disconnected => {}
                Event::Call(_) => unreachable!("calls are answered or kept open"),
            }
        }
        self.world.told = told;
    }

    /// Answer one of the calls that the server has, in any order.
    fn answer(&mut self) {
        if !self.world.open.is_empty() {
            let at = self.random.random_range(0..self.world.open.len());
            let id = self.world.open.swap_remove(at);
            self.world.answer(id);
        }
    }

    fn reconnect(&mut self) {
        if !self.world.fabric.is_open(self.world.client.end) {
            self.world.reconnect();
        }
    }

    /// Everything that is left, without new calls.
    fn finish(&mut self) {
        loop {
            let mut any = self.world.poll() || self.world.fabric.step();
            any |= !self.world.open.is_empty();
            self.answer();
            self.take_events();
            if !self.world.fabric.is_open(self.world.client.end) {
                self.reconnect();
                any = true;
            }
            if !any {
                break;
            }
        }
        assert!(self.calls.iter().all(Option::is_none), "a call never ended");
        self.world.assert_clean();
        let counters = self.world.fabric.counters(self.world.server.host);
        assert_eq!(
            counters.refused_accesses + counters.missing_receives,
            0,
            "{counters:?}"
        );
        let sides = [&self.world.client, &self.world.server];
        for counters in sides.map(|side| self.world.fabric.counters(side.host)) {
            assert_eq!(
                counters.changed_sources + counters.excess_reads,
                0,
                "{counters:?}"
            );
        }
    }
}

/// The same few calls, cut after each step in turn.
fn cut_at_every_step(mode: Mode, seed: u64) -> u64 {
    for cut in 0.. {
        let mut run = Run::new(mode, seed, Faults::default());
        for _ in 0..6 {
            run.submit();
        }
        let mut steps = 0;
        loop {
            let mut any = run.world.poll();
            run.take_events();
            if steps == cut {
                break;
            }
            any |= run.world.fabric.step() || !run.world.open.is_empty();
            run.answer();
            steps += 1;
            if !any {
                return cut;
            }
        }
        let end = run.world.client.end;
        rpcrdma::verbs::Verbs::close(&mut run.world.fabric.end(end));
        run.finish();
    }
    unreachable!("a few calls end after some steps")
}

/// Everything for one mode: its line.
pub fn soak(mode: Mode, calls: u64, seed: u64) -> String {
    let steps = cut_at_every_step(mode, seed);
    let faults = Faults {
        cut_in: 500,
        collision_in: 7,
    };
    let mut run = Run::new(mode, seed, faults);
    while run.completed < calls {
        match run.random.random_range(0..16) {
            0..4 if run.submitted < calls => run.submit(),
            4..7 => run.answer(),
            7 => {
                let grant = run.random.random_range(0..=mode.credits);
                run.world.server.endpoint.set_grant_max(grant);
            }
            _ => {}
        }
        run.world.now += 10;
        run.world.poll();
        run.world.fabric.step();
        run.take_events();
        run.reconnect();
    }
    run.finish();
    let (client, server) = (run.world.client.endpoint, run.world.server.endpoint);
    format!(
        "{:<16} {:>8} calls {:>6} MiB {:>6} connections {:>8} again {:>8} waits {:>6} DONEs {:>5} \
         cuts in turn",
        mode.name,
        run.completed,
        run.octets >> 20,
        client.counters().disconnects + 1,
        client.counters().calls_repeated,
        client.counters().entry_waits + server.counters().entry_waits,
        server.counters().dones_received,
        steps,
    )
}
