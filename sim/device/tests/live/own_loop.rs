//! An endpoint that its application runs: one file and one deadline, and nothing polled in between.

use crate::scene::{completion, event, octets, post_receives, End, PATIENCE, PORT};
use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointSettings, ExpectedRequest, PairEvent, PairOptions, QueuePair, SendOperation,
    WorkCompletion, WorkKind,
};
use rnic_driver::verbs::{Context, MemoryRegion};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup;
use rnic_tcp::TimeOut;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::net::IpAddr;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// In which nothing happens that is due later.
const SILENCE: Duration = Duration::from_millis(200);

/// An endpoint, and its loop.
struct Looped {
    endpoint: Endpoint,
    context: Context,
    begun: Instant,
}

impl Looped {
    fn open(link: &str, address: IpAddr) -> Self {
        rnic_device::provide_simulator();
        let config = Endpoint::device_config();
        let context = Context::open(&format!("sim:model,{link}"), config).expect("it opens");
        let mut settings = EndpointSettings::new(Settings::new(
            [2, 0, 0, 0, 0, 1],
            vec![AddressPrefix { address, bits: 24 }],
        ));
        let time_outs = &mut settings.tcp.time_outs;
        time_outs.set(TimeOut::TimeWait, 50_000).expect("in range");
        Self {
            endpoint: Endpoint::without_thread(&context, &settings).expect("it begins"),
            context,
            begun: Instant::now(),
        }
    }

    fn turn(&self) {
        let now_us = self.begun.elapsed().as_micros() as u64;
        self.endpoint.poll(now_us).expect("it is there");
    }

    /// Wait for the file, `most` at the longest; whether it is readable.
    fn is_readable_within(&self, most: Duration) -> bool {
        let left = Timespec {
            tv_sec: most.as_secs() as i64,
            tv_nsec: most.subsec_nanos().into(),
        };
        let mut files = [PollFd::new(&self.endpoint, PollFlags::IN)];
        poll(&mut files, Some(&left)).expect("it is not interrupted") > 0
    }

    /// Run until `look` finds something. Without the file or the deadline it would wait in vain.
    fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            self.turn();
            if let Some(found) = look() {
                return found;
            }
            let now_us = self.begun.elapsed().as_micros() as u64;
            let due = self.endpoint.deadline_us();
            let left = due.map(|at| Duration::from_micros(at.saturating_sub(now_us)));
            let is_readable = self.is_readable_within(left.or(PATIENCE).expect("either"));
            assert!(is_readable || due.is_some(), "it waits for nothing");
        }
    }

    fn completion(&self, pair: &QueuePair) -> WorkCompletion {
        self.until(|| pair.poll_completion().expect("it is there"))
    }

    fn event(&self, pair: &QueuePair) -> PairEvent {
        self.until(|| pair.poll_event().expect("it is there"))
    }
}

fn send(pair: &QueuePair, region: &MemoryRegion) {
    let payload = [region.part(0..region.octets()).expect("all of it")];
    let operation = SendOperation::Send {
        payload: &payload,
        solicited: false,
        invalidate_stag: None,
    };
    pair.post_send(7, &operation).expect("posted");
}

fn folder_and_link() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("wire").display().to_string();
    (folder, link)
}

/// The other end, with a thread: it opens, says `text`, hears it again, and closes.
fn talk(end: &End, peer: IpAddr, text: &[u8]) {
    let stream = end.endpoint.connect((peer, PORT).into());
    let stream = stream.expect("it connects");
    let options = PairOptions::default();
    let pair = stream.queue_pair(&end.domain, &startup::Settings::default(), &options);
    let pair = pair.expect("there is room");
    post_receives(end, &pair, 1);
    assert_eq!(pair.start(b"hello").expect("a Reply"), b"welcome");
    assert_eq!(event(&pair), PairEvent::Established);
    send(&pair, &end.region(text));
    let done = [completion(&pair), completion(&pair)];
    assert!(done.iter().all(|done| done.status == Status::Success));
    let heard = done.iter().find(|done| done.kind == WorkKind::Receive);
    assert_eq!(heard.expect("the answer").message(), text);
    pair.disconnect().expect("it is open");
    assert_eq!(event(&pair), PairEvent::HalfClosed);
    assert_eq!(event(&pair), PairEvent::Closed);
}

/// A connection from its SYN to its end, on one thread that sleeps whenever there is nothing to do.
#[test]
fn a_loop_of_the_application_waits_for_one_file_and_a_deadline() {
    let (_folder, link) = folder_and_link();
    let own: IpAddr = [192, 0, 2, 1].into();
    let looped = Looped::open(&format!("unix:{link}"), own);
    let domain = looped.context.protection_domain().expect("the first");
    let other = End::open("model", 2, &format!("unix-connect:{link}"), false);
    let text = octets(3_000, 5);
    let listener = looped.endpoint.listen((own, PORT).into());
    let listener = listener.expect("it listens");
    std::thread::scope(|scope| {
        let talking = scope.spawn(|| talk(&other, own, &text));
        let stream = looped.until(|| listener.poll().expect("it listens"));
        let expected = stream.expect_request(&startup::Settings::default());
        let mut expected: Option<ExpectedRequest> = Some(expected.expect("it is open"));
        let request = looped.until(|| match expected.take()?.poll().expect("a Request") {
            Ok(request) => Some(request),
            Err(waiting) => {
                expected = Some(waiting);
                None
            }
        });
        let pair = request.queue_pair(&domain, &PairOptions::default());
        let pair = pair.expect("there is room");
        let memory = looped.context.allocate(4096).expect("memory");
        pair.post_receive(3, memory).expect("posted");
        pair.accept(b"welcome").expect("accepted");
        let received = looped.completion(&pair);
        assert_eq!((received.id, received.status), (3, Status::Success));
        assert_eq!(looped.event(&pair), PairEvent::Established);
        let message = received.message();
        let mut memory = looped.context.allocate(message.len()).expect("memory");
        memory.write(0, &message).expect("it fits");
        let region = domain.register(memory, &Default::default());
        send(&pair, &region.expect("a region"));
        assert_eq!(looped.completion(&pair).kind, WorkKind::Send);
        assert_eq!(looped.event(&pair), PairEvent::HalfClosed);
        pair.disconnect().expect("it is open");
        assert_eq!(looped.event(&pair), PairEvent::Closed);
        drop(pair);
        looped.until(|| (looped.endpoint.connections() == 0).then_some(()));
        talking.join().expect("it does not panic");
    });
    assert!(!looped.is_readable_within(SILENCE), "nothing is left to do");
    assert_eq!(looped.endpoint.deadline_us(), None);
}

/// A deadline that a call of another thread brings forward ends the wait.
#[test]
fn a_call_of_another_thread_ends_the_wait_of_the_loop() {
    let (_folder, link) = folder_and_link();
    let looped = Looped::open(&format!("unix:{link}"), [192, 0, 2, 1].into());
    looped.turn();
    assert_eq!(looped.endpoint.deadline_us(), None);
    assert!(!looped.is_readable_within(SILENCE), "nothing was called");
    // Nobody is there: what becomes due is to ask again who has that address.
    let peer = ([192, 0, 2, 77], PORT).into();
    let stream = std::thread::scope(|scope| {
        let opening = scope.spawn(|| looped.endpoint.open(peer, |_| {}));
        assert!(looped.is_readable_within(PATIENCE.expect("a time")));
        opening.join().expect("it does not panic")
    });
    looped.turn();
    assert!(looped.endpoint.deadline_us().is_some());
    assert!(!looped.is_readable_within(Duration::ZERO), "it was taken");
    drop(stream.expect("it is on its way"));
}
