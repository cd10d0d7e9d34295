//! Figures of many durations: what most of them are, what the longest are, and how they spread.

use serde::Serialize;

/// Columns of the longest bar.
const BAR_COLUMNS: usize = 40;

/// Durations in microseconds, as a report has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Shortest.
    pub min_us: f64,
    /// Half of them take no longer.
    pub median_us: f64,
    /// 99 of 100 take no longer.
    pub p99_us: f64,
    /// Longest.
    pub max_us: f64,
    /// How many are in each step, from the shortest to the longest.
    pub histogram: Vec<Step>,
}

/// A step of a histogram; steps go by 1, 2, 5, 10.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// From here on.
    pub from_us: f64,
    /// To below this.
    pub to_us: f64,
    /// How many.
    pub count: usize,
}

impl Figures {
    /// Of these durations; `None`: there are none.
    pub fn of(mut durations_us: Vec<f64>) -> Option<Self> {
        durations_us.sort_by(f64::total_cmp);
        let (&min_us, &max_us) = (durations_us.first()?, durations_us.last()?);
        let at = |hundredths: usize| {
            let place = (durations_us.len() * hundredths).div_ceil(100);
            durations_us[place.saturating_sub(1)]
        };
        Some(Self {
            min_us,
            median_us: at(50),
            p99_us: at(99),
            max_us,
            histogram: histogram(&durations_us),
        })
    }

    /// The histogram, a line for each step.
    pub fn bars(&self) -> Vec<String> {
        let steps = self.histogram.iter();
        let most = steps.clone().map(|step| step.count).max().unwrap_or(1);
        let bar = |step: &Step| {
            // What is there at all can be seen.
            let columns = (step.count * BAR_COLUMNS).div_ceil(most.max(1));
            let Step {
                from_us,
                to_us,
                count,
            } = step;
            let line = format!(
                "{from_us:>8} to {to_us:>8} us  {:<BAR_COLUMNS$}  {count}",
                "#".repeat(columns)
            );
            line
        };
        steps.map(bar).collect()
    }
}

/// The steps that `sorted` is in, without empty ones at either end.
fn histogram(sorted: &[f64]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = sorted;
    let (mut decade, mut from_us) = (1.0, 0.0);
    while !rest.is_empty() {
        for factor in [1.0, 2.0, 5.0] {
            let to_us = decade * factor;
            let count = rest.partition_point(|duration| *duration < to_us);
            rest = &rest[count..];
            if count > 0 || !steps.is_empty() && !rest.is_empty() {
                steps.push(Step {
                    from_us,
                    to_us,
                    count,
                });
            }
            from_us = to_us;
        }
        decade *= 10.0;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_sorted_durations() {
        let durations = (1..=200).rev().map(f64::from).collect();
        let figures = Figures::of(durations).expect("there are some");
        assert_eq!((figures.min_us, figures.max_us), (1.0, 200.0));
        assert_eq!((figures.median_us, figures.p99_us), (100.0, 198.0));
        let counts: Vec<_> = figures.histogram.iter().map(|step| step.count).collect();
        // 1; 2 to 4; 5 to 9; 10 to 19; 20 to 49; 50 to 99; 100 to 199; 200.
        assert_eq!(counts, [1, 3, 5, 10, 30, 50, 100, 1]);
        assert_eq!(figures.bars().len(), 8);
        let longest = format!("     100 to      200 us  {}  100", "#".repeat(40));
        assert_eq!(figures.bars()[6], longest);
        assert_eq!(Figures::of(Vec::new()), None);
        let one = Figures::of(vec![0.5]).expect("one");
        assert_eq!((one.median_us, one.p99_us), (0.5, 0.5));
        assert_eq!(one.histogram.len(), 1);
    }
}
