//! What the self-test does, step by step, and its form in block RAM.
//!
//! | word of the script, 72 bits | bits 71:68       | 67:64                       | 63:0          |
//! |-----------------------------|------------------|-----------------------------|---------------|
//! | end                         | 0                | -                           | -             |
//! | write                       | 1                | -                           | offset, value |
//! | read                        | 2                | -                           | offset        |
//! | frame                       | 3, 4 in the last | octets in this word, 1 to 8 | octets        |
//! | load                        | 5                | -                           | see below     |
//! | settle                      | 6                | log2 of the cycles          | -             |
//! | check                       | 7                | -                           | signature     |
//!
//! Octets stand in the order of the wire, the first in bits 7:0. An offset is in bits 51:32, a value
//! or a signature in bits 31:0. A load writes the doubleword of bits 31:0 to the host memory's
//! address of bits 51:32.

/// Octets of host memory; of a bus address only the low bits name a place in it.
pub const HOST_MEMORY_OCTETS: usize = 4096;

/// One step of the self-test. The player begins a step when the one before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The driver writes a doubleword of BAR0.
    Write {
        /// Octets from the start of BAR0, a multiple of 4.
        offset: u32,
        /// What is written.
        value: u32,
    },
    /// The driver reads a doubleword of BAR0; the completion enters the signature.
    Read {
        /// Octets from the start of BAR0, a multiple of 4.
        offset: u32,
    },
    /// The wire brings a frame, without its FCS.
    Frame(Vec<u8>),
    /// The driver writes a doubleword of host memory, which the device may read.
    Load {
        /// Address in host memory in octets, a multiple of 4 below [`HOST_MEMORY_OCTETS`].
        address: u32,
        /// What is written, the first octet in bits 7:0.
        value: u32,
    },
    /// Nothing happens until the device has offered no TLP and no read request, and sent no frame,
    /// for so many cycles.
    Settle {
        /// log2 of the cycles, 1 to 15.
        cycles_log2: u32,
    },
    /// The signature of all TLPs since the last check must be this; then it begins anew.
    Check {
        /// CRC32C (RFC 3720, B.4) of the TLPs in the order the device sent them: for each, its four
        /// header doublewords, then its payload padded with zero to whole beats of 16 octets. Read
        /// requests do not enter it: their order among TLPs is not defined.
        signature: u32,
    },
}

/// Bits of a word of the script.
pub const WORD_BITS: usize = 72;

/// The words of `steps` and of the end behind them.
///
/// # Panics
/// If a step is not what its documentation says.
pub fn words(steps: &[Step]) -> Vec<u128> {
    let mut words = Vec::new();
    for step in steps {
        append(&mut words, step);
    }
    words.push(word(END, 0, 0));
    words
}

const END: u128 = 0;
const WRITE: u128 = 1;
const READ: u128 = 2;
const FRAME: u128 = 3;
const FRAME_LAST: u128 = 4;
const LOAD: u128 = 5;
const SETTLE: u128 = 6;
const CHECK: u128 = 7;

fn append(words: &mut Vec<u128>, step: &Step) {
    words.push(match *step {
        Step::Write { offset, value } => word(WRITE, 0, pair(offset, value)),
        Step::Read { offset } => word(READ, 0, pair(offset, 0)),
        Step::Frame(ref octets) => return append_frame(words, octets),
        Step::Load { address, value } => {
            let fits = (address as usize) < HOST_MEMORY_OCTETS;
            assert!(fits, "load at {address:#x}: beyond host memory");
            word(LOAD, 0, pair(address, value))
        }
        Step::Settle { cycles_log2 } => {
            assert!((1..=15).contains(&cycles_log2), "settle: 2^{cycles_log2}");
            word(SETTLE, u128::from(cycles_log2), 0)
        }
        Step::Check { signature } => word(CHECK, 0, u64::from(signature)),
    });
}

fn append_frame(words: &mut Vec<u128>, octets: &[u8]) {
    assert!(!octets.is_empty(), "a frame has octets");
    let beats = octets.chunks(8);
    let last = beats.len() - 1;
    for (index, beat) in beats.enumerate() {
        let mut data = [0; 8];
        data[..beat.len()].copy_from_slice(beat);
        let kind = if index == last { FRAME_LAST } else { FRAME };
        words.push(word(kind, beat.len() as u128, u64::from_le_bytes(data)));
    }
}

fn word(kind: u128, argument: u128, data: u64) -> u128 {
    kind << 68 | argument << 64 | u128::from(data)
}

fn pair(offset: u32, value: u32) -> u64 {
    let fits = offset % 4 == 0 && offset < 1 << 20;
    assert!(fits, "offset {offset:#x}: a multiple of 4 below 1 MiB");
    u64::from(offset) << 32 | u64::from(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_has_its_words() {
        let steps = [
            Step::Write {
                offset: 0x104,
                value: 7,
            },
            Step::Read { offset: 8 },
            Step::Frame((1..=10).collect()),
            Step::Load {
                address: 4092,
                value: 0x0403_0201,
            },
            Step::Settle { cycles_log2: 11 },
            Step::Check { signature: !0 },
        ];
        let expected = [
            0x10_0000_0104_0000_0007,
            0x20_0000_0008_0000_0000,
            0x38_0807_0605_0403_0201,
            0x42_0000_0000_0000_0a09,
            0x50_0000_0ffc_0403_0201,
            0x6b_0000_0000_0000_0000,
            0x70_0000_0000_ffff_ffff,
            0,
        ];
        assert_eq!(words(&steps), expected);
    }

    #[test]
    #[should_panic(expected = "offset 0x6: a multiple of 4")]
    fn an_offset_within_a_doubleword_is_refused() {
        words(&[Step::Read { offset: 6 }]);
    }
}
