//! Regions of a flow under the conditions of a playback: bound, foreign, windows of others, larger
//! or shorter than their traffic.

use super::active::Active;
use super::region::Region;
use super::run::Player;
use crate::play::compare::Piece;
use crate::play::conditions::{foreign_connection, Condition, RegionCondition};
use crate::play::difference::What;
use rnic_capture::RegionUse;
use rnic_driver::{ConnectionId, DriverError, RegionConfig};

/// Stag indices of regions that windows are opened of: no traffic names them.
const PARENT_INDEX: u32 = 0xf0_0000;

impl Player<'_> {
    /// Take the regions of a flow whose connection is closed; what is bound to that went with it.
    /// One that others use goes to the next of them.
    pub(super) fn close_regions(&mut self, flow: usize, active: Active) -> Result<(), DriverError> {
        for shared in self.shared.values_mut() {
            shared.users.remove(&flow);
        }
        for region in active.regions {
            let heir = self.shared.get(&region.place);
            let heir = heir.and_then(|shared| shared.users.first().copied());
            if let Some(heir) = heir.and_then(|heir| self.active.get_mut(&heir)) {
                heir.regions.push(region);
                continue;
            }
            self.shared.remove(&region.place);
            let stag = region.config.stag;
            if region.revoked || self.registered.get(&(stag >> 8)) != Some(&stag) {
                continue;
            }
            self.registered.remove(&(stag >> 8));
            match region.config.connection == Some(active.connection) {
                true => region.close_parent(&mut self.duts)?,
                false => region.deregister(&mut self.duts)?,
            }
        }
        Ok(())
    }

    /// Register the regions of a flow that is opened, as many as the device has entries for; the
    /// others follow when they are used, in place of those that are used no more.
    pub(super) fn register_first(&mut self, regions: &mut [Region]) -> Result<(), DriverError> {
        let mut order: Vec<usize> = (0..regions.len()).collect();
        order.sort_by_key(|&place| regions[place].used.map(|(first, _)| first));
        for place in order {
            let region = &mut regions[place];
            if !region.initial {
                continue;
            }
            if let (true, Some((first, _))) = (self.is_full(), region.used) {
                region.initial = false;
                region.renewals.insert(0, first);
                continue;
            }
            region.register(&mut self.duts)?;
            let stag = region.config.stag;
            self.registered.insert(stag >> 8, stag);
        }
        Ok(())
    }

    /// Whether every entry of the region table is taken.
    fn is_full(&self) -> bool {
        self.registered.len() >= self.options.sizes.regions()
    }

    /// If all entries are taken, free those of regions that no frame from `frame` on uses. All
    /// receivers are idle. What waits to be sent again may use any.
    pub(super) fn retire_regions(&mut self, frame: usize) -> Result<(), DriverError> {
        if !self.is_full() || !self.resend.is_empty() {
            return Ok(());
        }
        let registered = &mut self.registered;
        for region in self.active.values().flat_map(|active| &active.regions) {
            let (stag, used) = (region.config.stag, region.used);
            let is_over = used.is_some_and(|(_, last)| last < frame) && !region.revoked;
            if is_over && registered.get(&(stag >> 8)) == Some(&stag) {
                region.deregister(&mut self.duts)?;
                registered.remove(&(stag >> 8));
            }
        }
        Ok(())
    }

    /// The region of `learned`, in memory of its own. `alone`: no other flow uses it and no other
    /// STag has its stag_index, so that it may be bound, foreign or a window.
    pub(super) fn map_region(
        &mut self,
        flow: usize,
        connection: ConnectionId,
        mut learned: RegionUse,
        protection_domain: u16,
        alone: bool,
        place: usize,
    ) -> Result<Region, DriverError> {
        let mut condition = self.options.conditions.region(flow, learned.stag);
        if self.plan.regions[place].flows.len() > 1 {
            condition = RegionCondition::default();
        }
        if condition.never_renewed && alone && !learned.renewals.is_empty() {
            learned.renewals.clear();
            self.meet(Condition::NeverRenewed);
        }
        self.resize(&mut learned, condition.before, condition.after);
        let mut config = RegionConfig {
            stag: learned.stag,
            rights: learned.rights,
            protection_domain,
            connection: None,
            tagged_offset: learned.base,
            octets: learned.octets,
            address: 0,
        };
        let (met, offset) =
            self.give_owner(&mut config, &mut learned, &condition, connection, alone);
        met.into_iter().for_each(|condition| self.meet(condition));
        let parent = self.map_config(flow, &mut config, offset)?;
        let uses = (learned.uses.first(), learned.uses.last());
        let used = uses.0.copied().zip(uses.1.copied());
        Ok(Region {
            config,
            used,
            initial: learned.initial,
            renewals: learned.renewals,
            revoked: false,
            place,
            parent: parent.map(|parent| (parent, offset.unwrap_or(0))),
        })
    }

    /// Make `condition`'s owner the owner of a region, where the region can have it; the condition
    /// met, and the offset of a window in the region it is a window of.
    fn give_owner(
        &self,
        config: &mut RegionConfig,
        learned: &mut RegionUse,
        condition: &RegionCondition,
        connection: ConnectionId,
        alone: bool,
    ) -> (Option<Condition>, Option<u64>) {
        let windowed = alone && learned.renewals.is_empty() && learned.initial;
        // Ids are assigned from 0 on: one for each flow, and one more.
        let used = self.flows.len() + 1;
        let foreign = foreign_connection(connection.0, condition.bit, used);
        let another_domain = config.protection_domain ^ 1 << condition.bit;
        let mut offset = None;
        let met = match condition.owner {
            Some(owner @ Condition::BoundRegion) => {
                config.connection = Some(connection);
                Some(owner)
            }
            Some(owner @ Condition::MemoryWindow) if windowed => {
                config.connection = Some(connection);
                offset = Some(u64::from(condition.bit) * 7);
                Some(owner)
            }
            Some(owner @ Condition::ForeignDomain) => {
                config.protection_domain = another_domain;
                Some(owner)
            }
            Some(owner @ Condition::ForeignConnection) => {
                config.connection = Some(ConnectionId(foreign));
                Some(owner)
            }
            Some(owner @ Condition::BoundForeignDomain) => {
                config.connection = Some(connection);
                config.protection_domain = another_domain;
                Some(owner)
            }
            Some(owner @ Condition::AbsentRegion) if alone && learned.initial => {
                learned.initial = false;
                learned.renewals.clear();
                Some(owner)
            }
            _ => None,
        };
        (met, offset)
    }

    /// Give a region its memory, and that of the region it is a window of.
    fn map_config(
        &mut self,
        flow: usize,
        config: &mut RegionConfig,
        offset: Option<u64>,
    ) -> Result<Option<RegionConfig>, DriverError> {
        let Some(offset) = offset else {
            config.address = self.allocate("region", config.octets)?;
            self.add_region_piece(flow, config);
            return Ok(None);
        };
        self.parents += 1;
        let mut parent = RegionConfig {
            stag: (PARENT_INDEX + self.parents) << 8,
            rights: 0,
            connection: None,
            tagged_offset: 0,
            octets: config.octets + 2 * offset,
            ..*config
        };
        parent.address = self.allocate("region with a window", parent.octets)?;
        config.address = parent.address + offset;
        self.add_region_piece(flow, &parent);
        Ok(Some(parent))
    }

    fn add_region_piece(&mut self, flow: usize, config: &RegionConfig) {
        self.pieces.push(Piece {
            address: config.address,
            octets: config.octets.max(1) as usize,
            flow,
            what: What::Region { stag: config.stag },
            cut_short: false,
        });
    }

    /// More or fewer octets than the traffic has. An octet is taken only where there are two.
    fn resize(&mut self, region: &mut RegionUse, before: i64, after: i64) {
        let end = region.base.saturating_add(region.octets);
        if (before < 0 || after < 0) && region.octets > 1 {
            region.octets -= 1;
            region.base += u64::from(before < 0);
            return self.meet(Condition::ShorterRegion);
        }
        let before = (before.max(0) as u64).min(region.base);
        let after = (after.max(0) as u64).min(u64::MAX - end);
        if before + after > 0 {
            region.base -= before;
            region.octets += before + after;
            self.meet(Condition::LargerRegion);
        }
    }
}
