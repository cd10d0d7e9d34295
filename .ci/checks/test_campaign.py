"""The parts of the campaign: every mutant is in one of them, and names choose what they say."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import campaign


class CampaignTest(unittest.TestCase):
    def test_every_mutant_is_in_one_part(self):
        ends = [tuple(map(int, some.split(".."))) for some in campaign.MUTANTS]
        self.assertEqual(ends[0][0], 1)
        for (_, last), (first, _) in zip(ends, ends[1:]):
            self.assertEqual(first, last + 1)
        self.assertGreater(ends[-1][1], 9000)

    def test_every_kind_is_run_at_every_width(self):
        names = [name for name in campaign.parts() if name.startswith("fuzz-")]
        self.assertEqual(len(names), 12)
        self.assertIn("--hostile", campaign.parts()["fuzz-hostile-512"])
        self.assertIn("512", campaign.parts()["fuzz-hostile-512"])

    def test_a_name_chooses_a_part_a_kind_or_all(self):
        names = list(campaign.parts())
        self.assertEqual(campaign.chosen(names, "proofs"), ["proofs"])
        self.assertEqual(len(campaign.chosen(names, "fuzz-hostile")), 3)
        self.assertEqual(campaign.chosen(names, "all"), names)
        with self.assertRaises(SystemExit):
            campaign.chosen(names, "proof")


if __name__ == "__main__":
    unittest.main()
