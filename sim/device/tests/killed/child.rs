//! The process that is killed: it does what its variables say, says so, and waits for its end.

use crate::end::{own, startup, Act, End, Joined, IDLE_US, PATIENCE};
use std::io::Write;
use std::time::Duration;

/// What the child does (an [`Act`]), whether it is the initiator, and the address of its device.
pub const ACT: &str = "RNIC_CHILD_ACT";
pub const IS_INITIATOR: &str = "RNIC_CHILD_IS_INITIATOR";
pub const DEVICE: &str = "RNIC_CHILD_DEVICE";
/// What it prints: a server can be connected to; it is in the middle of what it does.
pub const LISTENS: &str = "listens";
pub const READY: &str = "ready";

fn say(what: &str) {
    println!("{what}");
    std::io::stdout().flush().expect("it is read");
}

/// No test but in the process of one.
#[test]
fn child() {
    let Ok(device) = std::env::var(DEVICE) else {
        return;
    };
    let act = std::env::var(ACT).expect("it is set");
    let act = Act::ALL
        .into_iter()
        .find(|one| format!("{one:?}") == act)
        .expect("one of them");
    let is_initiator = std::env::var_os(IS_INITIATOR).is_some();
    let end = End::open(1, &device, IDLE_US);
    let stream = if is_initiator {
        end.endpoint.connect(own(2)).expect("it connects")
    } else {
        let listener = end.endpoint.listen(own(1)).expect("it listens");
        say(LISTENS);
        listener.accept(PATIENCE).expect("it is there")
    };
    let (mut joined, mut request) = (None, None);
    match (act, is_initiator) {
        (Act::StartUp, true) => (),
        (Act::StartUp, false) => {
            request = Some(stream.request(&startup(), b"").expect("a Request"));
        }
        (act, true) => {
            let pair = joined.insert(Joined::initiate(&end, stream));
            pair.act(act);
        }
        (act, false) => {
            let pair = joined.insert(Joined::respond(&end, stream));
            pair.act(act);
        }
    }
    say(READY);
    std::thread::sleep(Duration::from_secs(120));
    drop((joined, request));
}
