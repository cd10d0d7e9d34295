//! Two parsers of frames that were written apart: the one that chooses what is played, and the
//! model's.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rnic_capture::segment::Segment;
use rnic_model::ethernet;
use rnic_model::ip::{self, IpVerdict};
use rnic_model::tcp::TcpSegment;
use rnic_testbench::play::hostile::forge::forge;
use rnic_testbench::workload::{generate, IpFamily, Markers, Workload};
use std::path::Path;

/// The model's view of a frame.
fn by_model(frame: &[u8]) -> Option<TcpSegment<'_>> {
    match ip::classify(&ethernet::payload(frame)?) {
        IpVerdict::Tcp(datagram) => TcpSegment::parse(&datagram),
        _ => None,
    }
}

/// What both parsers say of a frame; true if they see a segment.
fn compare(frame: &[u8], context: &str) -> bool {
    let (own, model) = (Segment::of_frame(frame), by_model(frame));
    let of_own = own.as_ref().map(|own| {
        let control = own.is_control();
        (own.ends(), own.sequence, own.flags, control, own.payload)
    });
    let of_model = model.as_ref().map(|model| {
        let (ends, control) = ((model.source, model.destination), model.is_control());
        (ends, model.sequence, model.flags, control, model.payload)
    });
    assert_eq!(of_own, of_model, "{context}: {frame:02x?}");
    let good = |is_good: Option<bool>| is_good.unwrap_or_default();
    assert_eq!(
        good(own.as_ref().map(|own| own.checksum_good)),
        good(model.map(|model| model.checksum_good)),
        "{context}: {frame:02x?}"
    );
    own.is_some()
}

/// Two parsers written apart agree on sound frames of every kind, and on forged ones.
#[test]
fn this_parser_and_the_models_agree() {
    let seed = 5;
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let (mut segments, mut others) = (0, 0);
    for (ip, vlan) in [(IpFamily::V4, vec![]), (IpFamily::V6, vec![5, 6])] {
        let workload = Workload {
            seed,
            ip,
            vlan,
            markers: Markers::Both,
            ..Workload::default()
        };
        let generation = generate(&workload).expect("a valid workload");
        let capture = rnic_capture::parse(Path::new("agree.pcap"), generation.file);
        let capture = capture.expect("a valid capture");
        let flows = rnic_capture::flows(&capture, None);
        for (number, frame) in capture.frames.iter().enumerate() {
            let context = format!("seed {seed}, frame {number}");
            compare(frame, &context);
            for _ in 0..20 {
                let forged = forge(frame, &flows, &mut generator);
                match compare(&forged, &context) {
                    true => segments += 1,
                    false => others += 1,
                }
            }
        }
    }
    assert!(segments > 1000 && others > 100, "{segments}, {others}");
}
