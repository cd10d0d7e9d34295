//! Why a device on a bus could not be opened, and what to do.

use crate::device::error::DriverError;
use rnic_abi::pci::{BAR0_OCTETS, DEVICE_ID, VENDOR_ID};
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use vfio_ioctls::VfioError;

/// A device that could not be opened. Nothing of it is held, except after
/// [`DriverError::ResetTimeout`] and [`DriverError::Gone`] in [`OpenError::Driver`].
#[derive(Debug, Error)]
pub enum OpenError {
    /// The address has none of the forms.
    #[error(
        "`{address}` is not the address of a device; write vfio:0000:01:00.0 for a PCI function, \
         as `lspci -D` lists it, vfio-user:PATH for the socket of a server, or \
         sim:rtl,LINK or sim:model,LINK for a simulated device of this process"
    )]
    Address {
        /// As it was given.
        address: String,
    },
    /// Linux has no VFIO.
    #[error(
        "{} does not exist: load the driver with `modprobe vfio-pci`; in a container, pass \
         /dev/vfio to it",
        path.display()
    )]
    NoVfio {
        /// The container device.
        path: PathBuf,
    },
    /// There is no such PCI function.
    #[error(
        "there is no PCI function {function}; `lspci -D -d {VENDOR_ID:04x}:{DEVICE_ID:04x}` lists \
         those that could be meant"
    )]
    NoFunction {
        /// Domain, bus, device and function.
        function: String,
    },
    /// The function is not behind an IOMMU.
    #[error(
        "{function} is in no IOMMU group, so its memory accesses cannot be restricted; enable the \
         IOMMU in the firmware (VT-d, AMD-Vi) and in Linux (`intel_iommu=on` on its command line)"
    )]
    NoIommu {
        /// Domain, bus, device and function.
        function: String,
    },
    /// Linux' VFIO has no driver of an IOMMU.
    #[error(
        "VFIO has no IOMMU driver of type 1, version 2; load it with `modprobe vfio_iommu_type1`"
    )]
    NoIommuDriver,
    /// The function has another driver, or none.
    #[error(
        "{function} is bound to {driver}, not to vfio-pci; as root: \
         `modprobe vfio-pci; cd /sys/bus/pci/devices/{function}; echo vfio-pci > driver_override; \
         [ -e driver ] && echo {function} > driver/unbind; \
         echo {function} > /sys/bus/pci/drivers_probe`"
    )]
    NotBound {
        /// Domain, bus, device and function.
        function: String,
        /// Name of its driver, or `no driver`.
        driver: String,
    },
    /// The file of the IOMMU group could not be opened.
    #[error(
        "failed to open /dev/vfio/{group}: {source}; {}",
        match source.kind() {
            io::ErrorKind::ResourceBusy =>
                "this process or another one uses a device of the group; stop it, or ask its \
                 monitor, which `rnicctl list` finds",
            _ => "run as a user who may read and write this file",
        }
    )]
    Group {
        /// Number of the group.
        group: String,
        /// Linux' reason.
        source: io::Error,
    },
    /// Another device of the group is in use by Linux.
    #[error(
        "IOMMU group {group} is not viable: Linux uses another device of it; bind each function in \
         /sys/kernel/iommu_groups/{group}/devices to vfio-pci, or unbind it from its driver"
    )]
    GroupNotViable {
        /// Number of the group.
        group: String,
    },
    /// VFIO refused something else.
    #[error("VFIO refused the function: {0}; `dmesg` may say why")]
    Vfio(#[source] VfioError),
    /// There is no server.
    #[error(
        "there is no socket {}: start the server of the device first, and check the path",
        path.display()
    )]
    NoSocket {
        /// Path of the socket.
        path: PathBuf,
    },
    /// A socket without a server, or one that does not speak vfio-user.
    #[error(
        "failed to connect to the vfio-user server at {}: {source}; check that it runs and has no \
         other client; who has the device open may have a monitor, which `rnicctl list` finds",
        path.display()
    )]
    Server {
        /// Path of the socket.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// `sim:` in a program without a simulation.
    #[error(
        "this program brings no simulated device; start `rnic serve` and open vfio-user:PATH, or, \
         in a program of your own, call rnic_device::provide_simulator() first"
    )]
    NoSimulator,
    /// The simulation of the program does not start.
    #[error("failed to start the simulated device: {reason}")]
    Simulator {
        /// As it is reported.
        reason: String,
    },
    /// The function is of another kind.
    #[error(
        "the function is {vendor:04x}:{device:04x}, a Ferrowarp RNIC is \
         {VENDOR_ID:04x}:{DEVICE_ID:04x}; check the address"
    )]
    OtherDevice {
        /// Vendor ID.
        vendor: u16,
        /// Device ID.
        device: u16,
    },
    /// BAR0 is too small for the register map.
    #[error(
        "BAR0 of the function has {octets} octets, a Ferrowarp RNIC has {BAR0_OCTETS}; the device \
         was built with another register map, or the firmware gave the BAR no addresses"
    )]
    Bar {
        /// Octets of BAR0.
        octets: u64,
    },
    /// An access to the function failed.
    #[error("failed to {action}: {source}; reset the device, or restart its server")]
    Access {
        /// What was tried.
        action: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// The function answers, and the driver could not start it.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What only VFIO itself can refuse; the other messages are where they are provoked.
    #[test]
    fn refusals_of_vfio_say_what_to_do() {
        let group = |kind: io::ErrorKind| OpenError::Group {
            group: "17".to_owned(),
            source: kind.into(),
        };
        for (error, expected) in [
            (
                group(io::ErrorKind::PermissionDenied),
                "failed to open /dev/vfio/17: permission denied; run as a user who may read and \
                 write this file",
            ),
            (
                group(io::ErrorKind::ResourceBusy),
                "failed to open /dev/vfio/17: resource busy; this process or another one uses a \
                 device of the group; stop it, or ask its monitor, which `rnicctl list` finds",
            ),
            (
                OpenError::GroupNotViable {
                    group: "17".to_owned(),
                },
                "IOMMU group 17 is not viable: Linux uses another device of it; bind each \
                 function in /sys/kernel/iommu_groups/17/devices to vfio-pci, or unbind it from \
                 its driver",
            ),
            (
                OpenError::NoIommuDriver,
                "VFIO has no IOMMU driver of type 1, version 2; load it with `modprobe \
                 vfio_iommu_type1`",
            ),
            (
                OpenError::Vfio(VfioError::GetGroupStatus),
                "VFIO refused the function: failed to get Group Status; `dmesg` may say why",
            ),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }
}
