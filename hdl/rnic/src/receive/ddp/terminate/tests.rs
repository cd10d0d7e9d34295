//! Terminate codes of every cause, from the specifications.
use super::*;
use rnic_abi::errors::StreamError;
use rnic_hdl_tools::testkit::{connected, lockstep_combinational, settle};

fn code(error: u64) -> u64 {
    let mut uut = connected(TerminateCode::default());
    uut.error.next = error.into();
    settle(&mut uut);
    uut.code.val().to_u64()
}

#[test]
fn ddp_046_causes_have_the_codes_of_the_specifications() {
    // Layer in the lowest digit, then error type, then error code.
    assert_eq!(code(StreamError::MpaCrc as u64), 0x0202);
    assert_eq!(code(StreamError::DdpStag as u64), 0x0011);
    assert_eq!(code(StreamError::DdpBounds as u64), 0x0111);
    assert_eq!(code(StreamError::DdpAssociation as u64), 0x0211);
    assert_eq!(code(StreamError::DdpWrap as u64), 0x0311);
    assert_eq!(code(StreamError::DdpTaggedVersion as u64), 0x0411);
    assert_eq!(code(StreamError::DdpQn as u64), 0x0121);
    assert_eq!(code(StreamError::DdpNoBuffer as u64), 0x0221);
    assert_eq!(code(StreamError::DdpMsn as u64), 0x0321);
    assert_eq!(code(StreamError::DdpMo as u64), 0x0421);
    assert_eq!(code(StreamError::DdpTooLong as u64), 0x0521);
    assert_eq!(code(StreamError::DdpUntaggedVersion as u64), 0x0621);
    assert_eq!(code(StreamError::RdmapInvalidate as u64), 0x0910);
}

#[test]
fn numbers_that_name_no_error_have_code_zero() {
    assert_eq!(code(0), 0);
    assert_eq!(code(31), 0);
}

#[test]
fn terminate_code_agrees_with_its_verilog() {
    let uut = TerminateCode::default();
    lockstep_combinational("terminate_code", uut, 300, |uut, random| {
        uut.error.next = random.wide();
    });
}
