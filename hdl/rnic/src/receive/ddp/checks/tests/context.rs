//! Stream contexts against a plain table, with writes of driver and FPDUs.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random};

#[test]
fn state_follows_the_last_writer_and_the_profile_the_driver() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(StreamContext::default());
    let mut model = [(0u64, false, false, false, 0u64); 16];
    for step in 0..600 {
        let connection = random.below(16);
        let entry = &mut model[connection as usize];
        uut.writes.next = TableWrites::default();
        uut.mark.next = false;
        match random.below(3) {
            0 => {
                *entry = (
                    random.below(1 << 16),
                    random.chance(1, 2),
                    false,
                    true,
                    random.below(16),
                );
                uut.writes.next.completion_queue = entry.4.into();
                uut.writes.next.context = true;
                uut.writes.next.index = (connection * 68).into();
                uut.writes.next.profile = StreamProfile {
                    pd: entry.0.into(),
                    version: entry.1,
                };
            }
            1 => {
                (entry.2, entry.3) = (random.chance(1, 2), false);
                uut.mark.next = true;
                uut.mark_connection.next = (connection * 68).into();
                uut.mark_error.next = entry.2;
                uut.mark_queue.next = entry.4.into();
            }
            _ => {}
        }
        uut.tick();
        uut.writes.next = TableWrites::default();
        uut.mark.next = false;
        let connection = random.below(16);
        uut.connection.next = (connection * 68).into();
        uut.ticks(2);
        let (profile, state) = (uut.profile.val(), uut.state.val());
        let seen = (
            profile.pd.to_u64(),
            profile.version,
            state.in_error,
            state.is_first,
            state.completion_queue.to_u64(),
        );
        assert_eq!(seen, model[connection as usize], "step {step}");
    }
}
