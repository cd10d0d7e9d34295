//! What an idle connection costs, to the octet. A program of its own: a process has one allocator,
//! and that of other tests counts for the whole of it.

use allocation_counter::measure;
use rnic_tcp::{
    Connection, Flags, Head, Options, Output, Segment, SeqNumber, Settings, State, TimeOut,
};

const IDLE_US: u64 = 10_000_000;
/// Sequence numbers before the first octet of either end.
const ISS: SeqNumber = SeqNumber(u32::MAX - 99);
const IRS: SeqNumber = SeqNumber(7_000);

/// A segment of the peer's without payload.
fn segment(syn: bool) -> Segment<'static> {
    let head = Head {
        seq: if syn { IRS } else { IRS + 1 },
        ack: ISS + 1,
        flags: Flags {
            ack: true,
            syn,
            fin: false,
            rst: false,
            psh: false,
        },
        window: 10_000,
        options: Options::default(),
    };
    let payload = &[];
    Segment { head, payload }
}

/// The number of the one segment that is sent at `now`.
fn sent(tcp: &mut Connection, now: u64) -> SeqNumber {
    let mut sent = Vec::new();
    while let Some(output) = tcp.poll(now) {
        if let Output::Segment(outgoing) = output {
            sent.push(outgoing.head.seq);
        }
    }
    assert_eq!(sent.len(), 1, "{sent:?}");
    sent[0]
}

/// TCP-017: An hour of idleness: 360 probes, each at its second and answered, and not an octet more
/// in use at the end.
#[test]
fn an_idle_hour_neither_drifts_nor_leaks() {
    let mut settings = Settings::default();
    let set = settings.time_outs.set(TimeOut::KeepaliveIdle, IDLE_US);
    set.expect("in range");
    let mut tcp = Connection::connect(settings, ISS, 0).expect("settings are in range");
    assert_eq!(sent(&mut tcp, 0), ISS, "its SYN");
    tcp.on_segment(&segment(true), 0);
    assert_eq!(sent(&mut tcp, 0), ISS + 1, "the last of the handshake");
    let heap = measure(|| {
        for probe in 1..=360 {
            let now = tcp.deadline_us().expect("keepalive is on");
            assert_eq!(now, probe * IDLE_US);
            let seq = sent(&mut tcp, now);
            assert_eq!(seq, ISS, "below SND.NXT, which the peer answers");
            tcp.on_segment(&segment(false), now);
            let answer = std::iter::from_fn(|| tcp.poll(now)).next();
            assert!(answer.is_none(), "{answer:?}");
        }
    });
    assert_eq!(tcp.state(), State::Established);
    assert!(heap.bytes_current < 256, "{} octets", heap.bytes_current);
}
