//! CRC32C as linear algebra over GF(2): the data from which XOR networks are made.
//!
//! A reflected CRC register is advanced by one word `w` as `state = M * (state ^ w)`, where `M` is
//! the matrix of 32 shifts. Everything else is a power of `M`.

/// The Castagnoli polynomial 0x1edc6f41 with its bits reversed (RFC 3720, 12.1).
pub const POLYNOMIAL: u32 = 0x82f6_3b78;

/// A 32 by 32 matrix over GF(2): column `j` is the image of bit `j`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    columns: [u32; 32],
}

impl Matrix {
    /// Advances a register over `words` words of zeros.
    pub fn advance(words: usize) -> Self {
        let over_words = |bit: usize| (0..words * 32).fold(1u32 << bit, |state, _| shift(state));
        Self {
            columns: std::array::from_fn(over_words),
        }
    }

    /// Takes a register back over `octets` octets of zeros.
    pub fn retreat(octets: usize) -> Self {
        let over_octets =
            |bit: usize| (0..octets * 8).fold(1u32 << bit, |state, _| shift_back(state));
        Self {
            columns: std::array::from_fn(over_octets),
        }
    }

    /// The image of `vector`.
    pub fn apply(&self, vector: u32) -> u32 {
        let bits = (0..32).filter(|bit| (vector >> bit) & 1 == 1);
        bits.fold(0, |sum, bit| sum ^ self.columns[bit])
    }

    /// The bits of a vector whose parity is bit `row` of its image.
    pub fn row(&self, row: usize) -> u32 {
        (0..32).fold(0, |mask, bit| {
            mask | (((self.columns[bit] >> row) & 1) << bit)
        })
    }
}

/// One step of the register, the next message bit being zero.
fn shift(state: u32) -> u32 {
    (state >> 1) ^ if state & 1 == 1 { POLYNOMIAL } else { 0 }
}

/// The register one step before, if the message bit was zero: the polynomial's top bit is set, so
/// the register's says whether it was added.
fn shift_back(state: u32) -> u32 {
    match state >> 31 {
        1 => (state ^ POLYNOMIAL) << 1 | 1,
        _ => state << 1,
    }
}

/// The register after an FPDU with a right CRC field and `zero_words` words of zeros.
///
/// With the register at `c` the field is `!c`, so the word after it is processed as all ones.
pub fn residue(zero_words: usize) -> u32 {
    Matrix::advance(1 + zero_words).apply(u32::MAX)
}

#[cfg(test)]
mod tests;
