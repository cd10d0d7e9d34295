//! Hashes of STag indices against a CRC32C of their octets.
use super::*;
use rnic_hdl_tools::testkit::{connected, lockstep_combinational, settle, Random};

#[test]
fn the_crc_is_crc32c() {
    assert_eq!(
        crc32c(b"123456789"),
        0xe306_9283,
        "the catalogue's check value"
    );
}

#[test]
fn hash_is_the_crc_of_the_octets() {
    let mut random = Random::from_environment();
    let mut uut = connected(StagHash::default());
    let corners = (0..24).map(|bit| 1 << bit).chain([0, 0xff_ffff]);
    let randoms: Vec<u64> = (0..200).map(|_| random.below(1 << 24)).collect();
    for stag_index in corners.chain(randoms) {
        uut.stag_index.next = stag_index.into();
        settle(&mut uut);
        let expected = crc32c(&stag_index.to_be_bytes()[5..]);
        assert_eq!(uut.hash.val(), u64::from(expected), "{stag_index:06x}");
    }
}

#[test]
fn hash_agrees_with_its_verilog() {
    lockstep_combinational("stag_hash", StagHash::default(), 2000, |uut, random| {
        uut.stag_index.next = random.wide();
    });
}
