//! What `rnic play` prints and writes: summaries, JSON, a page, waveforms.
//!
//! Files are opened before the work begins, so that an unwritable path fails at once, and take
//! their names at the end. If no capture could be played, or Ctrl-C ends the run, earlier reports
//! stay.

use crate::cli::json::{finish_early, JsonSink};
use crate::cli::outcome::Failure;
use crate::cli::trace::Waveforms;
use rnic_output::{stdout, Claims, Output};
use rnic_testbench::play::{page, summary, Report};
use std::path::{Path, PathBuf};

/// Files to be written.
#[derive(Debug)]
pub(super) struct Files<'a> {
    /// `--json`.
    pub(super) json: Option<&'a Path>,
    /// `--html`.
    pub(super) html: Option<&'a Path>,
    /// `--trace`.
    pub(super) trace: Option<&'a Path>,
}

/// Outputs of one command.
#[derive(Debug)]
pub(super) struct Outputs {
    json: JsonSink,
    page: Option<Output>,
    waveforms: Option<Waveforms>,
    /// For the page.
    reports: Vec<Report>,
    /// Reports taken.
    taken: usize,
    /// Captures that were to be played.
    captures: usize,
}

impl Outputs {
    /// Opens `files` for the reports of so many `captures`; none of them is among what is read.
    pub(super) fn open<'a>(
        read: impl Iterator<Item = &'a PathBuf>,
        files: &Files,
        captures: usize,
    ) -> Result<Self, Failure> {
        let mut claims = Claims::new();
        read.for_each(|path| claims.input(path));
        let json = JsonSink::open(&mut claims, files.json)?;
        let page = files.html.map(|path| claims.output("--html", path));
        let trace = files.trace;
        let trace = trace.map(|path| Waveforms::open(&mut claims, path));
        Ok(Self {
            json,
            page: page.transpose()?,
            waveforms: trace.transpose()?,
            reports: Vec::new(),
            taken: 0,
            captures,
        })
    }

    /// Where the simulation writes its waveform.
    pub(super) fn trace_path(&self) -> Option<PathBuf> {
        self.waveforms.as_ref().map(Waveforms::path)
    }

    /// The simulation has ended, whatever ended it.
    pub(super) fn close_waveforms(&mut self) -> Result<(), Failure> {
        self.waveforms.take().map_or(Ok(()), Waveforms::finish)
    }

    /// Is there something to keep if the command ends early?
    pub(super) fn has_reports(&self) -> bool {
        self.taken > 0
    }

    /// For people.
    pub(super) fn show(&self, report: &Report) -> Result<(), Failure> {
        let reserved = self.json.is_stdout() || self.page.as_ref().is_some_and(Output::is_stdout);
        match reserved {
            true => report
                .differences
                .iter()
                .for_each(|difference| stdout::complain(&format!("difference: {difference}"))),
            false => stdout::print(&summary::text(report))?,
        }
        Ok(())
    }

    /// A capture was played.
    pub(super) fn take(&mut self, report: Report) -> Result<(), Failure> {
        self.show(&report)?;
        self.json.write(&report)?;
        self.taken += 1;
        if self.page.is_some() {
            self.reports.push(report);
        }
        Ok(())
    }

    /// All captures were played, or could not be; without any report the files stay as they were.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if self.taken == 0 {
            return Ok(());
        }
        self.json.finish()?;
        if let Some(mut page) = self.page {
            page.write(page::text(&self.reports).as_bytes())?;
            page.finish()?;
        }
        Ok(())
    }

    /// No more is played, for the reason in `how`, after so many captures that were taken or could
    /// not be played.
    pub(super) fn end_early(self, how: &str, count: usize) -> Result<(), Failure> {
        let (taken, captures) = (self.taken, self.captures);
        let mut said = format!("rnic: {how}; {taken} of {captures} captures were played before");
        if count > taken {
            said += &format!(", {} could not be", count - taken);
        }
        let mut files = Vec::new();
        if taken > 0 {
            files.extend(self.json.finish_early()?);
            if let Some(mut page) = self.page {
                page.write(page::text(&self.reports).as_bytes())?;
                files.extend(finish_early(page)?);
            }
        }
        for file in files {
            said += &format!("; {file}");
        }
        stdout::complain(&said);
        Ok(())
    }
}
