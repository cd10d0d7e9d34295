//! Applies conditions: the device's configuration, and which conditions it meets.

use super::{Condition, Conditions, Met, FOUR_GIB, LOW_PIECES_ADDRESS, LOW_RINGS_ADDRESS};
use rnic_driver::Config;

impl Conditions {
    /// `config` under these conditions.
    pub fn config(&self, config: Config) -> Config {
        let out_of_order_pages = config.out_of_order_pages.min(self.ooo_pages_max);
        Config {
            max_payload_octets: self.max_payload_octets,
            host_slots_log2: self.host_slots_log2,
            host_slot_octets_log2: self.host_slot_octets_log2,
            event_entries_log2: self.event_entries_log2,
            event_delay_log2: self.event_delay_log2,
            out_of_order_pages,
            out_of_order_share: config.out_of_order_share.min(self.ooo_share_max),
            ..config
        }
    }

    /// What is met by the device as a whole, which `config` sets up.
    pub fn of_device(&self, config: &Config) -> Met {
        let late = self.surroundings.late_frames > 1;
        let pieces = self.pieces_address;
        let rings = self.surroundings.rings_address;
        let met = [
            (Condition::LateDriver, late),
            (Condition::SmallHostRing, config.host_slots_log2 <= 4),
            (Condition::SmallHostSlots, config.host_slot_octets_log2 < 14),
            (
                Condition::SmallShare,
                config.out_of_order_share < config.out_of_order_pages,
            ),
            (Condition::SmallEventRing, config.event_entries_log2 <= 2),
            (Condition::DelayedEvents, config.event_delay_log2 > 0),
            (Condition::Payload128, config.max_payload_octets == 128),
            (Condition::Payload512, config.max_payload_octets == 512),
            (Condition::LowPieces, pieces == LOW_PIECES_ADDRESS),
            (
                Condition::CrossingPieces,
                pieces != LOW_PIECES_ADDRESS && pieces < FOUR_GIB,
            ),
            (Condition::LowRings, rings == LOW_RINGS_ADDRESS),
            (
                Condition::CrossingRings,
                rings != LOW_RINGS_ADDRESS && rings < FOUR_GIB,
            ),
        ];
        let met = met.into_iter().filter(|&(_, is_met)| is_met);
        met.map(|(condition, _)| (condition, 1)).collect()
    }

    /// May the host ring be full though it is emptied after each batch of frames?
    pub fn host_ring_is_small(&self) -> bool {
        self.host_slots_log2 < Config::default().host_slots_log2
    }

    /// Do connections refuse octets beyond a gap, or beyond a window, so that what follows waits?
    pub fn leaves_gaps(&self) -> bool {
        let out_of_order = self.ooo_share_max.min(self.ooo_pages_max);
        self.windows.0 > 0.0 || out_of_order < Config::default().out_of_order_pages
    }

    /// Protection Domain of a flow: its own.
    pub fn domain(&self, flow: usize) -> u16 {
        flow as u16 ^ self.domain_mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::conditions::{foreign_connection, RegionCondition};
    use rnic_abi::limits::MAX_RECEIVE_WINDOW;
    use rnic_driver::QueueId;

    #[test]
    fn without_a_seed_the_device_gets_what_the_capture_needs() {
        let conditions = Conditions::default();
        // The traffic decides when an event is due, not the time.
        let config = Config {
            event_delay_log2: 0,
            ..Config::default()
        };
        assert_eq!(conditions.config(config), config);
        assert_eq!(conditions.of_device(&config), Met::new());
        assert_eq!(conditions.window(3), MAX_RECEIVE_WINDOW);
        assert_eq!(conditions.domain(3), 3);
        assert_eq!(conditions.completion_queue(3), QueueId(0));
        assert_eq!(conditions.region(3, 0x1234), RegionCondition::default());
        assert_eq!(conditions.buffer(3, 0, 7), 0);
    }

    #[test]
    fn a_foreign_connection_differs_in_a_bit_and_is_no_flows() {
        for own in 0..128 {
            for bit in 0..16 {
                let other = foreign_connection(own, bit, 128);
                assert_eq!((own ^ other).count_ones(), 1);
                assert!((128..1024).contains(&other));
            }
        }
    }
}
