// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/calibrate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/catalog.hpp"

namespace convoke::judge {
namespace {

Sample taking(double flops, double bytes, const Rate& rate, std::size_t row = 0) {
  return {flops, bytes, flops / rate.flops_per_ns + bytes / rate.bytes_per_ns, row};
}

const std::vector<Rate> known = {{10, 5, 3}, {10, 5, 4}};

TEST(FitRates, FindsTheSpeedsThatMadeTheSamples) {
  const Rate dense{20, 4, 0}, strided{20, 2, 0};
  const std::vector<Rate> found = fit_rates({taking(1e6, 1e4, dense), taking(1e5, 1e6, dense), taking(3e6, 2e6, dense),
                                             taking(1e6, 1e4, strided, 1), taking(1e5, 1e6, strided, 1)},
                                            known);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].flops_per_ns, 20, 0.4);
  EXPECT_NEAR(found[0].bytes_per_ns, 4, 0.1);
  EXPECT_EQ(found[1].flops_per_ns, found[0].flops_per_ns) << "the same kernel";
  EXPECT_NEAR(found[1].bytes_per_ns, 2, 0.2) << "two samples: a little nearer to what was known";
  EXPECT_EQ(found[0].overhead_ns, 3);
  EXPECT_EQ(found[1].overhead_ns, 4);
}

TEST(FitRates, WhatTheSamplesDoNotTellStaysAsItWas) {
  const std::vector<Rate> copies = fit_rates({{0, 1e6, 1e5, 0}, {0, 1e6, 1e5, 0}}, known);
  EXPECT_NEAR(copies[0].bytes_per_ns, 10, 0.3);
  EXPECT_DOUBLE_EQ(copies[0].flops_per_ns, 10) << "nothing was computed";
  EXPECT_DOUBLE_EQ(copies[1].bytes_per_ns, 5) << "nothing of this row was measured";
  const std::vector<Rate> none = fit_rates({}, known);
  EXPECT_DOUBLE_EQ(none[0].flops_per_ns, 10);
  EXPECT_DOUBLE_EQ(none[0].bytes_per_ns, 5);
  EXPECT_TRUE(fit_rates({}, {}).empty());
  // Twice as fast as known, and flops and bytes in one proportion: neither speed runs away.
  const std::vector<Rate> one = fit_rates({{1e6, 5e5, 1e5, 0}, {2e6, 1e6, 2e5, 0}}, {known[0]});
  EXPECT_NEAR(one[0].flops_per_ns, 20, 1);
  EXPECT_NEAR(one[0].bytes_per_ns, 10, 1);
}

TEST(FitRates, SeveralRowsHaveOneSpeedOfFlopsNearAllThatWereKnown) {
  const std::vector<Rate> rates = fit_rates({}, {{10, 5, 0}, {20, 8, 0}});
  EXPECT_GT(rates[0].flops_per_ns, 10);
  EXPECT_LT(rates[0].flops_per_ns, 20);
  EXPECT_EQ(rates[0].flops_per_ns, rates[1].flops_per_ns);
  EXPECT_DOUBLE_EQ(rates[1].bytes_per_ns, 8);
}

TEST(FitRates, ASpeedThatWouldBeNegativeStaysAtItsBoundAndTheOtherIsFoundAgain) {
  // More bytes in less time: two speeds would explain it best with a negative time for a byte.
  const std::vector<Sample> odd = {{1e6, 1e3, 1e5, 0}, {2e6, 1e2, 3e5, 0}, {1e6, 1e6, 0.9e5, 0}};
  const std::vector<Rate> found = fit_rates(odd, {{10, 5, 0}});
  EXPECT_DOUBLE_EQ(found[0].bytes_per_ns, 16 * 5);
  // What bytes take at that speed is taken from the samples; the flops alone explain the rest.
  double squares = 0, sum = 0;
  for (const Sample& sample : odd) {
    const double flops = sample.flops / sample.ns;
    squares += flops * flops;
    sum += flops * (1 - sample.bytes / sample.ns / 80);
  }
  EXPECT_NEAR(found[0].flops_per_ns, squares / sum, 0.01 * squares / sum);
}

TEST(Calibrate, EveryKindOfWorkOfTheBuiltinKernelsGetsARow) {
  CalibrateOptions options;
  options.box_ms = 0;
  options.rounds = 1;
  std::size_t told = 0, total = 0;
  options.progress = [&](std::string_view work, std::size_t done, std::size_t of) {
    EXPECT_FALSE(work.empty());
    EXPECT_EQ(done, told++);
    total = of;
  };
  const auto rates = calibrate(Catalog::builtin(), options);
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_EQ(told, total);
  for (const bind::Binding& binding : Catalog::builtin().table().all()) {
    const auto measures = [&](const RateRow& row) {
      return row.backend == "cpu" && row.kernel_source == binding.contract->kernel_source &&
             row.work.starts_with(std::string(bind::token_of(binding.op)) + "/") && row.dtype == binding.dtypes.back();
    };
    EXPECT_TRUE(std::ranges::any_of(rates->rows(), measures)) << binding.id;
  }
  // Of a class that no kernel is of, what is known stays what it was.
  const auto unmeasured = [](const Rates& all) {
    return all.find("cpu", "none", "Conv2D", "blocked_conv", DType::f32).flops_per_ns;
  };
  EXPECT_EQ(unmeasured(*rates), unmeasured(Rates()));
  for (const RateRow& row : rates->rows()) {
    EXPECT_GT(row.rate.flops_per_ns, 0);
    EXPECT_GT(row.rate.bytes_per_ns, 0);
    EXPECT_GE(row.rate.overhead_ns, 0);
  }
  EXPECT_NE(rates->fingerprint(), Rates().fingerprint());
  EXPECT_EQ(Rates::from_json(rates->to_json(), "test")->fingerprint(), rates->fingerprint());
}

}  // namespace
}  // namespace convoke::judge
