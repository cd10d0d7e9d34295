//! Accesses that leave or disobey the host's memory, through the root complex.

use crate::packets::{changed, read, write, DEVICE, HOST};
use pcie_sim::memory::Access;
use pcie_sim::tlp::{Completion, CompletionStatus, ConfigurationRequest, PackError};
use pcie_sim::Direction::Downstream;
use pcie_sim::{
    ByteEnables, Kind, Length, Limits, Monitor, RootComplex, RootComplexSettings, Tlp, Violation,
};

fn guarded() -> RootComplex {
    let mut root_complex = RootComplex::new(RootComplexSettings::default());
    let memory = root_complex.memory_mut();
    memory
        .map("sink", 0x1000, 0x100, Access::WRITE)
        .expect("free");
    memory
        .map("source", 0x2000, 0x100, Access::READ)
        .expect("free");
    root_complex.add_interrupt_window(0xfee0_0000..0xfef0_0000);
    root_complex
}

#[test]
fn accesses_that_leave_or_disobey_memory_are_flagged_and_have_no_effect() {
    let rows = [
        (
            write(0x10fe, 3),
            Violation::WriteOutsideMemory {
                address: 0x10fe,
                octets: 3,
            },
        ),
        (
            write(0x0fff, 1),
            Violation::WriteOutsideMemory {
                address: 0x0fff,
                octets: 1,
            },
        ),
        (
            write(0x2000, 4),
            Violation::WriteForbidden {
                address: 0x2000,
                octets: 4,
            },
        ),
        (
            read(0, 0x20ff, 2),
            Violation::ReadOutsideMemory {
                address: 0x20ff,
                octets: 2,
            },
        ),
        (
            read(0, 0x1000, 4),
            Violation::ReadForbidden {
                address: 0x1000,
                octets: 4,
            },
        ),
        (
            write(0xfee0_0000, 2),
            Violation::InterruptWriteMalformed {
                address: 0xfee0_0000,
            },
        ),
        (
            write(0xfee0_0000, 8),
            Violation::InterruptWriteMalformed {
                address: 0xfee0_0000,
            },
        ),
    ];
    for (tlp, expected) in rows {
        let mut root_complex = guarded();
        root_complex.upstream(3, &tlp);
        let found: Vec<_> = root_complex
            .monitor()
            .records()
            .iter()
            .map(|record| record.violation)
            .collect();
        assert_eq!(found, [expected]);
        assert_eq!(root_complex.next_interrupt(), None);
        for region in root_complex.memory().regions() {
            assert!(region.bytes().iter().all(|octet| *octet == 0), "{expected}");
        }
        let answer = root_complex.next_downstream(3).map(|tlp| tlp.header.kind);
        match tlp.header.kind {
            Kind::MRd(_) => assert!(matches!(
                answer,
                Some(Kind::Cpl(Completion {
                    status: CompletionStatus::UnsupportedRequest,
                    ..
                }))
            )),
            _ => assert_eq!(answer, None),
        }
        assert_eq!(
            root_complex.monitor().violation_count(),
            1,
            "the answer itself is legal"
        );
    }
}

#[test]
fn octets_that_are_not_enabled_need_no_memory() {
    let mut root_complex = guarded();
    // The dwords reach from 0x10fc to 0x1104, the enabled octets to 0x1100.
    root_complex.upstream(0, write(0x10fd, 3));
    // A zero-length read, which asks for no octet, is answered wherever it points.
    root_complex.upstream(0, read(0, 0x9000, 0));
    assert_eq!(root_complex.monitor().verdict(), Ok(()));
    assert_eq!(
        root_complex.memory().slice(0x10fc, 4),
        Ok(&[0, 0x5a, 0x5a, 0x5a][..])
    );
    assert!(root_complex.next_downstream(0).is_some());
}

#[test]
fn a_malformed_write_is_discarded() {
    let mut root_complex = guarded();
    let tlp = changed(write(0x1000, 8), |tlp| tlp.payload.truncate(4));
    root_complex.upstream(0, tlp);
    assert_eq!(root_complex.statistics().discarded, 1);
    assert_eq!(root_complex.memory().slice(0x1000, 8), Ok(&[0; 8][..]));
}

#[test]
fn a_configuration_request_keeps_its_register_within_4096() {
    let request = ConfigurationRequest {
        requester: HOST,
        tag: 0,
        enables: ByteEnables::ONE_DWORD,
        target: DEVICE,
        register: 4096,
    };
    let tlp = Tlp::new(Length::ONE, Kind::CfgRd0(request), Vec::new());
    let mut monitor = Monitor::new(Limits::default());
    monitor.observe(0, Downstream, &tlp);
    let found = monitor.records()[0].violation;
    assert!(matches!(
        found,
        Violation::FieldOutOfRange(PackError::FieldOutOfRange {
            field: "register offset",
            ..
        })
    ));
}
