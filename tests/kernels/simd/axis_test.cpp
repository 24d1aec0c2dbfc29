// SPDX-License-Identifier: Apache-2.0 OR MIT
// Phases and taps against the definition: conv2d reads in = out * stride + k * dilation - padding, conv_transpose2d
// where out = in * stride + k * dilation - padding.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "tests/kernels/kernel_test.hpp"
#include "tests/kernels/simd/axis_probe.hpp"

namespace convoke::kernel_tests {
namespace {

std::string name_of(const AxisCase& a) {
  std::string text = a.transposed ? "conv_transpose2d" : "conv2d";
  text += " in " + std::to_string(a.in_size) + " out " + std::to_string(a.out_size);
  text += " kernel " + std::to_string(a.kernel) + " stride " + std::to_string(a.stride);
  return text + " padding " + std::to_string(a.padding) + " dilation " + std::to_string(a.dilation);
}

/// The taps of one output inside the input, in the order of rising input.
std::vector<ProbedTap> defined_taps(const AxisCase& a, std::int64_t out) {
  std::vector<ProbedTap> taps;
  for (std::int64_t in = 0; in < a.in_size; ++in) {
    for (std::int64_t k = 0; k < a.kernel; ++k) {
      const bool meets = a.transposed ? out == in * a.stride + k * a.dilation - a.padding
                                      : in == out * a.stride + k * a.dilation - a.padding;
      if (meets) taps.push_back({in, k});
    }
  }
  return taps;
}

class AxisTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!host_runs(probe_isa())) GTEST_SKIP() << "this host lacks fma";
  }
  /// Calls check for every small axis until one fails.
  void each_case(const std::function<void(const AxisCase&)>& check) {
    int cases = 0;
    for (std::int64_t kernel = 1; kernel <= 5; ++kernel) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t dilation = 1; dilation <= 4; ++dilation) {
          for (std::int64_t padding = 0; padding <= kernel + 1; ++padding) {
            for (std::int64_t in_size : {0, 1, 2, 5}) {
              for (std::int64_t out_size : {1, 2, 3, 7, 12}) {
                ++cases;
                check({GetParam(), in_size, out_size, kernel, stride, padding, dilation});
                if (HasFatalFailure()) return;
              }
            }
          }
        }
      }
    }
    EXPECT_EQ(cases, 8000);
  }
};

TEST_P(AxisTest, EachOutputBelongsToOnePhase) {
  each_case([](const AxisCase& a) {
    std::map<std::int64_t, int> times;
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      for (const ProbedOutput& output : probe_axis(a, phase)) ++times[output.position];
    }
    ASSERT_EQ(times.size(), static_cast<std::size_t>(a.out_size)) << name_of(a);
    for (const auto& [position, count] : times) {
      ASSERT_TRUE(position >= 0 && position < a.out_size && count == 1) << name_of(a) << " at " << position;
    }
  });
}

TEST_P(AxisTest, TheTapsInsideAreThoseOfTheDefinitionInRisingInput) {
  each_case([](const AxisCase& a) {
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      for (const ProbedOutput& output : probe_axis(a, phase)) {
        const auto defined = defined_taps(a, output.position);
        ASSERT_EQ(output.tap_end - output.tap_begin, static_cast<std::int64_t>(defined.size())) << name_of(a);
        for (std::size_t i = 0; i < defined.size(); ++i) {
          ASSERT_EQ(output.taps[static_cast<std::size_t>(output.tap_begin) + i], defined[i]) << name_of(a);
        }
      }
    }
  });
}

TEST_P(AxisTest, AKernelIndexBelongsToOnePhase) {
  each_case([](const AxisCase& a) {
    std::vector<int> times(static_cast<std::size_t>(a.kernel));
    AxisCase full = a;
    full.out_size = a.stride;  // every phase has an output
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      const auto outputs = probe_axis(full, phase);
      if (outputs.empty()) continue;
      for (const ProbedTap& tap : outputs.front().taps) ++times[static_cast<std::size_t>(tap.k)];
    }
    for (int count : times) ASSERT_EQ(count, 1) << name_of(a);
  });
}

TEST_P(AxisTest, OutputsInsideAreThoseThatHaveTheTap) {
  each_case([](const AxisCase& a) {
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      const auto outputs = probe_axis(a, phase);
      const auto count = static_cast<std::int64_t>(outputs.size());
      if (count == 0) continue;
      for (std::size_t tap = 0; tap < outputs.front().taps.size(); ++tap) {
        for (const auto& [begin, end] : {ProbedRange{0, count}, ProbedRange{count / 3, count - count / 4}}) {
          const ProbedRange found = probe_outputs_inside(a, phase, static_cast<std::int64_t>(tap), begin, end);
          ASSERT_TRUE(begin <= found.begin && found.begin <= found.end && found.end <= end) << name_of(a);
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t in = outputs[static_cast<std::size_t>(i)].taps[tap].in;
            ASSERT_EQ(in >= 0 && in < a.in_size, i >= found.begin && i < found.end) << name_of(a) << " output " << i;
          }
        }
      }
    }
  });
}

TEST_P(AxisTest, AllAreInsideWhereEachOutputHasEveryTap) {
  each_case([](const AxisCase& a) {
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      const auto outputs = probe_axis(a, phase);
      if (outputs.empty() || outputs.front().taps.empty()) continue;
      const auto count = static_cast<std::int64_t>(outputs.size());
      for (std::int64_t begin = 0; begin <= count; ++begin) {
        bool all = true;
        ASSERT_TRUE(probe_all_inside(a, phase, begin, begin)) << name_of(a);
        for (std::int64_t end = begin + 1; end <= count; ++end) {
          const ProbedOutput& last = outputs[static_cast<std::size_t>(end - 1)];
          all = all && last.tap_end - last.tap_begin == static_cast<std::int64_t>(last.taps.size());
          ASSERT_EQ(probe_all_inside(a, phase, begin, end), all) << name_of(a) << " [" << begin << ", " << end << ")";
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Simd, AxisTest, testing::Bool(),
                         [](const auto& row) { return row.param ? "conv_transpose2d" : "conv2d"; });

}  // namespace
}  // namespace convoke::kernel_tests
