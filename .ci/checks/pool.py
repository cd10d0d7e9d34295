"""A job pool: as many jobs at a time as there are processors, the longest first.

In: jobs, each a command with the seconds it is expected to take. Out: a line on stdout when a job
ends, its output in a file of its own, and for each job its status, wall and processor seconds.

    jobs --> ready, longest first --> one slot a processor --> log, status, seconds
      ^                                       |
      +------ jobs that a job leads to -------+

A job may lead to others once it has passed: a build to the programs that it has built. A job that
measures time runs alone, and one that mostly waits for time to pass takes no slot.

Nothing is printed of a job that passes but its line; of one that fails the end of its output, where
the failure is.
"""

import dataclasses
import os
import pathlib
import subprocess
import threading
import time
from typing import Callable

# Lines shown of a failed job; the file has them all.
TAIL_LINES = 60


@dataclasses.dataclass
class Job:
    """One command, and what became of it."""

    name: str
    command: list
    # What to do if it fails.
    hint: str = ""
    # Expected, alone on this processor; decides the order only.
    seconds: float = 5.0
    # Needs the machine to itself, as it measures or limits time.
    alone: bool = False
    # Waits for most of its time: runs beside those that fill the slots, one such job at a time.
    idle: bool = False
    folder: pathlib.Path = pathlib.Path(".")
    environment: dict = dataclasses.field(default_factory=dict)
    # Jobs to run once this one has passed, from its output.
    then: Callable = None
    # This status says that the machine cannot do it; the last line of the output says why.
    not_possible: int = None
    log: pathlib.Path = None
    status: int = None
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def passed(self):
        return self.status == 0

    def skipped(self):
        return self.not_possible is not None and self.status == self.not_possible

    def text(self):
        return self.log.read_text(errors="replace") if self.log else ""


class Pool:
    """Runs jobs; `logs` is the folder of their outputs, `say` prints a line."""

    def __init__(self, logs, slots=None, say=print):
        self.logs = pathlib.Path(logs)
        self.logs.mkdir(parents=True, exist_ok=True)
        self.slots = slots or os.cpu_count() or 1
        self.say = say
        self.done = []
        self._waiting = []
        self._running = []
        self._change = threading.Condition()

    def run(self, jobs):
        """Runs `jobs` and all that they lead to; returns every job, in the order of their ends."""
        with self._change:
            self._waiting.extend(jobs)
            while self._waiting or self._running:
                job = self._next()
                if job is None:
                    self._change.wait()
                    continue
                self._waiting.remove(job)
                self._running.append(job)
                threading.Thread(target=self._execute, args=(job,), daemon=True).start()
        return self.done

    def _next(self):
        """The job to start now: one that waits, else the longest, of those that may run beside what
        is running."""
        if any(job.alone for job in self._running):
            return None
        idle = sum(job.idle for job in self._running)
        has_slot = len(self._running) - idle < self.slots
        free = [
            job for job in self._waiting if not job.alone and (idle == 0 if job.idle else has_slot)
        ]
        if not free and not self._running:
            # What runs alone comes last, when nothing else is left.
            free = self._waiting
        return max(free, key=lambda job: (job.idle, job.seconds), default=None)

    def _execute(self, job):
        job.log = self.logs / (job.name.replace("/", "-").replace(" ", "-") + ".log")
        begun = time.monotonic()
        led_to, error = [], None
        try:
            with open(job.log, "wb") as log:
                process = subprocess.Popen(
                    job.command,
                    cwd=job.folder,
                    env={**os.environ, **job.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            job.status = process.returncode
            job.cpu_s = usage.ru_utime + usage.ru_stime
            if job.passed() and job.then:
                led_to = job.then(job)
        except Exception as failure:  # A job must end, whatever became of it.
            job.status, error = 127, failure
        job.wall_s = time.monotonic() - begun
        with self._change:
            self._report(job, error)
            self._running.remove(job)
            self.done.append(job)
            self._waiting.extend(led_to)
            self._change.notify()

    def _report(self, job, error):
        word = "ok" if job.passed() else "--" if job.skipped() else "FAILED"
        self.say(f"{word:6} {job.wall_s:6.1f} s {job.cpu_s:6.1f} CPU-s  {job.name}")
        if word == "FAILED":
            lines = job.text().splitlines()[-TAIL_LINES:]
            self.say("\n".join(["    " + line for line in lines]))
            self.say(f"    {error or f'status {job.status}'}; all of it: {job.log}")
