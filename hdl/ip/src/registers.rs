//! The numbers of the register map that the cocotb test uses, as a Python module.

use rnic_abi::sizes::Sizes;
use rnic_abi::{host_ring, interrupts, registers, transmit_ring};
use std::fmt::Write;

/// The module's text.
pub(crate) fn python(width: usize, sizes: Sizes) -> String {
    let numbers: [(&str, u64); 31] = [
        ("WIDTH", width as u64),
        ("CONNECTIONS", sizes.connections() as u64),
        ("BAR0_OCTETS", registers::BAR0_OCTETS),
        ("IDENTITY", registers::IDENTITY.into()),
        ("IDENTITY_VALUE", registers::IDENTITY_VALUE.into()),
        ("REVISION", registers::REVISION.into()),
        ("REVISION_VALUE", registers::REVISION_VALUE.into()),
        ("CAPABILITIES", registers::CAPABILITIES.into()),
        ("CONTROL", registers::CONTROL.into()),
        ("CONTROL_ENABLE", registers::CONTROL_ENABLE.into()),
        ("CONTROL_RESET", registers::CONTROL_RESET.into()),
        ("MAX_PAYLOAD", registers::MAX_PAYLOAD.into()),
        ("HOST_RING_BASE_LOW", registers::HOST_RING_BASE_LOW.into()),
        ("HOST_RING_BASE_HIGH", registers::HOST_RING_BASE_HIGH.into()),
        (
            "HOST_RING_SLOTS_LOG2",
            registers::HOST_RING_SLOTS_LOG2.into(),
        ),
        (
            "HOST_RING_SLOT_OCTETS_LOG2",
            registers::HOST_RING_SLOT_OCTETS_LOG2.into(),
        ),
        ("HOST_RING_CONSUMER", registers::HOST_RING_CONSUMER.into()),
        ("HOST_RING_PRODUCER", registers::HOST_RING_PRODUCER.into()),
        ("SLOT_HEADER_OCTETS", host_ring::SLOT_HEADER_OCTETS as u64),
        ("PHASE", host_ring::PHASE.into()),
        ("TX_BASE_LOW", registers::TX_BASE_LOW.into()),
        ("TX_BASE_HIGH", registers::TX_BASE_HIGH.into()),
        ("TX_UNITS_LOG2", registers::TX_UNITS_LOG2.into()),
        ("TX_TAIL", registers::TX_TAIL.into()),
        ("TX_REPORT_LOW", registers::TX_REPORT_LOW.into()),
        ("TX_REPORT_HIGH", registers::TX_REPORT_HIGH.into()),
        ("ELEMENTS_SHIFT", transmit_ring::ELEMENTS_SHIFT.into()),
        ("VECTORS", interrupts::VECTORS as u64),
        ("MSIX_TABLE", interrupts::TABLE.into()),
        ("MSIX_PENDING", interrupts::PENDING.into()),
        ("RING_ROUTES", interrupts::RING_ROUTES.into()),
    ];
    let mut text = String::from(
        "\"\"\"Numbers of the register map and of this build, by `rnic emit --ip`.\"\"\"\n\n",
    );
    for (name, value) in numbers {
        let _ = writeln!(text, "{name} = {value:#x}");
    }
    let on = interrupts::ROUTE_ON << (4 * interrupts::ROUTE_HOST);
    let _ = writeln!(text, "ROUTE_HOST_TO_VECTOR_0 = {on:#x}");
    text
}
