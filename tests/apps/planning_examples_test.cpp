// SPDX-License-Identifier: Apache-2.0 OR MIT
// docs/planning-examples.md holds what the program prints: every console block is run again and compared.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "program.hpp"

namespace convoke::apps_test {
namespace {

struct Block {
  std::string command, output;
};

std::vector<Block> console_blocks(const std::string& text) {
  const std::string open = "```console\n$ convoke ", close = "```\n";
  std::vector<Block> blocks;
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    const std::size_t command = at + open.size(), output = text.find('\n', command) + 1;
    at = text.find(close, output);
    blocks.push_back({text.substr(command, output - command - 1), text.substr(output, at - output)});
  }
  return blocks;
}

TEST(PlanningExamples, AreWhatTheProgramPrints) {
  const std::string path = CONVOKE_SOURCE_DIR "/docs/planning-examples.md";
  const std::vector<Block> blocks = console_blocks(read_bytes(path));
  EXPECT_EQ(blocks.size(), 5U);
  for (const Block& block : blocks) {
    const Ran ran = execute({"sh", "-c", "CONVOKE_RATES=/nonexistent " CONVOKE_PROGRAM " " + block.command},
                            Out::captured, CONVOKE_SOURCE_DIR);
    EXPECT_EQ(ran.out, block.output) << "docs/planning-examples.md, convoke " << block.command << "\n" << ran.err;
  }
}

}  // namespace
}  // namespace convoke::apps_test
