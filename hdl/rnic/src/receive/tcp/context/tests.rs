//! Contexts of connections: the last write is loaded.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};

fn context(random: &mut Random) -> TcpContext {
    TcpContext {
        rcv_nxt: random.wide(),
        window: random.wide(),
        answers: random.wide(),
        ..TcpContext::default()
    }
}

/// A frame every sixth cycle, of few connections: many follow one of the same connection, whose
/// context is then in the register only.
#[test]
fn loads_the_last_write_or_the_shown_context() {
    let mut kept = vec![TcpContext::default(); 1024];
    let (mut cycle, mut connection, mut before) = (0, 0, 0);
    let (mut forwarded, mut shown) = (0, 0);
    let mut showing = None;
    let uut = ContextStore::default();
    lockstep!("context_store", uut, 12_000, |uut, random| {
        (uut.take.next, uut.hold.next) = (false, false);
        (uut.write.next, uut.show.next) = (false, false);
        uut.updated.next = context(random);
        match cycle % 6 {
            0 => {
                (before, connection) = (connection, 37 * random.below(3));
                uut.connection.next = connection.into();
                uut.take.next = true;
            }
            2 => {
                assert_eq!(uut.loaded.val(), kept[connection as usize]);
                forwarded += usize::from(before == connection);
            }
            // Held, and shown to those who look, but not written.
            3 if random.chance(1, 4) => {
                (uut.hold.next, uut.show.next) = (true, true);
                showing = Some(uut.updated.next);
            }
            4 => {
                let stored = kept[connection as usize];
                assert_eq!(uut.stored.val(), stored);
                shown += usize::from(showing.is_some());
                let expected = showing.take().unwrap_or(stored);
                assert_eq!(uut.loaded.val(), expected);
            }
            5 => {
                (uut.hold.next, uut.write.next) = (true, random.chance(3, 4));
                uut.owner.next = connection.into();
                if uut.write.next {
                    kept[connection as usize] = uut.updated.next;
                }
            }
            _ => {}
        }
        cycle += 1;
    });
    assert!(forwarded > 200 && shown > 200, "{forwarded}, {shown}");
}
