// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/peers/report.hpp"
#include "tests/bench/peers/rows.hpp"

namespace convoke::peers {
namespace {

using testing::HasSubstr;
using testing::Not;

const Setting chart_setting{.peer = "oneDNN 3.2.0", .cpu = "a <processor> & more", .openmp = "", .bound = false};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Chart, EveryRatioIsADotWithItsNumber) {
  const std::string svg = chart_svg(chart_setting, {row_of("a", 150, 80), row_of("b", std::nullopt, 400)});
  EXPECT_THAT(svg, HasSubstr("a: 1.50 against plain"));
  EXPECT_THAT(svg, HasSubstr("a: 0.80 against best"));
  EXPECT_THAT(svg, HasSubstr("b: 4.00 against best"));
  EXPECT_EQ(count(svg, "<circle"), 3U + 2U) << "and two in the legend";
}

TEST(Chart, EachDtypeAndNumberOfThreadsHasAPanel) {
  Row two = row_of("a", 150, 80);
  two.threads = 2;
  const std::string svg = chart_svg(chart_setting, {row_of("a", 150, 80), two});
  EXPECT_THAT(svg, HasSubstr(">f32, 1 thread<"));
  EXPECT_THAT(svg, HasSubstr(">f32, 2 threads<"));
  EXPECT_EQ(count(svg, ">a</text>"), 1U) << "one line for the layer across the panels";
}

TEST(Chart, NamesAreEscaped) {
  EXPECT_THAT(chart_svg(chart_setting, {row_of("a", 150, 80)}), HasSubstr("a &lt;processor&gt; &amp; more"));
}

TEST(Chart, AWrongRowHasAWordInsteadOfDots) {
  Row wrong = row_of("a", 150, 80);
  wrong.wrong = "differs";
  const std::string svg = chart_svg(chart_setting, {wrong});
  EXPECT_THAT(svg, HasSubstr(">wrong<"));
  EXPECT_THAT(svg, Not(HasSubstr("against plain</title>")));
}

}  // namespace
}  // namespace convoke::peers
