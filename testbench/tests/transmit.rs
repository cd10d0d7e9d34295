//! Frames that the whole device sends, against an independent builder.
use rnic_testbench::transmit::{run, Case, Totals};

/// Runs of a fixed seed.
fn agrees(width: usize, runs: u64, silicon: bool) {
    let mut totals = Totals::default();
    for number in 0..runs {
        let case = Case {
            seed: 1,
            run: number,
            width,
            silicon,
        };
        let (done, differences) = run(case).expect("the core is there");
        assert!(
            differences.is_empty(),
            "rnic fuzz --transmit --width {width} --seed 1 --only {number}: {differences:#?}"
        );
        totals.add(&done);
    }
    println!("{}", totals.text());
    assert!(totals.checksums > totals.frames / 2 && totals.crcs > totals.frames / 4);
    assert!(totals.pieces > 2 * totals.frames && totals.unreadable > 0);
}

#[test]
fn frames_leave_as_they_were_built_64() {
    agrees(64, 8, false);
}

#[test]
fn frames_leave_as_they_were_built_128() {
    agrees(128, 8, false);
}

#[test]
fn frames_leave_as_they_were_built_512() {
    agrees(512, 8, false);
}
