// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/calibrate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/catalog.hpp"

namespace convoke::judge {
namespace {

Sample taking(double flops, double bytes, const Rate& rate) {
  return {flops, bytes, flops / rate.flops_per_ns + bytes / rate.bytes_per_ns};
}

TEST(FitRate, FindsTheSpeedsThatMadeTheSamples) {
  const Rate truth{20, 4, 0};
  const Rate found = fit_rate({taking(1e6, 1e4, truth), taking(1e5, 1e6, truth), taking(3e6, 2e6, truth)}, {});
  EXPECT_NEAR(found.flops_per_ns, 20, 1e-6);
  EXPECT_NEAR(found.bytes_per_ns, 4, 1e-6);
}

TEST(FitRate, OneProportionTellsOneSpeed) {
  const Rate copies = fit_rate({{0, 1e6, 1e5}, {0, 1e6, 4e5}}, {7, 1, 3});
  EXPECT_NEAR(copies.bytes_per_ns, 5, 1e-9) << "the geometric mean of 10 and 2.5";
  EXPECT_EQ(copies.flops_per_ns, 7) << "nothing was computed: the fallback's";
  EXPECT_EQ(copies.overhead_ns, 3);
  EXPECT_EQ(fit_rate({}, {7, 1, 3}).bytes_per_ns, 1);
}

TEST(FitRate, NoSpeedIsEverNegative) {
  // More bytes in less time: two speeds would explain it best with a negative time for a byte.
  const Rate odd = fit_rate({{1e6, 1e3, 1e5}, {2e6, 1e2, 3e5}, {1e6, 1e6, 0.9e5}}, {});
  EXPECT_GT(odd.flops_per_ns, 0);
  EXPECT_GT(odd.bytes_per_ns, 0);
  EXPECT_TRUE(std::isfinite(odd.bytes_per_ns));
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
