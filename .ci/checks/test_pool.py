"""The pool: order, what runs alone, what a job leads to, and that a failure is seen."""

import pathlib
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pool import Job, Pool

SHELL = "/bin/sh"


def job(name, script="true", **more):
    return Job(name, [SHELL, "-c", script], **more)


def until(path):
    """Waits for a file, for five seconds at most."""
    return f"i=0; until test -e {path}; do i=$((i+1)); test $i -lt 500 || exit 1; sleep 0.01; done"


class PoolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lines = []

    def run_jobs(self, *jobs, slots=2):
        pool = Pool(self.folder / "logs", slots=slots, say=self.lines.append)
        return pool.run(list(jobs))

    def test_the_longest_starts_first(self):
        done = self.run_jobs(job("short", seconds=1), job("long", seconds=9), slots=1)
        self.assertEqual([each.name for each in done], ["long", "short"])

    def test_a_failure_is_reported_with_its_output_and_others_still_run(self):
        done = self.run_jobs(job("bad", "echo words; exit 3"), job("good"), slots=1)
        self.assertEqual({each.name: each.status for each in done}, {"bad": 3, "good": 0})
        self.assertIn("words", "\n".join(self.lines))

    def test_a_command_that_is_missing_is_a_failure(self):
        (done,) = self.run_jobs(Job("none", ["/no/such/program"]))
        self.assertFalse(done.passed())
        self.assertIn("/no/such/program", "\n".join(self.lines))

    def test_what_a_machine_cannot_do_is_neither_passed_nor_failed(self):
        (done,) = self.run_jobs(job("vm", "echo no KVM; exit 2", not_possible=2))
        self.assertTrue(done.skipped() and not done.passed())
        self.assertTrue(self.lines[0].startswith("--"))

    def test_a_job_leads_to_others_only_if_it_passes(self):
        def after(first):
            return [job("after " + first.text().strip())]

        done = self.run_jobs(
            job("build", "echo it", then=after), job("broken", "exit 1", then=after)
        )
        self.assertEqual(sorted(each.name for each in done), ["after it", "broken", "build"])

    def test_what_follows_cannot_be_lost_when_it_cannot_be_made(self):
        def unusable(_):
            raise ValueError("no programs in it")

        (done,) = self.run_jobs(job("build", then=unusable))
        self.assertFalse(done.passed())
        self.assertIn("no programs in it", "\n".join(self.lines))

    def test_a_job_that_is_to_run_alone_runs_alone(self):
        spans = self.folder / "spans"
        script = f"date +%s%N >>{spans}; sleep 0.2; date +%s%N >>{spans}.$$"
        self.run_jobs(job("a", script), job("alone", script, alone=True), job("b", script))
        starts = sorted(int(line) for line in spans.read_text().split())
        ends = sorted(int(each.read_text()) for each in self.folder.glob("spans.*"))
        self.assertEqual(len(starts), 3)
        self.assertGreaterEqual(starts[2], ends[1], "it began before the others had ended")

    def test_a_job_that_waits_takes_no_slot_and_another_waits_for_it(self):
        there, done = self.folder / "there", self.folder / "done"
        second = self.folder / "second"
        # Each of the first two ends only if the other one runs meanwhile.
        ended = self.run_jobs(
            job("waits", f"touch {there}; {until(done)}; test ! -e {second}", idle=True, seconds=1),
            job("waits, too", f"touch {second}", idle=True, seconds=0.5),
            job("works", f"{until(there)}; touch {done}", seconds=9),
            slots=1,
        )
        self.assertEqual([each.name for each in ended if not each.passed()], [])

    def test_what_runs_alone_comes_after_what_waits(self):
        there = self.folder / "there"
        ended = self.run_jobs(
            job("waits", f"sleep 0.2; touch {there}", idle=True),
            job("alone", f"test -e {there}", alone=True, seconds=9),
        )
        self.assertEqual([each.name for each in ended if not each.passed()], [])

    def test_processor_seconds_are_those_of_the_job(self):
        (done,) = self.run_jobs(job("busy", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
        self.assertGreater(done.cpu_s, 0.01)
        begun = time.monotonic()
        (idle,) = self.run_jobs(job("idle", "sleep 0.3"))
        self.assertLess(idle.cpu_s, 0.2)
        self.assertGreaterEqual(time.monotonic() - begun, 0.3)


if __name__ == "__main__":
    unittest.main()
