"""What is read in cargo's output: programs by names of their own, and what was compiled."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from programs import built, compiled


def line(name, kind, target, fresh=False, executable="/a/program"):
    """A line of cargo's for one target of a package."""
    return json.dumps(
        {
            "reason": "compiler-artifact",
            "package_id": f"path+file:///a/{name}#0.1.0",
            "manifest_path": f"/a/{name}/Cargo.toml",
            "target": {"kind": [kind], "name": target},
            "profile": {"test": True},
            "executable": executable,
            "fresh": fresh,
        },
        separators=(",", ":"),
    )


class ProgramsTest(unittest.TestCase):
    def test_each_target_of_a_package_has_a_name_of_its_own(self):
        kinds = [("lib", "a"), ("test", "cli"), ("bin", "tool"), ("example", "show")]
        text = "\n".join(line("a", *each) for each in kinds)
        names = [name for name, _, _ in built(text)]
        self.assertEqual(names, ["a unit", "a cli", "a tool", "a show"])

    def test_what_was_there_was_not_compiled(self):
        text = "\n".join(
            ["   Compiling a", line("a", "lib", "a"), line("b", "lib", "b", fresh=True)]
        )
        self.assertEqual(compiled(text), {"a"})

    def test_a_library_is_no_program(self):
        self.assertEqual(built(line("a", "lib", "a", executable=None)), [])


if __name__ == "__main__":
    unittest.main()
