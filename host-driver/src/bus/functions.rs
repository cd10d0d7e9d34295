//! The PCI functions of this machine that could be a Ferrowarp RNIC, as Linux shows them.
//!
//! Nothing is changed and no function is opened. Only whether a group is in use can be asked in no
//! other way than by opening the group's file for a moment: Linux lets one process have it.

use super::sysfs::{link_name, Places, DRIVER};
use rnic_abi::pci::{DEVICE_ID, VENDOR_ID};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Class codes of PCI bridges begin so; Linux' driver of ports leaves the group to others.
const BRIDGE_CLASS: &str = "0x0604";

/// A PCI function with the ids of a Ferrowarp RNIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFunction {
    /// Domain, bus, device and function: `vfio:` before it is its address.
    pub function: String,
    /// The driver it is bound to.
    pub driver: Option<String>,
    /// Its IOMMU group.
    pub group: Option<String>,
    /// The functions that keep the group from VFIO: bound to a driver of Linux.
    pub blocked_by: Vec<String>,
    /// Whether a process has the group open; `None`: it cannot be found out, since the function is
    /// not bound to `vfio-pci`, or this user may not open its group.
    pub in_use: Option<bool>,
}

impl FoundFunction {
    /// VFIO can open its group: there is an IOMMU, and Linux uses no function of the group.
    pub fn is_viable(&self) -> bool {
        self.group.is_some() && self.blocked_by.is_empty()
    }
}

/// The functions with the ids of a Ferrowarp RNIC, in the order of their names. The ids are set
/// aside for tests ([`DEVICE_ID`]), so a function may be other hardware: opening it shows.
///
/// # Errors
/// Those of reading sysfs. A machine without PCI has no functions.
pub fn functions() -> io::Result<Vec<FoundFunction>> {
    functions_in(&Places::default())
}

fn functions_in(places: &Places) -> io::Result<Vec<FoundFunction>> {
    let entries = match fs::read_dir(&places.functions) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        // One that is removed meanwhile has no ids.
        let folder = entry.path();
        let ids = [id(&folder, "vendor"), id(&folder, "device")];
        if ids != [Some(VENDOR_ID), Some(DEVICE_ID)] {
            continue;
        }
        let driver = link_name(&folder.join("driver"));
        let group = link_name(&folder.join("iommu_group"));
        let in_use = match (&driver, &group) {
            (Some(driver), Some(group)) if driver == DRIVER => is_in_use(places, group),
            _ => None,
        };
        found.push(FoundFunction {
            function: entry.file_name().to_string_lossy().into_owned(),
            driver,
            group,
            blocked_by: blocking(&folder),
            in_use,
        });
    }
    found.sort_by(|one, other| one.function.cmp(&other.function));
    Ok(found)
}

fn id(folder: &Path, name: &str) -> Option<u16> {
    let text = fs::read_to_string(folder.join(name)).ok()?;
    u16::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// Functions of the same group that a driver of Linux has.
fn blocking(folder: &Path) -> Vec<String> {
    let Ok(members) = fs::read_dir(folder.join("iommu_group/devices")) else {
        return Vec::new();
    };
    let members = members.flatten().filter(|member| {
        let driver = link_name(&member.path().join("driver"));
        let class = fs::read_to_string(member.path().join("class"));
        let is_bridge = class.is_ok_and(|class| class.starts_with(BRIDGE_CLASS));
        let takes_group = |driver: &str| !driver.starts_with("vfio") && driver != "pci-stub";
        !is_bridge && driver.as_deref().is_some_and(takes_group)
    });
    let mut names: Vec<String> = members
        .map(|member| member.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A group's file can be open once.
fn is_in_use(places: &Places, group: &str) -> Option<bool> {
    let file = places.container.with_file_name(group);
    match OpenOptions::new().read(true).write(true).open(file) {
        Ok(_) => Some(false),
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Some(true),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::testing::TestFolder;
    use std::os::unix::fs::symlink;

    fn function(places: &Places, name: &str, ids: [&str; 2]) -> std::path::PathBuf {
        let folder = places.functions.join(name);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("vendor"), ids[0]).expect("a file");
        fs::write(folder.join("device"), ids[1]).expect("a file");
        folder
    }

    #[test]
    fn functions_are_found_with_what_keeps_them_from_vfio() {
        let folder = TestFolder::new("functions");
        let places = Places {
            functions: folder.path().join("devices"),
            container: folder.path().join("vfio/vfio"),
        };
        assert_eq!(functions_in(&places).expect("no PCI"), []);
        let ours = ["0x1209\n", "0x0001\n"];
        function(&places, "0000:00:1f.0", ["0x8086\n", "0x0001\n"]);
        function(&places, "0000:02:00.0", ours);
        let bound = function(&places, "0000:01:00.0", ours);
        let group = folder.path().join("groups/17");
        let members = group.join("devices");
        fs::create_dir_all(&members).expect("a folder");
        symlink(&group, bound.join("iommu_group")).expect("a link");
        symlink("../drivers/vfio-pci", bound.join("driver")).expect("a link");
        symlink(&bound, members.join("0000:01:00.0")).expect("a link");
        let port = function(&places, "0000:00:01.0", ["0x8086\n", "0x1901\n"]);
        fs::write(port.join("class"), "0x060400\n").expect("a file");
        symlink("../drivers/pcieport", port.join("driver")).expect("a link");
        symlink(&port, members.join("0000:00:01.0")).expect("a link");
        fs::create_dir_all(folder.path().join("vfio")).expect("a folder");
        fs::write(folder.path().join("vfio/17"), "").expect("a file");
        let found = functions_in(&places).expect("it is read");
        let free = FoundFunction {
            function: "0000:01:00.0".to_owned(),
            driver: Some("vfio-pci".to_owned()),
            group: Some("17".to_owned()),
            blocked_by: Vec::new(),
            in_use: Some(false),
        };
        let unbound = FoundFunction {
            function: "0000:02:00.0".to_owned(),
            driver: None,
            group: None,
            blocked_by: Vec::new(),
            in_use: None,
        };
        assert!(free.is_viable() && !unbound.is_viable());
        assert_eq!(found, [free, unbound]);
        // Another function of the group, which Linux uses.
        let other = function(&places, "0000:01:00.1", ["0x8086\n", "0x10d3\n"]);
        symlink("../drivers/e1000e", other.join("driver")).expect("a link");
        symlink(&other, members.join("0000:01:00.1")).expect("a link");
        let found = functions_in(&places).expect("it is read");
        assert_eq!(found[0].blocked_by, ["0000:01:00.1"]);
        assert!(!found[0].is_viable());
    }
}
