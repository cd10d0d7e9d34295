//! What `docs/vfio-user.md` says: its program runs, its numbers are those of the protocol, and the
//! options it names choose the build.

use crate::server::{in_time, with_each, Dut, Server};
use rnic_abi::pci::{DEVICE_ID, VENDOR_ID};
use rnic_abi::registers::CAPABILITIES;
use rnic_abi::sizes::Sizes;
use rnic_testbench::docs::{read, workspace_root};
use rnic_vfio_user::protocol::{
    Capabilities, Command, DROPPED_OCTETS_MAX, MESSAGE_FDS_MAX, MESSAGE_OCTETS_MAX,
    REGION_CONFIGURATION, TRANSFER_OCTETS_MAX,
};
use rnic_vfio_user::{Client, FILES_MAX, MAPS_MAX};
use std::process;

fn page() -> String {
    read(&workspace_root().join("docs/vfio-user.md")).expect("it is there")
}

/// The program, which needs Python 3.9 (`socket.send_fds`); 3.10 for `os.eventfd`.
#[test]
fn the_first_program_runs() {
    with_each(|dut| {
        let page = page();
        let (_, program) = page.split_once("```python\n").expect("its fence");
        let (program, _) = program.split_once("```").expect("its end");
        let server = Server::start(dut);
        let run = process::Command::new("python3")
            .args(["-c", program])
            .arg(server.socket())
            .output()
            .expect("python3 is installed, as README.md asks for");
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{errors}\n{}", server.errors());
        let printed = String::from_utf8_lossy(&run.stdout);
        assert_eq!(printed, "received 64 octets: hello, device\n");
    });
}

#[test]
fn the_numbers_are_those_of_the_protocol() {
    let page = page();
    let commands = [
        (Command::Version, "VERSION"),
        (Command::DmaMap, "DMA_MAP"),
        (Command::DmaUnmap, "DMA_UNMAP"),
        (Command::DeviceGetInfo, "DEVICE_GET_INFO"),
        (Command::DeviceGetRegionInfo, "DEVICE_GET_REGION_INFO"),
        (Command::DeviceGetRegionIoFds, "DEVICE_GET_REGION_IO_FDS"),
        (Command::DeviceGetIrqInfo, "DEVICE_GET_IRQ_INFO"),
        (Command::DeviceSetIrqs, "DEVICE_SET_IRQS"),
        (Command::RegionRead, "REGION_READ"),
        (Command::RegionWrite, "REGION_WRITE"),
        (Command::DmaRead, "DMA_READ"),
        (Command::DmaWrite, "DMA_WRITE"),
        (Command::DeviceReset, "DEVICE_RESET"),
        (Command::DirtyPages, "DIRTY_PAGES"),
    ];
    let rows = commands.map(|(command, name)| format!("\n| {} | `{name}` |", command.code()));
    let capabilities = Capabilities::OURS.encode();
    let capabilities = String::from_utf8_lossy(&capabilities[..capabilities.len() - 1]);
    let others = [
        format!("`{capabilities}`"),
        format!("\n| data of one region access | {TRANSFER_OCTETS_MAX} octets |"),
        format!("\n| message | {MESSAGE_OCTETS_MAX} octets | up to {DROPPED_OCTETS_MAX} "),
        format!("\n| file descriptors with one message | {MESSAGE_FDS_MAX} |"),
        format!("\n| maps of one client | {MAPS_MAX} |"),
        format!("\n| files that maps lie in | {FILES_MAX} |"),
        format!("\n| {REGION_CONFIGURATION} | configuration space |"),
        format!("vendor {VENDOR_ID:#06x}, device {DEVICE_ID:#06x}"),
    ];
    for words in rows.iter().chain(&others) {
        assert!(page.contains(words), "not in docs/vfio-user.md: {words}");
    }
}

/// Connections and regions are chosen independently; 1,024 each if nothing is said.
#[test]
fn the_options_choose_the_build() {
    in_time(|| {
        for (options, connections, regions) in [
            (&[][..], 1024, 1024),
            (&["--connections", "256"], 256, 1024),
            (&["--regions", "512"], 1024, 512),
            (&["--connections", "512", "--regions", "256"], 512, 256),
        ] {
            let server = Server::start_with(Dut::Model, options);
            let mut client = Client::connect(&server.socket()).expect("it listens");
            let command = 6u16.to_le_bytes();
            let written = client.write(REGION_CONFIGURATION, 4, &command);
            written.expect("memory space is enabled");
            let mut octets = [0; 4];
            let read = client.read(0, u64::from(CAPABILITIES), &mut octets);
            read.expect("a register");
            let sizes = Sizes::decode(u32::from_le_bytes(octets)).expect("a build");
            assert_eq!(
                (sizes.connections(), sizes.regions()),
                (connections, regions)
            );
        }
    });
}
