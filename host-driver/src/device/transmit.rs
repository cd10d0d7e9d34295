//! Frames that the device sends.

use super::Device;
use crate::device::access::{Bar, Dma, Registers};
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::device::rings::{TransmitFrame, Transmitted, UnitRing};
use rnic_abi::registers::{TX_CONTROL, TX_CONTROL_LOOPBACK};

impl<B: Bar, D: Dma> Device<B, D> {
    /// Hand a frame to the device, which gathers it from its pieces, inserts what it is asked for,
    /// and sends it. Each ring keeps the order of its frames, and has one result for each
    /// ([`Device::poll_transmitted`]). Until then the memory that the pieces name must stay as it
    /// is; octets that were passed by reference are copied.
    ///
    /// # Errors
    /// [`DriverError::Frame`], [`DriverError::TransmitOff`], [`DriverError::TransmitFull`],
    /// [`DriverError::TransmitStopped`], [`DriverError::TransmitReport`]: the frame is on no ring.
    /// [`DriverError::Gone`] only if that was known before.
    pub fn transmit(
        &mut self,
        ring: TransmitRing,
        frame: &TransmitFrame,
    ) -> Result<(), DriverError> {
        self.stage_frame(ring, frame)?;
        self.announce_frames(ring)
    }

    /// Put a frame on a ring without telling the device: [`Device::announce_frames`] tells it of
    /// all that were, by one register write. As [`Device::transmit`] otherwise.
    ///
    /// # Errors
    /// As there.
    pub fn stage_frame(
        &mut self,
        ring: TransmitRing,
        frame: &TransmitFrame,
    ) -> Result<(), DriverError> {
        let units = unit_ring(&mut self.transmit_rings, ring)?;
        if let Err(gone) = self.bar.check() {
            frame.check().map_err(DriverError::Frame)?;
            return Err(gone);
        }
        units.stage(&mut self.dma, frame)
    }

    /// Tell the device of the frames that were staged on a ring.
    ///
    /// # Errors
    /// [`DriverError::TransmitOff`]; [`DriverError::Gone`] if that was known before.
    pub fn announce_frames(&mut self, ring: TransmitRing) -> Result<(), DriverError> {
        let units = unit_ring(&mut self.transmit_rings, ring)?;
        units.announce(&mut self.bar)
    }

    /// Frames on a ring that the device has not been told of.
    pub(crate) fn staged_frames(&self, ring: TransmitRing) -> usize {
        let units = self.transmit_rings[ring.number() as usize].as_ref();
        units.map_or(0, UnitRing::staged)
    }

    /// Whether [`Device::transmit`] would find room for a frame of `pieces` pieces, of which some
    /// are copied, of `copied` octets each. A ring that does not exist has none.
    pub(crate) fn has_transmit_room(
        &self,
        ring: TransmitRing,
        pieces: usize,
        copied: &[usize],
    ) -> bool {
        let units = self.transmit_rings[ring.number() as usize].as_ref();
        units.is_some_and(|units| units.has_room(pieces, copied))
    }

    /// The next result of a frame, if there is one, those of the control ring first. Of a device
    /// that is gone as [`Device::poll_completion`].
    ///
    /// # Errors
    /// [`DriverError::TransmitReport`] once there is no other result: the device said what cannot
    /// be of one ring. Of the frames left there it is not known what became of them.
    pub fn poll_transmitted(&mut self) -> Result<Option<Transmitted>, DriverError> {
        let mut failure = None;
        for ring in self.transmit_rings.iter_mut().flatten() {
            match ring.poll(&self.dma) {
                Ok(None) => {}
                Ok(Some(transmitted)) => return Ok(Some(transmitted)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Set up a transmit ring again that has stopped. Results of its earlier frames stay to be
    /// polled, `NotSent` for those that it did not reach.
    ///
    /// # Errors
    /// [`DriverError::TransmitRunning`], [`DriverError::TransmitOff`],
    /// [`DriverError::TransmitReport`]; [`DriverError::Gone`].
    pub fn restart_transmit(&mut self, ring: TransmitRing) -> Result<(), DriverError> {
        let units = unit_ring(&mut self.transmit_rings, ring)?;
        units.restart(&mut self.bar, &mut self.dma)
    }

    /// Receive what is transmitted, instead of sending it, or end that. Frames from the wire are
    /// dropped meanwhile.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn set_loopback(&mut self, is_on: bool) -> Result<(), DriverError> {
        let control = self.bar.read(TX_CONTROL)?;
        let control = match is_on {
            true => control | TX_CONTROL_LOOPBACK,
            false => control & !TX_CONTROL_LOOPBACK,
        };
        self.bar.write(TX_CONTROL, control)
    }
}

fn unit_ring(
    rings: &mut [Option<UnitRing>],
    ring: TransmitRing,
) -> Result<&mut UnitRing, DriverError> {
    let found = rings[ring.number() as usize].as_mut();
    found.ok_or(DriverError::TransmitOff { ring })
}

#[cfg(test)]
mod tests;
