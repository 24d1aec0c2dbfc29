# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench/peers.py without the peers: what it reads, asks conv_ours (named on the command line) and makes of times."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import peers  # noqa: E402

SUITE = str(ROOT / "suites" / "layers.csv")
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else str(ROOT / "build" / "release" / "bin" / "conv_ours")


def row(name: str, dense: bool, torch: float, last: float, onnx: float) -> dict:
    return {"name": name, "threads": 1, "dense": dense, "ratio_torch": torch, "ratio_channels_last": last,
            "ratio_onnxruntime": onnx, "ratio_fastest": min(torch, last, onnx)}


class Layers(unittest.TestCase):
    def test_the_list_is_read_as_the_programs_read_it(self):
        layers = peers.read_layers(SUITE, "fsrcnn*")
        self.assertEqual([layer["name"] for layer in layers], ["fsrcnn_deconv_9"])
        self.assertEqual((layers[0]["op"], layers[0]["kh"], layers[0]["sh"], layers[0]["oph"]),
                         ("conv_transpose2d", 9, 4, 3))

    def test_what_cannot_be_read_is_said(self):
        for path, only in ((SUITE, "nothing*"), ("no/such.csv", "*"), (str(ROOT / "LICENSE-MIT"), "*")):
            with self.assertRaises(peers.CannotRun):
                peers.read_layers(path, only)


class Summary(unittest.TestCase):
    def test_means_are_geometric_and_grouped_layers_no_part_of_the_dense_one(self):
        rows = [row("a", True, 2, 1, 4), row("b", False, 8, 1, 1)]
        summary = peers.summary(rows, 1)
        self.assertAlmostEqual(summary["torch"]["mean"], 4)
        self.assertAlmostEqual(summary["torch"]["dense_mean"], 2)
        self.assertEqual((summary["onnxruntime"]["worst"], summary["onnxruntime"]["worst_name"]), (1, "b"))
        self.assertAlmostEqual(summary["fastest"]["mean"], 1)


class Ours(unittest.TestCase):
    def test_a_turn_gives_times_and_the_kernel(self):
        ours = peers.Ours(PROGRAM, SUITE)
        for _ in range(2):
            reply = ours.turn("mobilenetv2_dw_960", 2, 1)
            self.assertGreater(len(reply["samples_us"]), 0)
            self.assertGreater(min(reply["samples_us"]), 0)
            self.assertIn("/conv2d_", reply["kernel"])
        with self.assertRaises(peers.CannotRun):
            ours.turn("nothing", 1, 1)
        ours.close()
        self.assertEqual(ours.process.returncode, 0)

    def test_a_program_that_is_not_there_is_said(self):
        with self.assertRaises(peers.CannotRun):
            peers.Ours("no/such/program", SUITE)


if __name__ == "__main__":
    unittest.main()
