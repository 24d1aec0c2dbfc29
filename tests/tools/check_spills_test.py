# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The spill check sees each way in which a vector can lie on the stack, and nothing else."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_spills  # noqa: E402


def function(*instructions, name="run_tile"):
    lines = "\n".join(f"     {i:x}:      \t{line}" for i, line in enumerate(instructions))
    return f"0000000000000130 <{name}>:\n{lines}\n"


FUSED = "vfmadd231ps\t(%rax), %zmm1, %zmm2"


class Spills(unittest.TestCase):
    def count(self, *instructions):
        looked_at, wrong = check_spills.judge(function(*instructions))
        self.assertEqual(looked_at, 1)
        return sum(len(found) for _, found in wrong)

    def test_a_loop_in_registers_passes(self):
        self.assertEqual(self.count("vmovups\t(%rdi), %zmm1", FUSED, "vmovups\t%zmm2, (%rdi)"), 0)

    def test_stores_loads_and_folded_loads_count(self):
        self.assertEqual(self.count(FUSED, "vmovups\t%zmm2, 0x40(%rsp)"), 1)
        self.assertEqual(self.count(FUSED, "vmovaps\t-0x80(%rsp), %ymm15"), 1)
        self.assertEqual(self.count("vfmadd213pd\t(%rsp,%rax,8), %ymm1, %ymm2"), 1)
        self.assertEqual(self.count("vfmadd213ps 0x20(%rsp),%ymm1,%ymm2"), 1)

    def test_the_frame_pointer_counts_only_where_it_is_one(self):
        load = "vmovups\t-0x40(%rbp), %ymm11"
        self.assertEqual(self.count(FUSED, load), 0)
        self.assertEqual(self.count("movq\t%rsp, %rbp", FUSED, load), 1)
        self.assertEqual(self.count("leaq\t0x20(%rsp), %rbp", FUSED, load), 1)
        self.assertEqual(self.count("movq\t-0x8(%rsp), %rbp", FUSED, load), 0)

    def test_addresses_and_indices_on_the_stack_are_no_vectors(self):
        self.assertEqual(self.count(FUSED, "movq\t%rax, 0x8(%rsp)", "vmovups\t%xmm0, 0x10(%rsp)"), 0)

    def test_each_function_is_judged_by_itself_and_named(self):
        spill = "vmovups\t%zmm2, 0x40(%rsp)"
        listing = "\n".join((function(FUSED, name="good"), function(FUSED, spill, name="bad"),
                             function(spill, name="idle")))
        self.assertEqual(check_spills.judge(listing), (2, [("bad", [spill])]))

    def test_scalar_multiply_adds_are_not_looked_at(self):
        self.assertEqual(check_spills.judge(function("vfmadd231ss\t(%rax), %xmm1, %xmm2")), (0, []))


if __name__ == "__main__":
    unittest.main()
