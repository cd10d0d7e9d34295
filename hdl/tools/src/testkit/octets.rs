//! Octets and 32-bit words as values of ports: the first one is in the lowest bits.
use rust_hdl::prelude::*;

/// `octets` from bit 0 on; bits beyond them are 0.
pub fn bits_of<const N: usize>(octets: &[u8]) -> Bits<N> {
    let bit = |at: usize| {
        octets
            .get(at / 8)
            .is_some_and(|octet| octet >> (at % 8) & 1 == 1)
    };
    from_bits(bit)
}

/// The octets of `value`, of which the last may be a part.
pub fn octets_of<const N: usize>(value: Bits<N>) -> Vec<u8> {
    let octets = (0..N).step_by(8);
    octets.map(|first| part(&value, first, 8) as u8).collect()
}

/// 32-bit `words` from bit 0 on; bits beyond them are 0.
pub fn bits_of_words<const N: usize>(words: &[u32]) -> Bits<N> {
    let bit = |at: usize| {
        words
            .get(at / 32)
            .is_some_and(|word| word >> (at % 32) & 1 == 1)
    };
    from_bits(bit)
}

/// The first `WORDS` 32-bit words of `value`.
pub fn words_of<const N: usize, const WORDS: usize>(value: Bits<N>) -> [u32; WORDS] {
    assert!(32 * WORDS <= N, "{WORDS} words of {N} bits");
    std::array::from_fn(|word| part(&value, 32 * word, 32) as u32)
}

fn part<const N: usize>(value: &Bits<N>, first: usize, count: usize) -> u64 {
    let places = first..N.min(first + count);
    places.fold(0, |sum, bit| {
        sum | u64::from(value.get_bit(bit)) << (bit - first)
    })
}

fn from_bits<const N: usize>(bit: impl Fn(usize) -> bool) -> Bits<N> {
    let bits: [bool; N] = std::array::from_fn(bit);
    // Above 32 bits a value is an array of bits in rust-hdl, else a number.
    match Bits::<N>::default() {
        Bits::Long(_) => Bits::Long(bits.into()),
        Bits::Short(_) => bits
            .iter()
            .rev()
            .fold(0u64, |sum, bit| sum << 1 | u64::from(*bit))
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_back_in_order() {
        let octets: Vec<u8> = (1..=16).collect();
        assert_eq!(octets_of(bits_of::<128>(&octets)), octets);
        assert_eq!(bits_of::<128>(&octets).get_bits::<16>(0), 0x0201u64);
        assert_eq!(bits_of::<24>(&[1, 2]), 0x0201u64, "bits beyond are 0");
        assert_eq!(octets_of(Bits::<12>::from(0xabcu64)), [0xbc, 0xa]);
    }

    #[test]
    fn words_come_back_in_order() {
        let words = [0x0102_0304, 5, 6, 0x8000_0007];
        assert_eq!(words_of::<128, 4>(bits_of_words(&words)), words);
        assert_eq!(words_of::<32, 1>(bits_of_words(&words)), words[..1]);
        assert_eq!(octets_of(bits_of_words::<32>(&words)), [4, 3, 2, 1]);
    }
}
