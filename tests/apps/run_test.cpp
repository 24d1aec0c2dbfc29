// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>

#include <bit>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "program.hpp"

namespace convoke::apps_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// x is 1 to 9, weight the identity and twice it below: sums that no zero and no copy could imitate.
class RunFiles : public testing::Test {
 protected:
  RunFiles()
      : x(scratch.write("x.npy", npy("<f4", "(1, 1, 3, 3)", floats({1, 2, 3, 4, 5, 6, 7, 8, 9})))),
        weight(scratch.write("w.npy", npy("<f4", "(2, 1, 2, 2)", floats({1, 0, 0, 1, 2, 0, 0, 2})))),
        bias(scratch.write("b.npy", npy("<f4", "(2,)", floats({0.5F, -1})))) {}

  std::vector<std::string> run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"run", "--x", x, "--weight", weight};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // It must be refused in one line, and nothing but the three inputs may be there.
  void refused(const std::vector<std::string>& more, const std::string& part) const {
    std::vector<std::string> arguments = run(more);
    arguments.insert(arguments.end(), {"--out", scratch.at("y.npy")});
    const Ran ran = convoke(arguments);
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, AllOf(StartsWith("convoke: error: "), HasSubstr(part), EndsWith("\n")));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(scratch.at("y.npy")));
  }

  const Scratch scratch;
  const std::string x, weight, bias;
};

TEST_F(RunFiles, WritesTheConvolutionAndItsDigest) {
  const std::string y = scratch.at("y.npy");
  const Ran ran = convoke(run({"--bias", bias, "--out", y, "--json", "--verify"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.err, IsEmpty());
  const std::string want = floats({6.5F, 8.5F, 12.5F, 14.5F, 11, 15, 23, 27});
  EXPECT_THAT(read_bytes(y), EndsWith(want));
  EXPECT_THAT(read_bytes(y), HasSubstr("'shape': (1, 2, 2, 2)"));
  const Json json = json_of(ran);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_THAT(keys_of(json), ElementsAre("problem", "kernel", "route", "ms", "price_ns", "gflops", "digest",
                                         "packed_bytes", "verified", "reproducer"));
  EXPECT_TRUE(json.at("packed_bytes").is_null());
  EXPECT_EQ(json.at("problem"), "conv2d x=1x1x3x3 weight=2x1x2x2 bias=1");
  EXPECT_EQ(json.at("reproducer"),
            "convoke run conv2d x=1x1x3x3 weight=2x1x2x2 bias=1 --x " + x + " --weight " + weight + " --bias " + bias);
  EXPECT_EQ(json.at("digest"), sha256_hex(want));
  EXPECT_EQ(json.at("verified"), true);
  EXPECT_EQ(json.at("route"), Json::array({json.at("kernel")}));
  EXPECT_THAT(json.at("kernel").get<std::string>(), StartsWith("cpu/portable/conv2d_f32/f32,f32,f32,f32#"));
  EXPECT_GT(json.at("ms").get<double>(), 0);
}

TEST_F(RunFiles, APackedWeightGivesTheSameBits) {
  const Ran plain = convoke(run({"--json"})), packed = convoke(run({"--packed", "--json", "--verify"}));
  ASSERT_EQ(packed.exit, 0) << packed.err;
  const Json json = json_of(packed);
  EXPECT_EQ(json.at("packed_bytes"), 4 * 2 * 2 * 2);
  EXPECT_EQ(json.at("digest"), json_of(plain).at("digest"));
  EXPECT_EQ(json.at("verified"), true);
  EXPECT_THAT(json.at("reproducer").get<std::string>(), EndsWith(" --packed"));
  EXPECT_THAT(convoke(run({"--packed"})).out, HasSubstr("the weight, once, to 32 bytes"));
}

TEST_F(RunFiles, HeedsTheParameters) {
  const auto digest = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = run(more);
    arguments.emplace_back("--json");
    return json_of(convoke(arguments)).at("digest");
  };
  EXPECT_EQ(digest({}), sha256_hex(floats({6, 8, 12, 14, 12, 16, 24, 28})));
  EXPECT_EQ(digest({"conv2d", "stride=2"}), sha256_hex(floats({6, 12})));
  EXPECT_EQ(digest({"conv2d", "dilation=2"}), sha256_hex(floats({10, 20})));
  EXPECT_EQ(digest({"conv2d", "padding=1,0,0,0", "stride=2x1"}), sha256_hex(floats({2, 3, 12, 14, 4, 6, 24, 28})));
}

TEST_F(RunFiles, TransposesToo) {
  const std::string w = scratch.write("t.npy", npy("<f4", "(1, 1, 1, 2)", floats({1, 10})));
  const Ran ran = convoke({"run", "conv_transpose2d", "stride=1x2", "--x", x, "--weight", w, "--json"});
  EXPECT_EQ(json_of(ran).at("digest"),
            sha256_hex(floats({1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60, 7, 70, 8, 80, 9, 90})))
      << ran.err;
}

TEST_F(RunFiles, ReadsBf16AsUint16) {
  const std::string words("\x80\x3f\x00\x40\x40\x40\x80\x40", 8);  // 1 2 3 4
  const std::string one("\x00\x40", 2);                            // 2
  const std::string bx = scratch.write("bx.npy", npy("<u2", "(1, 1, 2, 2)", words));
  const std::string bw = scratch.write("bw.npy", npy("<u2", "(1, 1, 1, 1)", one));
  const Ran ran = convoke({"run", "--x", bx, "--weight", bw, "--dtype", "bf16", "--json"});
  EXPECT_EQ(json_of(ran).at("digest"), sha256_hex(std::string("\x00\x40\x80\x40\xc0\x40\x00\x41", 8))) << ran.err;
  EXPECT_EQ(json_of(ran).at("problem"), "conv2d x=1x1x2x2 weight=1x1x1x1 dtype=bf16");
  EXPECT_EQ(convoke({"run", "--x", bx, "--weight", bw}).exit, 2);
}

TEST_F(RunFiles, MakesNaNsCanonicalInTheDigest) {
  const std::string payload("\x01\x02\xc0\xff", 4), canonical("\x00\x00\xc0\x7f", 4);
  const std::string nx = scratch.write("nx.npy", npy("<f4", "(1, 1, 1, 1)", payload));
  const std::string nw = scratch.write("nw.npy", npy("<f4", "(1, 1, 1, 1)", floats({1})));
  EXPECT_EQ(json_of(convoke({"run", "--x", nx, "--weight", nw, "--json"})).at("digest"), sha256_hex(canonical));
}

TEST_F(RunFiles, RefusesBrokenFilesInOneLine) {
  const std::string whole = read_bytes(bias);
  refused({"--bias", scratch.at("none.npy")}, "none.npy");
  refused({"--bias", scratch.write("cut.npy", whole.substr(0, whole.size() - 3))}, "cut.npy");
  refused({"--bias", scratch.write("magic.npy", "NUMPY" + whole)}, "magic.npy");
  refused({"--bias", scratch.write("header.npy", whole.substr(0, 20))}, "header.npy");
  refused({"--bias", scratch.write("int.npy", npy("<i4", "(2,)", floats({1, 2})))}, "int.npy");
  refused({"--bias", scratch.write("f64.npy", npy("<f8", "(2,)", floats({1, 2, 3, 4})))}, "f64");
  refused({"--bias", scratch.write("long.npy", npy("<f4", "(3,)", floats({1, 2, 3})))}, "bias");
  refused({"--dtype", "f16"}, "f16");
  refused({"--dtype", "f128"}, "f128");
  refused({"conv2d", "padding=-1"}, "padding");
  refused({"conv2d", "dilation=3"}, "kernel");
  refused({"conv2d", "x=1x1x4x4"}, "x=");
  refused({"conv2d", "seed=3"}, "seed");
  refused({"conv2d", "bias=0", "--bias", bias}, "bias=0");
}

TEST_F(RunFiles, RefusesAnEndlessFileAtItsStart) {
  refused({"--bias", "/dev/zero"}, "/dev/zero: magic: not a .npy file");
}

TEST_F(RunFiles, PrintsTheCommandThatDoesItAgain) {
  const Ran ran = convoke(run({"conv2d", "stride=2"}));
  EXPECT_THAT(ran.out, StartsWith("convoke run conv2d x=1x1x3x3 weight=2x1x2x2 stride=2 --x " + x + " --weight " +
                                  weight + "\n"));
}

TEST_F(RunFiles, ErrorsAboutAProblemReproduceIt) {
  const Ran ran = convoke(run({"conv2d", "stride=0"}));
  EXPECT_THAT(ran.err, HasSubstr("convoke run conv2d x=1x1x3x3 weight=2x1x2x2 stride=0 --x " + x));
  const std::string files = " --x " + x + " --weight " + weight;
  EXPECT_THAT(convoke(run({"conv2d", "strides=2"})).err,
              HasSubstr("reproduce with: convoke run conv2d strides=2" + files));
  EXPECT_THAT(convoke(run({"conv2d", "seed=2"})).err, HasSubstr("reproduce with: convoke run conv2d seed=2" + files));
  EXPECT_THAT(convoke(run({"--bias", "/dev/null"})).err, HasSubstr(files + " --bias /dev/null"));
}

TEST_F(RunFiles, WritesWholeOrNotAtAll) {
  const Ran ran = convoke(run({"--out", scratch.at("no/such/folder/y.npy")}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("y.npy"));
  EXPECT_EQ(scratch.entries(), 3U);
  EXPECT_EQ(convoke(run({"--out", scratch.at("y.npy")})).exit, 0);
  EXPECT_EQ(scratch.entries(), 4U) << "a temporary file was left";
}

std::vector<std::string> line(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  return words;
}

TEST(RunLine, RefusesWhatIsNoProblemLine) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& part) {
    const Ran ran = convoke(line(words));
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, AllOf(StartsWith("convoke: error: "), HasSubstr(part)));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    std::string given = words.empty() ? "" : "reproduce with: convoke run " + words.front();
    if (part != "threads") {
      EXPECT_THAT(ran.err, HasSubstr(given));
    }
  };
  refused({}, "--help");
  refused({"conv3d", "x=1x1x3x3", "weight=1x1x2x2"}, "conv3d");
  refused({"conv2d", "x=1x1x3x3"}, "weight");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "strides=2"}, "strides");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "stride=two"}, "stride");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "dtype=f16", "--dtype", "f32"}, "dtype");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "--kernel", "gpu/*"}, "gpu/*");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "demand=quick"}, "demand=quick");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "--threads", "-1"}, "threads");
  refused({"--x", "x.npy"}, "--weight");
  refused({"--bias", "b.npy"}, "--bias FILE goes with --x FILE and --weight FILE");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "stride=2", "output_padding=1"}, "belongs to conv_transpose2d");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "threads=4097"}, "0 to 4096");
  refused({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "padding=-1,2,3,4"}, "-1,2,3,4 (top, bottom, left, right)");
}

TEST(RunLine, PrintsTheProblemBack) {
  const Ran ran =
      convoke(line({"conv2d", "dilation=1", "weight=4x1x3x2", "groups=2", "x=2x2x5x6", "stride=2x1", "--verify"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("convoke run conv2d x=2x2x5x6 weight=4x1x3x2 stride=2x1 groups=2\n"),
                             HasSubstr("cpu/portable/conv2d_f32/f32,f32,f32#"), HasSubstr("2x4x2x5 f32"),
                             HasSubstr("GFLOP/s"), HasSubstr("verified  yes: 80 of 80 outputs")));
  EXPECT_EQ(convoke({"run", "conv2d x=2x2x5x6 weight=4x2x3x2"}).exit, 0) << "a line in one word";
}

TEST(RunLine, GivesTheSameDigestForEveryLayoutAndThreadCount) {
  const auto digest = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"conv2d", "x=2x4x7x6", "weight=6x2x3x3", "groups=2", "padding=1", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = convoke(line(words));
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return json_of(ran).at("digest").get<std::string>();
  };
  const std::string dense = digest({});
  for (const char* layout : {"channels_last", "sliced", "permuted", "flipped", "offset"})
    for (const char* operand : {"x.layout=", "weight.layout=", "out.layout="})
      EXPECT_EQ(digest({operand + std::string(layout)}), dense) << operand << layout;
  EXPECT_EQ(digest({"--threads", "3"}), dense);
  EXPECT_NE(digest({"seed=5"}), dense);
  EXPECT_NE(digest({"dtype=f64"}), dense);
}

TEST(RunLine, VerifiesOnlyWhenAsked) {
  const std::vector<std::string> words = line({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "dtype=f16", "--json"});
  EXPECT_TRUE(json_of(convoke(words)).at("verified").is_null());
}

TEST(RunLine, ForcesAKernel) {
  const Ran ran = convoke(line({"conv2d", "x=1x1x3x3", "weight=1x1x2x2", "--kernel", "*/conv2d_f32/*", "--json"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(json_of(ran).at("kernel").get<std::string>(), HasSubstr("conv2d_f32"));
}

TEST(RunLine, ForcesAForeignKernelAndSaysWhyItCannot) {
  const std::string contracts = CONVOKE_SUITES "/contracts";
  const Ran cpu = convoke({"run", "--contracts", contracts, "conv2d", "x=1x1x3x3", "weight=1x1x2x2", "--kernel",
                           "*/portable-cpu/*", "--json"});
  EXPECT_EQ(cpu.exit, 0) << cpu.err;
  EXPECT_THAT(json_of(cpu).at("reproducer").get<std::string>(),
              EndsWith("'kernel=*/portable-cpu/*' --contracts " + contracts));
  EXPECT_EQ(json_of(cpu).at("kernel"), "cpu/portable-cpu/conv2d_f32/f32,f32,f32#9698b0be");
  const Ran gpu =
      convoke({"run", "conv2d", "x=1x1x3x3", "weight=1x1x2x2", "kernel=vulkan/*", "--contracts", contracts});
  EXPECT_EQ(gpu.exit, 2);
  EXPECT_THAT(gpu.err, AllOf(StartsWith("convoke: error: "), HasSubstr("conv2d_f32/f32,f32,f32#c90ae375: backend: "),
                             HasSubstr("'kernel=vulkan/*' --contracts " + contracts)));
}

TEST(RunLine, RunsEmptyTensors) {
  const Ran ran = convoke(line({"conv2d", "x=0x2x5x5", "weight=3x2x3x3", "--verify", "--json"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(json_of(ran).at("digest"), sha256_hex(""));
  EXPECT_EQ(json_of(ran).at("verified"), true);
}

}  // namespace
}  // namespace convoke::apps_test
