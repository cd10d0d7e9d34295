//! What Linux says about a PCI function before it is opened. Only read: binding a function to a
//! driver is the administrator's.

use super::error::OpenError;
use std::fs;
use std::path::{Path, PathBuf};

/// Driver that shows functions through VFIO.
pub(crate) const DRIVER: &str = "vfio-pci";

/// Where Linux shows functions and VFIO; a test has places of its own.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// A folder for each PCI function.
    pub(crate) functions: PathBuf,
    /// VFIO's container device.
    pub(crate) container: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            functions: "/sys/bus/pci/devices".into(),
            container: "/dev/vfio/vfio".into(),
        }
    }
}

/// A function that VFIO can open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundFunction {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// Number of its IOMMU group.
    pub(crate) group: String,
}

/// Look whether VFIO can open a function.
///
/// # Errors
/// [`OpenError::NoVfio`], [`OpenError::NoFunction`], [`OpenError::NotBound`],
/// [`OpenError::NoIommu`].
pub(crate) fn check(places: &Places, function: &str) -> Result<BoundFunction, OpenError> {
    if !places.container.exists() {
        return Err(OpenError::NoVfio {
            path: places.container.clone(),
        });
    }
    let folder = places.functions.join(function);
    let function = function.to_owned();
    if !folder.exists() {
        return Err(OpenError::NoFunction { function });
    }
    let driver = link_name(&folder.join("driver"));
    if driver.as_deref() != Some(DRIVER) {
        return Err(OpenError::NotBound {
            function,
            driver: driver.unwrap_or_else(|| "no driver".to_owned()),
        });
    }
    match link_name(&folder.join("iommu_group")) {
        Some(group) => Ok(BoundFunction { folder, group }),
        None => Err(OpenError::NoIommu { function }),
    }
}

/// The last part of what a link points to.
pub(crate) fn link_name(link: &Path) -> Option<String> {
    let target = fs::read_link(link).ok()?;
    Some(target.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::testing::TestFolder;
    use std::os::unix::fs::symlink;

    const FUNCTION: &str = "0000:01:00.0";

    fn places(folder: &TestFolder) -> Places {
        Places {
            functions: folder.path().join("devices"),
            container: folder.path().join("vfio"),
        }
    }

    fn refusal(places: &Places) -> String {
        let refused = check(places, FUNCTION);
        refused.expect_err("it cannot be opened").to_string()
    }

    /// One thing after the other is put right, as the messages say.
    #[test]
    fn each_message_says_the_next_thing_to_do() {
        let folder = TestFolder::new("sysfs");
        let places = places(&folder);
        assert_eq!(
            refusal(&places),
            format!(
                "{} does not exist: load the driver with `modprobe vfio-pci`; in a container, \
                 pass /dev/vfio to it",
                places.container.display()
            )
        );
        fs::write(&places.container, "").expect("a file");
        assert_eq!(
            refusal(&places),
            "there is no PCI function 0000:01:00.0; `lspci -D -d 1209:0001` lists those that could \
             be meant"
        );
        let function = places.functions.join(FUNCTION);
        fs::create_dir_all(&function).expect("a folder");
        let commands = "as root: `modprobe vfio-pci; cd /sys/bus/pci/devices/0000:01:00.0; \
                        echo vfio-pci > driver_override; \
                        [ -e driver ] && echo 0000:01:00.0 > driver/unbind; \
                        echo 0000:01:00.0 > /sys/bus/pci/drivers_probe`";
        assert_eq!(
            refusal(&places),
            format!("0000:01:00.0 is bound to no driver, not to vfio-pci; {commands}")
        );
        let driver = function.join("driver");
        symlink("../../../bus/pci/drivers/e1000e", &driver).expect("a link");
        assert_eq!(
            refusal(&places),
            format!("0000:01:00.0 is bound to e1000e, not to vfio-pci; {commands}")
        );
        fs::remove_file(&driver).expect("it was made");
        symlink("../../../bus/pci/drivers/vfio-pci", &driver).expect("a link");
        assert_eq!(
            refusal(&places),
            "0000:01:00.0 is in no IOMMU group, so its memory accesses cannot be restricted; \
             enable the IOMMU in the firmware (VT-d, AMD-Vi) and in Linux (`intel_iommu=on` on its \
             command line)"
        );
        let group = function.join("iommu_group");
        symlink("../../../kernel/iommu_groups/17", group).expect("a link");
        let bound = BoundFunction {
            folder: function,
            group: "17".to_owned(),
        };
        assert_eq!(check(&places, FUNCTION).expect("it can be opened"), bound);
    }
}
