//! FPDUs that the texts print.
use super::*;

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let octet = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(text, 16).expect("hexadecimal")
    };
    digits.chunks(2).map(octet).collect()
}

struct Zeros(Waiting);

impl Source for Zeros {
    fn peek(&self, mulpdu: usize) -> Option<usize> {
        self.0.peek(mulpdu)
    }

    fn take(&mut self, mulpdu: usize, end: u64) -> Option<Ulpdu> {
        self.0.take(mulpdu, end)
    }

    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        self.0.read(piece, into)?;
        into.fill(0);
        Ok(())
    }
}

/// MPA-001, MPA-002, MPA-008, MPA-009, MPA-010, MPA-020, MPA-022, MPA-023, MPA-024, START-017,
/// DDP-009, RDMAP-001: the FPDUs of both revisions, at their places in the stream: a Send of 24
/// octets, first and after an FPDU of 492 octets.
#[test]
fn golden_fpdus_are_sent() {
    let golden = [
        (
            0,
            false,
            "00000000 002A4003 00000000 00000000 00000001 00000000",
            "4C86B384",
        ),
        (
            0,
            true,
            "002A4003 00000000 00000000 00000002 00000000 00000014",
            "A19CD103",
        ),
        (
            1,
            false,
            "00000000 002A4143 00000000 00000000 00000001 00000000",
            "52239983",
        ),
        (
            1,
            true,
            "002A4143 00000000 00000000 00000002 00000000 00000014",
            "84925898",
        ),
    ];
    for (version, second, head, crc) in golden {
        let send = |msn, octets| Message::send(version, msn, false, None, payload(octets));
        let mut messages = vec![send(1, 24)];
        if second {
            messages = vec![send(1, 464), send(2, 24)];
        }
        let mut source = Zeros(Waiting::of(&messages));
        let mut framer = Framer::new(&agreed(true, true), 1460);
        let mut out = Vec::new();
        let mut stream = Vec::new();
        while framer.next_record(&mut source, &mut out).is_some() {
            stream.extend_from_slice(&out);
        }
        let mut want = octets(head);
        want.extend([0; 24]);
        want.extend(octets(crc));
        assert_eq!(want.len(), 52);
        assert_eq!(stream.len(), if second { 492 + 52 } else { 52 });
        assert_eq!(stream[stream.len() - 52..], want);
    }
}

/// MPA-011, MPA-013, MPA-015, MPA-016: markers of one FPDU over several of them count from its
/// ULPDU_Length; 28-octet FPDUs each have their own.
#[test]
fn markers_point_back_to_their_fpdu() {
    let mut framer = Framer::new(&agreed(true, true), 4096);
    let long = Message::send(1, 1, false, None, payload(1600));
    let (_, stream) = send_all(&mut framer, &mut Waiting::of(&[long]));
    assert_eq!(stream[..4], [0, 0, 0, 0]);
    for (place, want) in [(512, 0x01fc), (1024, 0x03fc), (1536, 0x05fc)] {
        assert_eq!(stream[place..place + 4], u32::to_be_bytes(want));
    }
    let small: Vec<_> = (1..200)
        .map(|msn| Message::send(1, msn, false, None, payload(4)))
        .collect();
    let mut framer = Framer::new(&agreed(true, true), 1460);
    let mut source = Waiting::of(&small);
    let (_, stream) = send_all(&mut framer, &mut source);
    let mut starts = vec![0];
    starts.extend(source.taken.iter().map(|(_, end)| *end as usize));
    for place in (0..stream.len() - 4).step_by(512) {
        let found = starts.partition_point(|&start| start <= place) - 1;
        let start = starts[found];
        let distance = place - start;
        let leading = start % 512 == 0;
        let want = if leading && distance > 0 {
            distance - 4
        } else {
            distance
        };
        assert_eq!(stream[place..place + 2], [0, 0]);
        assert_eq!(stream[place + 2..place + 4], (want as u16).to_be_bytes());
    }
}
