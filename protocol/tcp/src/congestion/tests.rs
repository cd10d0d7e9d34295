use super::*;

fn both() -> [Congestion; 2] {
    [Algorithm::NewReno, Algorithm::Cubic].map(|algorithm| Congestion::new(algorithm, 1_000, false))
}

/// TCP-022: RFC 6928 section 2 at its corners; RFC 5681 section 3.1 after a lost SYN.
#[test]
fn the_initial_window_is_ten_segments_within_limits() {
    for (emss, octets) in [
        (64, 640),
        (536, 5_360),
        (1_460, 14_600),
        (1_461, 14_600),
        (7_300, 14_600),
        (7_301, 14_602),
        (65_495, 130_990),
    ] {
        let congestion = Congestion::new(Algorithm::NewReno, emss, false);
        assert_eq!(congestion.window_octets(), octets, "{emss}");
        let congestion = Congestion::new(Algorithm::NewReno, emss, true);
        assert_eq!(congestion.window_octets(), u64::from(emss));
    }
}

/// TCP-021: RFC 5681 section 3.1: at most two segments an ACK in slow start; a segment a window
/// after it.
#[test]
fn slow_start_doubles_and_avoidance_adds_a_segment() {
    let mut congestion = Congestion::new(Algorithm::NewReno, 1_000, false);
    for _ in 0..5 {
        congestion.on_ack(2_000, 0, 1_000);
    }
    assert_eq!(congestion.window_octets(), 20_000);
    congestion.on_ack(9_000, 0, 1_000);
    assert_eq!(
        congestion.window_octets(),
        22_000,
        "counted up to two segments"
    );
    congestion.on_loss(20_000);
    assert_eq!(congestion.window_octets(), 10_000);
    assert_eq!(congestion.threshold_octets(), 10_000);
    for _ in 0..4 {
        congestion.on_ack(2_000, 0, 1_000);
        assert_eq!(congestion.window_octets(), 10_000);
    }
    congestion.on_ack(2_000, 0, 1_000);
    assert_eq!(congestion.window_octets(), 11_000);
}

/// TCP-025: RFC 5681 equation (4) and its minimum; the loss window; a second time-out of the same
/// octets.
#[test]
fn the_timer_leaves_one_segment_and_takes_the_threshold_once() {
    for mut congestion in both() {
        // More than the window is not acknowledged only because recovery went on sending.
        congestion.on_time_out(30_000, false);
        let threshold = congestion.threshold_octets();
        assert!([5_000, 7_000].contains(&threshold), "{threshold}");
        assert_eq!(congestion.window_octets(), 1_000);
        congestion.on_time_out(1_000, true);
        assert_eq!(congestion.threshold_octets(), threshold);
        congestion.on_time_out(1_000, false);
        assert_eq!(congestion.threshold_octets(), 2_000);
    }
}

#[test]
fn windows_have_an_end_and_restart_small() {
    for mut congestion in both() {
        for _ in 0..1_000_000 {
            congestion.on_ack(1 << 30, u64::MAX, u64::MAX);
        }
        assert_eq!(congestion.window_octets(), WINDOW_OCTETS_MAX);
        congestion.restart();
        assert_eq!(congestion.window_octets(), 10_000);
        congestion.on_loss(100_000);
        congestion.end_recovery(3_000);
        assert_eq!(congestion.window_octets(), 4_000);
        congestion.set_emss(9_000);
        assert_eq!(congestion.window_octets(), 9_000);
    }
}
