// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program.hpp"

namespace convoke::apps_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string small = "x=1x1x3x3";
const std::vector<std::string> small_run = {"run", "conv2d", small, "weight=1x1x2x2"};

// One line that begins as every error does and says what to do next.
void expect_refused(const Ran& ran, const std::string& part) {
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, AllOf(StartsWith("convoke: error: "), EndsWith("\n"), HasSubstr(part)));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

TEST(Main, NeedsACommand) { expect_refused(convoke({}), "--help"); }
TEST(Main, RefusesAnUnknownCommand) { expect_refused(convoke({"convolve"}), "convolve"); }
TEST(Main, RefusesAnUnknownOption) {
  expect_refused(convoke({"run", "conv2d", "--fast"}), "see 'convoke run --help'");
  expect_refused(convoke({"contracts", "check", "x", "--fast"}), "see 'convoke contracts check --help'");
}
TEST(Main, GuessesWhatWasMeant) {
  expect_refused(convoke({"suit"}), "'suit' is not known here; did you mean `suite`?");
  expect_refused(convoke({"run", "conv2d", "--thread=3"}), "did you mean `--threads`?");
  expect_refused(convoke({"contracts", "chek", "x"}), "did you mean `check`?");
}
TEST(Main, RefusesAnOptionGivenTwice) {
  expect_refused(convoke({"run", "conv2d", "--out", "a", "--out", "b"}), "--out is given more than once");
}
TEST(Main, RefusesEmptyWords) {
  for (const char* option : {"--out", "--kernel", "--x", "--dtype"})
    expect_refused(convoke({"run", "conv2d", small, "weight=1x1x2x2", option, ""}), "must not be empty");
  expect_refused(convoke({"suite", "--random", "1", "--kernel", ""}), "must not be empty");
}
TEST(Main, NeedsAContractsCommand) { expect_refused(convoke({"contracts"}), "see 'convoke contracts --help'"); }

TEST(Main, TellsItsVersion) {
  const Ran ran = convoke({"--version"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("convoke " CONVOKE_PROJECT_VERSION "\n"), HasSubstr("commit "),
                             HasSubstr("compiler "), HasSubstr("kernels for baseline")));
}

class Help : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Help, FitsAHundredColumnsAndGivesExamples) {
  std::vector<std::string> arguments = GetParam();
  arguments.emplace_back("--help");
  const Ran ran = convoke(arguments);
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.err, IsEmpty());
  std::string own = "convoke";
  for (const std::string& word : GetParam()) own += " " + word;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Examples:"), HasSubstr(own), HasSubstr("--help")));
  for (std::size_t begin = 0, end = 0; begin < ran.out.size(); begin = end + 1) {
    end = std::min(ran.out.find('\n', begin), ran.out.size());
    EXPECT_LE(end - begin, 100U) << ran.out.substr(begin, end - begin);
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryCommand, Help,
    testing::Values(std::vector<std::string>{}, std::vector<std::string>{"run"}, std::vector<std::string>{"explain"},
                    std::vector<std::string>{"suite"}, std::vector<std::string>{"contracts"},
                    std::vector<std::string>{"contracts", "check"}, std::vector<std::string>{"contracts", "list"},
                    std::vector<std::string>{"contracts", "show"}, std::vector<std::string>{"contracts", "coverage"},
                    std::vector<std::string>{"contracts", "fmt"}, std::vector<std::string>{"calibrate"},
                    std::vector<std::string>{"devices"}, std::vector<std::string>{"completion"}));

TEST(Main, SaysSoWhenStandardOutputIsFull) {
  const Ran ran = convoke(small_run, Out::full_disk);
  expect_refused(ran, "cannot write standard output: No space left on device");
  expect_refused(convoke({"--help"}, Out::full_disk), "standard output");
}

TEST(Main, SaysSoWhenStandardOutputIsClosed) {
  expect_refused(convoke(small_run, Out::closed), "cannot write standard output: Bad file descriptor");
}

TEST(Main, EndsWithoutAWordWhenNobodyReads) {
  const Ran ran = convoke(small_run, Out::broken_pipe);
  EXPECT_EQ(ran.exit, -1) << "the signal that ends every filter";
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST(Main, KeepsAClosedStandardOutputOutOfItsFiles) {
  const Scratch scratch;
  std::vector<std::string> arguments = small_run;
  arguments.insert(arguments.end(), {"--out", scratch.at("y.npy")});
  EXPECT_EQ(convoke(arguments).exit, 0);
  const std::string whole = read_bytes(scratch.at("y.npy"));
  EXPECT_EQ(convoke(arguments, Out::closed).exit, 2);
  EXPECT_EQ(read_bytes(scratch.at("y.npy")), whole);
}

TEST(Main, PrintsNoColourAndNoBarIntoAPipe) {
  const Ran ran = convoke(small_run);
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST(Devices, DescribesTheHost) {
  const Ran text = convoke({"devices"});
  EXPECT_EQ(text.exit, 0);
  EXPECT_THAT(text.out, HasSubstr("cpu"));
  const Json json = json_of(convoke({"devices", "--json"}));
  ASSERT_TRUE(json.is_object());
  const Json& device = json.at("devices").at(0);
  EXPECT_EQ(device.at("backend"), "cpu");
  EXPECT_GE(device.at("cores").get<int>(), 1);
  EXPECT_FALSE(device.at("arch").get<std::string>().empty());
}

// What bash offers after these words, the last one being typed.
std::string offered(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  const std::string script = "source <(" CONVOKE_PROGRAM " completion bash); COMP_WORDS=(convoke" + line +
                             "); COMP_CWORD=" + std::to_string(words.size()) +
                             "; _convoke; printf ' %s ' \"${COMPREPLY[@]}\"";
  return execute({"bash", "-c", script}).out;
}

TEST(Completion, CompletesInBash) {
  EXPECT_THAT(offered({"con"}), AllOf(HasSubstr(" contracts "), testing::Not(HasSubstr(" run "))));
  EXPECT_THAT(offered({"contracts", ""}), AllOf(HasSubstr(" check "), HasSubstr(" fmt ")));
  EXPECT_THAT(offered({"contracts", "fmt", "--"}), AllOf(HasSubstr(" --write "), testing::Not(HasSubstr(" --json "))));
  EXPECT_THAT(offered({"run", "conv2d", "--ver"}), HasSubstr(" --verify "));
  EXPECT_THAT(offered({"run", "conv2"}), HasSubstr(" conv2d "));
}

TEST(Completion, KnowsEveryCommandInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = convoke({"completion", shell});
    EXPECT_EQ(ran.exit, 0);
    for (const char* word : {"run", "suite", "contracts", "devices", "completion", "check", "random"})
      EXPECT_THAT(ran.out, HasSubstr(word)) << shell;
  }
  expect_refused(convoke({"completion", "tcsh"}), "see 'convoke completion --help'");
}

}  // namespace
}  // namespace convoke::apps_test
