//! Numbers in network byte order at a field's place.

use core::ops::Range;

/// Place of a field of fixed size in its header.
pub(crate) type Field = Range<usize>;
/// Place of a field that extends to the end of its header.
pub(crate) type Rest = core::ops::RangeFrom<usize>;

macro_rules! accessors {
    ($get:ident, $set:ident, $number:ty) => {
        pub(crate) fn $get(octets: &[u8], field: Field) -> $number {
            let octets = octets[field].try_into();
            <$number>::from_be_bytes(octets.expect("the field is as wide as its number"))
        }

        pub(crate) fn $set(octets: &mut [u8], field: Field, value: $number) {
            octets[field].copy_from_slice(&value.to_be_bytes());
        }
    };
}

accessors!(get_u16, set_u16, u16);
accessors!(get_u32, set_u32, u32);
accessors!(get_u64, set_u64, u64);
