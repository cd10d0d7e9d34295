"""The checks of the project: `make check`, `make test`, `make test-long`.

    check      what changed since the last green `make test`, and a little of everything else
    test       everything, at the counts of RNIC_EFFORT=short (testbench/effort)
    test-long  everything, at all counts, with the driver in a guest and the core for other flows

The last line is "N passed, N failed": the tests of all programs, and one more for each check that
is no test. Before it stand what was skipped, shortened or left out, and what failed. Exit status 0
if nothing failed.
"""

import argparse
import sys
import time

import changed
import plan
from pool import Pool
from programs import LOGS, notes, remember, results


def main():
    parser = argparse.ArgumentParser(prog="checks", description=__doc__.split("\n")[0])
    parser.add_argument("verb", choices=["check", "test", "test-long"])
    parser.add_argument("--jobs", type=int, help="jobs at a time; default: one a processor")
    arguments = parser.parse_args()
    begun, files = time.monotonic(), changed.contents()
    pool = Pool(LOGS / arguments.verb, slots=arguments.jobs, say=lambda line: print(line, flush=True))
    jobs = pool.run(plan.jobs(arguments.verb))
    remember(jobs)
    failed = summary(jobs, plan.left_out(arguments.verb), pool.slots, time.monotonic() - begun)
    if arguments.verb != "check" and failed == 0:
        changed.mark_green(files)
    return 1 if failed else 0


def summary(jobs, left_out, slots, wall_s):
    """Prints what was left out, what failed and the sums; returns how many failed."""
    print()
    for line in [*left_out, *notes(jobs)]:
        print(line)
    for job in jobs:
        if job.skipped():
            print(f"SKIPPED {job.name}: {job.text().strip().splitlines()[-1]}")
    passed, failed = results(jobs)
    for job in jobs:
        if job.passed() or job.skipped():
            continue
        print(f"FAILED {job.name}: {job.hint or 'see ' + str(job.log)}")
        # A program that ends without a result, or a check that is no test.
        failed += results([job])[1] == 0
    cpu_s = sum(job.cpu_s for job in jobs)
    share = 100 * cpu_s / (wall_s * slots)
    print(f"{wall_s:.0f} s, {cpu_s:.0f} processor seconds, {share:.0f} % of {slots} processors")
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
