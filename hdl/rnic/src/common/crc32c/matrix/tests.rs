//! The matrices of CRC32C against its published check value and their own algebra.
use super::*;

#[test]
fn rows_and_columns_describe_the_same_matrix() {
    let matrix = Matrix::advance(3);
    for vector in [1, 0x8000_0000, 0xdead_beef, u32::MAX] {
        let by_rows = (0..32).fold(0, |image, row| {
            image | (((matrix.row(row) & vector).count_ones() & 1) << row)
        });
        assert_eq!(by_rows, matrix.apply(vector));
    }
}

#[test]
fn advancing_twice_is_advancing_over_the_sum() {
    let (two, three, five) = (Matrix::advance(2), Matrix::advance(3), Matrix::advance(5));
    assert_eq!(three.apply(two.apply(0x1234_5678)), five.apply(0x1234_5678));
}

#[test]
fn mpa_020_the_register_gives_the_published_check_value() {
    // "12345678" by words; the ninth octet by shifts.
    let word = Matrix::advance(1);
    let state = [*b"1234", *b"5678"]
        .into_iter()
        .fold(u32::MAX, |state, octets| {
            word.apply(state ^ u32::from_le_bytes(octets))
        });
    let state = (0..8).fold(state ^ u32::from(b'9'), |state, _| shift(state));
    assert_eq!(!state, 0xe306_9283);
}
