//! Packets that the rows change.

use pcie_sim::tlp::{Completion, CompletionStatus, MemoryRequest};
use pcie_sim::{Bdf, ByteEnables, Kind, Length, Tlp};

pub const DEVICE: Bdf = Bdf::new(1, 0, 0);
pub const HOST: Bdf = Bdf::new(0, 0, 0);

pub fn write(address: u64, octets: usize) -> Tlp {
    Tlp::memory_write(DEVICE, address, &vec![0x5a; octets]).expect("at most 1024 dwords")
}

pub fn read(tag: u8, address: u64, octets: usize) -> Tlp {
    Tlp::memory_read(DEVICE, tag, address, octets).expect("at most 1024 dwords")
}

pub fn changed(mut tlp: Tlp, change: impl FnOnce(&mut Tlp)) -> Tlp {
    change(&mut tlp);
    tlp
}

pub fn with_enables(tlp: Tlp, first: u8, last: u8) -> Tlp {
    changed(tlp, |tlp| match &mut tlp.header.kind {
        Kind::MWr(request) | Kind::MRd(request) => request.enables = ByteEnables::new(first, last),
        Kind::CfgRd0(request) => request.enables = ByteEnables::new(first, last),
        other => panic!("{other:?} has no byte enables"),
    })
}

pub fn memory(tlp: Tlp, change: impl FnOnce(&mut MemoryRequest)) -> Tlp {
    changed(tlp, |tlp| match &mut tlp.header.kind {
        Kind::MWr(request) | Kind::MRd(request) => change(request),
        other => panic!("{other:?} is not a memory request"),
    })
}

/// A completion for tag 1 of the device: `octets` octets of which `byte_count` are owed.
pub fn cpl_d(lower_address: u8, byte_count: u16, octets: usize) -> Tlp {
    let completion = Completion {
        completer: HOST,
        status: CompletionStatus::Successful,
        byte_count_modified: false,
        byte_count,
        requester: DEVICE,
        tag: 1,
        lower_address,
    };
    let length = Length::from_dwords(octets / 4).expect("at most 1024 dwords");
    Tlp::new(length, Kind::CplD(completion), vec![0; octets])
}

pub fn with_status(tlp: Tlp, status: CompletionStatus) -> Tlp {
    changed(tlp, |tlp| match &mut tlp.header.kind {
        Kind::Cpl(completion) | Kind::CplD(completion) => completion.status = status,
        other => panic!("{other:?} is not a completion"),
    })
}

pub fn without_data(tlp: Tlp) -> Tlp {
    let Kind::CplD(completion) = tlp.header.kind else {
        panic!("not a completion with data")
    };
    Tlp::new(Length::RESERVED, Kind::Cpl(completion), Vec::new())
}
