//! `docs/registers.md` says what the crate `rnic-abi` says.
use rnic_testbench::docs::{check, registers};

#[test]
fn the_register_document_is_what_the_abi_gives() {
    let text = registers::text().expect("the sources of rnic-abi are there");
    if let Err(difference) = check("registers.md", &text) {
        panic!("{difference}");
    }
}
