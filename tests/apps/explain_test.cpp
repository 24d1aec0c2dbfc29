// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/sanitizer.hpp"
#include "program.hpp"

namespace convoke::apps_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> half = {"explain",    "conv2d",     "x=1x8x12x12",           "weight=8x8x3x3",
                                       "dtype=bf16", "demand=any", "x.layout=channels_last"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The defaults: whatever a calibration left on this machine must not decide what a test sees.
class Explain : public testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv("CONVOKE_RATES", "/nonexistent/rates.json", 1); }
  static void TearDownTestSuite() { ::unsetenv("CONVOKE_RATES"); }
};

TEST_F(Explain, JsonHasOneCandidateARouteAndRefusalsOnlyWhereRefused) {
  const Ran ran = convoke(with(half, {"--json", "--forbid", "cpu/simd/*"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Json json = json_of(ran);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_THAT(keys_of(json), ElementsAre("problem", "demand", "chosen", "candidates", "reproducer"));
  EXPECT_EQ(json.at("demand"), "any");
  std::vector<std::string> routes;
  std::size_t admitted = 0;
  for (const Json& candidate : json.at("candidates")) {
    routes.push_back(candidate.at("route"));
    EXPECT_THAT(keys_of(candidate), IsSupersetOf({"route", "id", "admitted", "price_ns", "steps"}));
    EXPECT_NE(candidate.at("admitted").get<bool>(), candidate.contains("refused")) << candidate;
    double sum = 0;
    for (const Json& step : candidate.at("steps")) sum += step.at("price_ns").get<double>();
    if (candidate.at("admitted").get<bool>()) {
      ++admitted;
      EXPECT_DOUBLE_EQ(sum, candidate.at("price_ns").get<double>());
    } else {
      EXPECT_THAT(keys_of(candidate.at("refused")), ElementsAre("clause", "wanted", "found"));
      EXPECT_TRUE(candidate.at("price_ns").is_null());
    }
  }
  EXPECT_EQ(admitted, 4U) << "as it lies, copied dense, through f32, through f64";
  EXPECT_EQ(std::ranges::count(routes, json.at("chosen").get<std::string>()), 1);
  std::ranges::sort(routes);
  EXPECT_EQ(std::ranges::adjacent_find(routes), routes.end()) << "two candidates have one name";
}

TEST_F(Explain, TheTableFitsAHundredColumnsAndMarksTheChosenRoute) {
  const Ran ran = convoke(half);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("convoke explain conv2d"), HasSubstr("\n> "), HasSubstr("cast_to_f32"),
                             HasSubstr(" on weight"), HasSubstr("At other keys:")));
  // The first line is the reproducer, which is never wrapped.
  for (std::size_t begin = ran.out.find('\n') + 1, end = 0; begin < ran.out.size(); begin = end + 1) {
    end = std::min(ran.out.find('\n', begin), ran.out.size());
    EXPECT_LE(end - begin, 100U) << ran.out.substr(begin, end - begin);
  }
}

TEST_F(Explain, ItsReproducerExplainsTheSame) {
  const Ran first = convoke(with(half, {"--forbid", "*/contiguize/*", "--backend", "cpu", "--json"}));
  const std::string line = json_of(first).at("reproducer").get<std::string>();
  EXPECT_THAT(line, AllOf(StartsWith("convoke explain conv2d"), HasSubstr("--forbid"), HasSubstr("--backend cpu")));
  const Ran again = execute({"sh", "-c", CONVOKE_PROGRAM + line.substr(line.find(' ')) + " --json"});
  EXPECT_EQ(again.out, first.out) << again.err;
}

TEST_F(Explain, WithoutARouteItSaysWhyAndExitsWithOne) {
  const Ran ran = convoke({"explain", "conv2d", "x=1x1x4x4", "weight=1x1x3x3", "demand=order(pairwise)"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("No route"), HasSubstr("numerics.order"), HasSubstr("pairwise")));
  const Ran json = convoke({"explain", "conv2d", "x=1x1x4x4", "weight=1x1x3x3", "demand=order(pairwise)", "--json"});
  EXPECT_EQ(json.exit, 1);
  EXPECT_TRUE(json_of(json).at("chosen").is_null());
}

TEST_F(Explain, ForbidBackendAndCapRefuseByTheirClause) {
  const auto clauses = [](const std::vector<std::string>& options) {
    std::vector<std::string> found;
    const Json json = json_of(convoke(with(with(half, options), {"--json"})));
    for (const Json& candidate : json.at("candidates"))
      if (candidate.contains("refused")) found.push_back(candidate.at("refused").at("clause"));
    return found;
  };
  EXPECT_THAT(clauses({"--forbid", "*/cast_to_*"}), testing::Contains("Cast"));
  EXPECT_THAT(clauses({"--backend", "vulkan"}), testing::Contains("backend"));
  EXPECT_THAT(clauses({"--workspace-cap", "100"}), testing::Contains("workspace"));
  EXPECT_THAT(clauses({}), Not(testing::Contains("workspace")));
}

TEST_F(Explain, StepsOfAPackedWeightAreShownAndNotCounted) {
  const std::vector<std::string> plain = with(half, {"--forbid", "cpu/simd/*", "--json"});
  const Ran ran = convoke(with(plain, {"--packed"}));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const Json json = json_of(ran), before = json_of(convoke(plain));
  EXPECT_THAT(json.at("reproducer").get<std::string>(), HasSubstr(" --packed"));
  std::size_t once = 0;
  for (std::size_t i = 0; i < json.at("candidates").size(); ++i) {
    const Json& candidate = json.at("candidates")[i];
    if (!candidate.at("admitted").get<bool>()) continue;
    double sum = 0;
    for (const Json& step : candidate.at("steps")) {
      EXPECT_EQ(step.at("once").get<bool>(), step.at("role") == "weight") << step;
      EXPECT_GT(step.at("price_ns").get<double>(), 0);
      if (step.at("once").get<bool>()) ++once;
      if (!step.at("once").get<bool>()) sum += step.at("price_ns").get<double>();
    }
    EXPECT_DOUBLE_EQ(sum, candidate.at("price_ns").get<double>());
    for (const Json& step : before.at("candidates")[i].at("steps")) EXPECT_FALSE(step.at("once").get<bool>());
  }
  EXPECT_EQ(once, 2U) << "casts to f32 and to f64";
  EXPECT_THAT(convoke(with(half, {"--packed"})).out, HasSubstr(" on weight, once"));
  EXPECT_THAT(convoke(with(half, {"--packed", "--dot"})).out, HasSubstr(", once"));
}

TEST_F(Explain, ForeignClaimsAreShownAndNotReliedOn) {
  const Ran ran = convoke({"explain", "conv2d", "x=1x1x4x4", "weight=1x1x3x3", "--json", "--contracts",
                           CONVOKE_SUITES "/contracts/cpu-conv.fkc.md"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const Json json = json_of(ran);
  for (const Json& candidate : json.at("candidates")) {
    EXPECT_EQ(candidate.at("evidence"), "declared");
    const bool foreign = candidate.at("id").get<std::string>().starts_with("cpu/portable-cpu/");
    EXPECT_EQ(candidate.at("relied_on").get<bool>(), !foreign) << candidate;
  }
}

TEST_F(Explain, DotIsAGraphOfTheAdmittedRoutes) {
  const Ran ran = convoke(with(half, {"--dot"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("digraph routes {\n"), EndsWith("}\n"), HasSubstr("penwidth"),
                             HasSubstr("cast_to_f32"), HasSubstr("-> out"), Not(HasSubstr("bias"))));
}

TEST_F(Explain, ARatesTableThatCannotBeReadIsAnError) {
  const Scratch scratch;
  const std::string broken = scratch.write("rates.json", "{\"convoke_rates\": 2}");
  for (const std::string& path : {broken, scratch.at("none.json")}) {
    const Ran ran = convoke(with(half, {"--rates", path}));
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr(path));
  }
}

TEST_F(Explain, PricesAreThoseOfATableThatACalibrationWrote) {
  if (address_sanitizer) GTEST_SKIP() << "a calibration takes half a minute here, and Calibrate's test makes one";
  const Scratch scratch;
  const std::string table = scratch.at("made/for/it/rates.json");
  const Ran ran = convoke({"calibrate", "--out", table, "--quick"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Conv2D/conv"), HasSubstr("Written to " + table)));
  EXPECT_THAT(ran.err, IsEmpty()) << "no progress bar where nobody watches";
  const auto price = [&](const std::vector<std::string>& options) {
    const Json json = json_of(convoke(with(with(half, options), {"--json"})));
    for (const Json& candidate : json.at("candidates"))
      if (candidate.at("admitted").get<bool>()) return candidate.at("price_ns").get<double>();
    return 0.0;
  };
  EXPECT_GT(price({"--rates", table}), 0);
  EXPECT_NE(price({"--rates", table}), price({}));
}

TEST_F(Explain, RegretRunsEveryRouteOfEachLayer) {
  const Scratch scratch;
  const std::string layers = scratch.write("one.csv",
                                           "op,name,network,n,cin,h,w,cout,kh,kw,sh,sw,ph,pw,dh,dw,groups,oph,opw\n"
                                           "conv2d,one,none,1,4,8,8,4,3,3,1,1,1,1,1,1,1,0,0\n");
  const Ran packed = convoke({"suite", "--regret", layers, "--repeat", "1", "--json", "--packed"});
  ASSERT_EQ(packed.exit, 0) << packed.err << packed.out;
  EXPECT_THAT(json_of(packed).at("layers").at(0).at("reproducer").get<std::string>(), EndsWith(" --packed"));
  const Ran ran = convoke({"suite", "--regret", layers, "--repeat", "1", "--json"});
  ASSERT_EQ(ran.exit, 0) << ran.err << ran.out;
  const Json json = json_of(ran);
  ASSERT_EQ(json.at("layers").size(), 2U) << "dense, and channels last";
  EXPECT_EQ(json.at("wrong"), 0);
  const auto pairs = [&](const char* order) {
    const Json& counts = json.at(order);
    EXPECT_LE(counts.at("in_order").get<std::size_t>(), counts.at("pairs").get<std::size_t>());
    return counts.at("pairs").get<std::size_t>() + counts.at("too_close").get<std::size_t>();
  };
  // Each route's kernel is the word with /conv2d in it: cpu/simd/conv2d_channels/f32,f32,f32#….
  std::size_t of_a_kernel = 0, of_a_source = 0, good = 0;
  for (const Json& layer : json.at("layers")) {
    std::vector<std::string> kernels;
    for (const Json& route : layer.at("routes")) {
      const std::string text = route.at("route");
      const std::size_t name = text.find("/conv2d"), begin = text.rfind(' ', name) + 1;
      kernels.push_back(text.substr(begin, text.find('/', name + 1) - begin));
    }
    for (std::size_t a = 0; a < kernels.size(); ++a)
      for (std::size_t b = a + 1; b < kernels.size(); ++b) {
        of_a_kernel += kernels[a] == kernels[b];
        of_a_source += kernels[a].substr(0, kernels[a].rfind('/')) == kernels[b].substr(0, kernels[b].rfind('/'));
      }
    good += layer.at("regret").get<double>() <= 0.1;
  }
  EXPECT_GT(of_a_kernel, 0U);
  EXPECT_EQ(pairs("kernel_order"), of_a_kernel);
  EXPECT_EQ(pairs("family_order"), of_a_source);
  EXPECT_EQ(json.at("good_choices"), good);
  for (const Json& layer : json.at("layers")) {
    EXPECT_GE(layer.at("routes").size(), 2U);
    EXPECT_GE(layer.at("regret").get<double>(), 0);
  }
}

TEST(Coverage, EveryKeyIsCoveredByTheBuiltinContracts) {
  const Ran ran = convoke({"contracts", "coverage", "--json"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Json rows = json_of(ran).at("coverage");
  EXPECT_EQ(rows.size(), 2U * 4 * 2 + 2 * 4 + 4 * 3) << "convolutions with and without bias, copies, casts";
  for (const Json& row : rows) EXPECT_TRUE(row.at("covered").get<bool>()) << row;
  EXPECT_THAT(convoke({"contracts", "coverage"}).out, HasSubstr("36 of 36 keys"));
}

}  // namespace
}  // namespace convoke::apps_test
