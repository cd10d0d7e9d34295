"""What a changed file concerns: its package, its test program, its room."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import changed
import programs

BENCH = changed.TEST_BENCH
KNOWN = {"host-driver": "rnic-driver", "host-driver/rnicctl": "rnicctl", "testbench": BENCH}
EVERY = [("rnic-driver", "live"), ("rnicctl", "command"), (BENCH, "device"), (BENCH, "tidy")]


class ChangedTest(unittest.TestCase):
    def test_a_file_belongs_to_the_innermost_package(self):
        files = ["host-driver/rnicctl/src/main.rs", "README.md", "testbenches/x.rs"]
        self.assertEqual(changed.packages(files, KNOWN), ["rnicctl"])
        self.assertEqual(changed.packages(["host-driver/src/lib.rs"], KNOWN), ["rnic-driver"])

    def test_a_test_program_is_found_by_its_file_or_folder(self):
        files = ["testbench/tests/tidy.rs", "testbench/tests/device/churn.rs", "testbench/src/a.rs"]
        self.assertEqual(changed.tests(files, KNOWN, EVERY), [(BENCH, "device"), (BENCH, "tidy")])

    def test_a_package_has_its_own_programs_run(self):
        files = ["host-driver/src/lib.rs", "testbench/src/lib.rs", "README.md"]
        self.assertEqual(changed.tests(files, KNOWN, EVERY), [("rnic-driver", "live")])

    def test_rooms_of_the_hardware(self):
        files = ["hdl/rnic/src/receive/tcp/accept.rs", "hdl/rnic/src/bus/csr.rs", "README.md"]
        self.assertEqual(changed.rooms(files), ["bus::", "receive::tcp::"])
        self.assertEqual(changed.rooms([*files, "hdl/rnic/src/messages.rs"]), [])

    def test_names_of_packages_in_both_forms_of_an_id(self):
        self.assertEqual(programs.package("path+file:///a/b#c@0.1.0"), "c")
        self.assertEqual(programs.package("path+file:///a/b#0.1.0"), "b")

    def test_results_and_notes_are_read_from_outputs(self):
        text = "test a ... SHORTENED x.rs:3: 5 of 9 turns\nok\ntest result: ok. 2 passed; 1 failed; 0"
        self.assertEqual(programs.RESULT.findall(text), [("2", "1")])
        self.assertEqual(programs.NOTES.findall(text), ["SHORTENED x.rs:3: 5 of 9 turns"])


if __name__ == "__main__":
    unittest.main()
