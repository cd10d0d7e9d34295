//! Record marks of RPC over TCP (RFC 5531, 11).

use std::io::{self, Read, Write};

/// The highest bit of a mark: the record ends with this fragment.
const LAST: u32 = 1 << 31;

/// Read a record of at most `octets_max` octets into `record`; `false`: the peer has closed.
///
/// # Errors
/// The connection fails, ends within a record, or the record is too long.
pub fn read_record(
    from: &mut impl Read,
    record: &mut Vec<u8>,
    octets_max: usize,
) -> io::Result<bool> {
    record.clear();
    loop {
        let mut mark = [0; 4];
        let is_first = record.is_empty();
        match from.read(&mut mark[..1])? {
            0 if is_first => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => from.read_exact(&mut mark[1..])?,
        }
        let mark = u32::from_be_bytes(mark);
        let length = (mark & !LAST) as usize;
        let is_last = mark & LAST != 0;
        let total = record.len() + length;
        // A fragment without octets that is not the last could go on for ever.
        if total > octets_max || length == 0 && !is_last {
            let text = format!("a record of more than {octets_max} octets");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let begin = record.len();
        record.resize(total, 0);
        from.read_exact(&mut record[begin..])?;
        if is_last {
            return Ok(true);
        }
    }
}

/// Write a record as one fragment. `record` begins with four octets for the mark.
///
/// # Errors
/// The connection fails.
pub fn write_record(to: &mut impl Write, record: &mut [u8]) -> io::Result<()> {
    let length = record.len().saturating_sub(4) as u32;
    if let Some(mark) = record.first_chunk_mut() {
        *mark = (LAST | length).to_be_bytes();
    }
    to.write_all(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut wire = Vec::new();
        write_record(&mut wire, &mut [0, 0, 0, 0, 1, 2, 3]).expect("memory");
        assert_eq!(wire, [0x80, 0, 0, 3, 1, 2, 3]);
        let mut octets = &[&[0, 0, 0, 2, 9, 8][..], &wire].concat()[..];
        let mut record = vec![7; 9];
        assert!(read_record(&mut octets, &mut record, 5).expect("whole"));
        assert_eq!(record, [9, 8, 1, 2, 3]);
        assert!(!read_record(&mut octets, &mut record, 5).expect("closed"));
    }

    #[test]
    fn long_cut_and_endless_records_are_refused() {
        let mut record = Vec::new();
        for (wire, kind) in [
            (&[0x80, 0, 0, 6][..], io::ErrorKind::InvalidData),
            (&[0xff, 0xff, 0xff, 0xff], io::ErrorKind::InvalidData),
            (&[0, 0, 0, 0], io::ErrorKind::InvalidData),
            (&[0x80, 0, 0, 2, 1], io::ErrorKind::UnexpectedEof),
            (&[0, 0, 0, 1, 1], io::ErrorKind::UnexpectedEof),
        ] {
            let error = read_record(&mut &wire[..], &mut record, 5).expect_err("refused");
            assert_eq!(error.kind(), kind, "{wire:?}");
        }
    }
}
