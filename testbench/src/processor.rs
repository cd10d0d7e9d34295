//! What processes have used of the processors, in ticks of the system or as time. Read from
//! `/proc`, so on Linux alone.

use std::fs;
use std::time::Duration;

/// Ticks that a process, its threads, and those of its children that it has waited for have used;
/// `None` if there is no such process.
pub fn ticks(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may hold blanks, stands field 3; utime is field 14, then stime, cutime
    // and cstime.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4);
    ticks.map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The same as time.
pub fn time(process: u32) -> Option<Duration> {
    let rate = rustix::param::clock_ticks_per_second().max(1);
    ticks(process).map(|ticks| Duration::from_millis(ticks * 1000 / rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_uses_what_it_works_and_one_that_is_not_there_nothing() {
        let own = std::process::id();
        let before = ticks(own).expect("it runs");
        while ticks(own).expect("it runs") < before + 10 {}
        assert!(time(own) > Some(Duration::ZERO));
        // Beyond the most processes that Linux has.
        assert_eq!(ticks(u32::MAX), None);
    }
}
