# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The include check finds what it promises to find, and fails where it finds nothing to look at."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import check_includes  # noqa: E402


class Project:
    """A small project under git in a temporary folder."""

    def __init__(self, files: dict[str, str]):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def findings(self, path: str) -> list[str]:
        return check_includes.findings(self.root, [path])[1]


HEADERS = {"src/base/layout.hpp": "", "src/plan/plan.hpp": "", "src/bind/table.hpp": "",
           "kernels/portable/entries.hpp": "", "kernels/simd/entries.hpp": "", "kernels/common/kernel.h": "",
           "include/convoke/tensor.hpp": ""}


class IncludeDirections(unittest.TestCase):
    def judge(self, path: str, text: str) -> list[str]:
        project = Project({**HEADERS, path: text})
        with project.folder:
            return project.findings(path)

    def test_allowed_directions_pass(self):
        self.assertEqual(self.judge("src/plan/route.cpp", '#include "plan/plan.hpp"\n#include "bind/table.hpp"\n'
                                    '#include "convoke/tensor.hpp"\n#include <vector>\n#include <fmt/core.h>\n'), [])
        self.assertEqual(self.judge("src/bind/link.cpp", '#include "kernels/portable/entries.hpp"\n'), [])
        self.assertEqual(self.judge("kernels/portable/conv.cpp", '#include "kernels/common/kernel.h"\n'
                                    '#include "kernels/portable/entries.hpp"\n#include <cstdint>\n'), [])

    def test_an_upward_include_is_found_with_its_line(self):
        found = self.judge("src/base/layout.cpp", '#include "base/layout.hpp"\n#include "plan/plan.hpp"\n')
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/base/layout.cpp:2: src/base may not include src/plan/plan.hpp"))

    def test_only_bind_names_a_kernel(self):
        self.assertEqual(len(self.judge("src/run/run.cpp", '#include "kernels/portable/entries.hpp"\n')), 1)

    def test_kernel_folders_do_not_see_each_other(self):
        self.assertEqual(len(self.judge("kernels/simd/conv.cpp", '#include "kernels/portable/entries.hpp"\n')), 1)
        self.assertEqual(len(self.judge("kernels/simd/conv.cpp", '#include "../portable/entries.hpp"\n')), 1)

    def test_containers_stay_out_of_kernels(self):
        self.assertEqual(len(self.judge("kernels/simd/conv.cpp", "#include <vector>\n")), 1)
        self.assertEqual(self.judge("kernels/simd/entries.cpp", "#include <span>\n"), [])

    def test_third_party_headers_have_an_owner(self):
        self.assertEqual(self.judge("src/contract/yaml.cpp", "#include <yaml-cpp/parser.h>\n"), [])
        self.assertEqual(len(self.judge("src/bind/yaml.cpp", "#include <yaml-cpp/parser.h>\n")), 1)
        self.assertEqual(self.judge("kernels/simd/vector.h", "#include <hwy/highway.h>\n"), [])
        self.assertEqual(len(self.judge("kernels/portable/tile.h", "#include <hwy/highway.h>\n")), 1)
        self.assertEqual(len(self.judge("src/base/new.cpp", "#include <boost/any.hpp>\n")), 1)

    def test_unknown_folders_and_headers_are_found(self):
        self.assertEqual(len(self.judge("elsewhere/a.cpp", "")), 1)
        self.assertEqual(len(self.judge("src/base/a.cpp", '#include "base/missing.hpp"\n')), 1)

    def test_looking_at_nothing_fails(self):
        project = Project({"README.md": ""})
        with project.folder:
            self.assertEqual(check_includes.main([str(project.root)]), 1)


if __name__ == "__main__":
    unittest.main()
