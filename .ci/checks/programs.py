"""Test programs: built by cargo, then run as jobs of the pool.

In: what cargo prints of a build, one JSON object a line. Out: a job for each test program, or
several for one whose tests take long, each with a part of them.

A program runs its tests on one thread: the pool fills the other processors. Its time is that of the
last run on this machine or that of the table below, whichever is longer: a short run may leave out
all of a program that takes minutes in a long one.
"""

import json
import os
import pathlib
import re
import subprocess

from pool import Job

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
LOGS = TARGET / "checks"
TIMES = LOGS / "seconds.json"
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.M)
# Lines by which tests say what a run does not do (testbench/effort, testbench/src/skip.rs).
NOTES = re.compile(r"(?:^|[^A-Z])((?:SKIPPED|SHORTENED|LEFT OUT) .*)$", re.M)

# Parts of programs that take minutes, by the beginnings of their tests' names. What no part names is
# a part of its own, so that a new test is not forgotten.
PARTS = {
    "rnic-testbench device": [
        ["churn::"],
        ["crowded::"],
        ["rtl_captures::"],
        ["closed_loop::", "out_of_order::"],
        ["reset::"],
    ],
    "rnic-testbench fuzz": [["agreement::"], ["hostile::"]],
    "rnic-hdl unit": [
        ["receive::tcp::", "receive::front_end::"],
        ["receive::fpdu::", "receive::ddp::"],
        ["receive::"],
        ["bus::"],
        ["transmit::"],
    ],
}
# Seconds of one processor, for a machine that has not run them yet; anything else counts as 5.
SECONDS = {
    "a program outside of the workspace": 40.0,
    "rnic-board unit": 25.0,
    "rnic-device killed": 20.0,
    "rnic-device live": 35.0,
    "rnic-driver unit": 15.0,
    "rnic-examples nfs": 25.0,
    "rnic-hdl unit bus": 85.0,
    "rnic-hdl unit others": 20.0,
    "rnic-hdl unit receive": 95.0,
    "rnic-hdl unit receive::fpdu receive::ddp": 110.0,
    "rnic-hdl unit receive::tcp receive::front_end": 105.0,
    "rnic-hdl unit transmit": 80.0,
    "rnic-sim gating": 15.0,
    "rnic-sim unit": 20.0,
    "rnic-testbench attacks": 80.0,
    "rnic-testbench board": 90.0,
    "rnic-testbench device churn": 17.0,
    "rnic-testbench device closed_loop out_of_order": 70.0,
    "rnic-testbench device crowded": 60.0,
    "rnic-testbench device others": 65.0,
    "rnic-testbench device reset": 20.0,
    "rnic-testbench device rtl_captures": 40.0,
    "rnic-testbench fuzz agreement": 110.0,
    "rnic-testbench fuzz hostile": 45.0,
    "rnic-testbench fuzz others": 60.0,
    "rnic-testbench page": 15.0,
    "rnic-testbench sparse": 15.0,
    "the scripted peer": 15.0,
}
# Programs with time limits and an idle device: what runs beside them would be measured.
ALONE = {"rnic-testbench serve"}
# Peers that are killed or fall silent: these wait for time limits, most of their time.
IDLE = {"rnic-device killed", "rnic-device live", "rnic-peer verdicts", "rnic-rpcrdma devices"}


def expected(name):
    """Seconds that a job is expected to take."""
    known = json.loads(TIMES.read_text()) if TIMES.is_file() else {}
    return max(known.get(name, 5.0), SECONDS.get(name, 0.0))


def remember(jobs):
    """Keeps what jobs took, for the next run's order."""
    known = json.loads(TIMES.read_text()) if TIMES.is_file() else {}
    known.update({job.name: round(job.cpu_s, 1) for job in jobs if job.passed()})
    TIMES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def built(text):
    """The test programs in cargo's output: name, program, folder of the package."""
    programs = []
    for artifact in artifacts(text):
        if not artifact["executable"] or not artifact["profile"]["test"]:
            continue
        folder = pathlib.Path(artifact["manifest_path"]).parent
        target = artifact["target"]
        # A package has one library, and may have several of the others.
        kind = target["name"] if target["kind"][0] in {"test", "bin", "example"} else "unit"
        programs.append((f"{package(artifact['package_id'])} {kind}", artifact["executable"], folder))
    return programs


def compiled(text):
    """The packages that cargo has compiled, by its output: those that were not there yet."""
    return {package(each["package_id"]) for each in artifacts(text) if not each["fresh"]}


def artifacts(text):
    """What cargo has compiled or found compiled, by its output."""
    for line in text.splitlines():
        if line.startswith('{"reason":"compiler-artifact"'):
            yield json.loads(line)


def package(identity):
    """The name in a package id, which is `path+file:///a/b#name@1.0` or `...b#1.0` if b is it."""
    path, _, rest = identity.partition("#")
    return rest.split("@")[0] if "@" in rest else path.rsplit("/", 1)[-1]


def jobs_of(programs, environment):
    """Jobs that run `programs`."""
    jobs = []
    # As cargo does: tests of a crate of macros load the compiler's own libraries.
    own = subprocess.run(["rustc", "--print", "target-libdir"], capture_output=True, text=True)
    libraries = [own.stdout.strip(), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = {**environment, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    for name, program, folder in programs:
        alone = name in ALONE
        for part, tests in parts(name, program):
            chosen_tests = [] if tests is None else ["--exact", *tests]
            jobs.append(
                Job(
                    part,
                    [program, *chosen_tests, *([] if alone else ["--test-threads=1"])],
                    hint=f"run it alone: cargo test --package {name.split()[0]}",
                    seconds=expected(part),
                    alone=alone,
                    idle=name in IDLE,
                    folder=folder,
                    environment={**environment, "CARGO_MANIFEST_DIR": str(folder)},
                )
            )
    return jobs


def tests_of(program):
    """The names of a program's tests."""
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    return [line[: -len(": test")] for line in listed.stdout.splitlines() if line.endswith(": test")]


def parts(name, program):
    """The parts of a program: their names, and their tests; None stands for all of them."""
    if name not in PARTS:
        return [(name, None)]
    left, found = tests_of(program), []
    for prefixes in PARTS[name]:
        tests = [test for test in left if test.startswith(tuple(prefixes))]
        if not tests:
            raise ValueError(f"{name} has no tests of {prefixes}: mend PARTS in programs.py")
        left = [test for test in left if test not in tests]
        found.append((" ".join([name, *(prefix.rstrip(":") for prefix in prefixes)]), tests))
    return found + [(f"{name} others", left)] * bool(left)


def results(jobs):
    """Tests that passed and failed, of all jobs."""
    pairs = [match for job in jobs for match in RESULT.findall(job.text())]
    return sum(int(passed) for passed, _ in pairs), sum(int(failed) for _, failed in pairs)


def notes(jobs):
    """What was skipped, shortened or left out, each line once."""
    return sorted({line for job in jobs for line in NOTES.findall(job.text())})
