// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace convoke {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

RateRow row(const char* backend, const char* source, const char* work, std::optional<DType> dtype, double flops) {
  return {backend, source, work, dtype, {.flops_per_ns = flops, .bytes_per_ns = 1, .overhead_ns = 0}};
}

double found(const Rates& rates, const char* backend = "npu", const char* source = "plain", const char* op = "Conv2D",
             const char* cost_class = "conv", DType dtype = DType::f32) {
  return rates.find(backend, source, op, cost_class, dtype).flops_per_ns;
}

// Every row that holds for one kernel, from the most general to the most particular: backend before kernel_source,
// kernel_source before operator, operator before class, class before dtype. Its speed is its rank.
std::vector<RateRow> rows_by_rank() {
  std::vector<RateRow> rows;
  for (const char* backend : {"", "npu"})
    for (const char* source : {"", "plain"})
      for (const char* work : {"", "conv", "Conv2D"})
        for (const auto& dtype : {std::optional<DType>(), std::optional(DType::f32)})
          rows.push_back(row(backend, source, work, dtype, 1000 + static_cast<double>(rows.size())));
  return rows;
}

TEST(RatesFind, TakesTheRowThatSaysMost) {
  const std::vector<RateRow> rows = rows_by_rank();
  for (std::size_t most = 0; most < rows.size(); ++most) {
    Rates upwards, downwards;
    for (std::size_t i = 0; i <= most; ++i) {
      ASSERT_TRUE(upwards.set(rows[i]));
      ASSERT_TRUE(downwards.set(rows[most - i]));
    }
    EXPECT_EQ(found(upwards), rows[most].rate.flops_per_ns) << "rank " << most;
    EXPECT_EQ(found(downwards), rows[most].rate.flops_per_ns) << "rank " << most << ", last row first";
  }
}

TEST(RatesFind, PassesOverRowsOfOtherWork) {
  Rates rates;
  ASSERT_TRUE(rates.set(row("", "", "", std::nullopt, 1)));
  for (const RateRow& other :
       {row("gpu", "plain", "Conv2D", DType::f32, 2), row("npu", "fast", "Conv2D", DType::f32, 3),
        row("npu", "plain", "Cast", DType::f32, 4), row("npu", "plain", "Conv2D", DType::f64, 5)})
    ASSERT_TRUE(rates.set(other));
  EXPECT_EQ(found(rates), 1);
  EXPECT_EQ(found(rates, "npu", "plain", "Conv2D", "conv", DType::f64), 5);
  EXPECT_EQ(found(rates, "npu", "plain", "Cast", "cheap_elementwise"), 4);
  EXPECT_EQ(found(rates, "npu", "fast"), 3);
  EXPECT_EQ(found(rates, "gpu"), 2);
}

TEST(Rates, TheDefaultsKnowEveryBackendAndKeepTransfersSlow) {
  const Rates rates;
  for (const char* backend : {"cpu", "cuda", "vulkan", "metal", "npu"})
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
      const Rate& rate = rates.find(backend, "portable", "Conv2D", "conv", dtype);
      EXPECT_GT(rate.flops_per_ns, 1) << backend;
      EXPECT_GT(rate.bytes_per_ns, 1) << backend;
    }
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
    for (const std::string lanes : {"blocked_conv", "pixel_conv", "depthwise_conv"}) {
      const Rate& rate = rates.find("cpu", "any", "Conv2D", lanes, dtype);
      EXPECT_GT(rate.flops_per_ns, 2 * rates.find("cpu", "any", "Conv2D", "conv", dtype).flops_per_ns) << lanes;
      EXPECT_LT(rates.find("cpu", "any", "Conv2D", "strided_" + lanes, dtype).bytes_per_ns, rate.bytes_per_ns) << lanes;
    }
  EXPECT_EQ(rates.find("cpu", "any", "Conv2D", "blocked_conv", DType::f64).flops_per_ns,
            rates.find("cpu", "any", "Conv2D", "blocked_conv", DType::f32).flops_per_ns / 2);
  EXPECT_LT(rates.find("vulkan", "any", "Upload", "memcpy", DType::f32).bytes_per_ns,
            rates.find("vulkan", "any", "Conv2D", "conv", DType::f32).bytes_per_ns);
  EXPECT_LT(rates.find("cpu", "portable", "Contiguize", "strided_elementwise", DType::f32).bytes_per_ns,
            rates.find("cpu", "portable", "Cast", "cheap_elementwise", DType::f32).bytes_per_ns);
}

TEST(Rates, SetReplacesTheRowOfTheSameWork) {
  Rates rates;
  const std::size_t defaults = rates.rows().size();
  ASSERT_TRUE(rates.set(row("npu", "plain", "conv", DType::f32, 2)));
  ASSERT_TRUE(rates.set(row("npu", "plain", "conv", DType::f32, 3)));
  EXPECT_EQ(rates.rows().size(), defaults + 1);
  EXPECT_EQ(found(rates), 3);
  ASSERT_TRUE(rates.set(row("npu", "plain", "conv", std::nullopt, 4)));
  EXPECT_EQ(rates.rows().size(), defaults + 2);
  EXPECT_EQ(found(rates), 3);
}

TEST(Rates, SpeedsMustBePositiveAndFinite) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const Rate& rate :
       {Rate{0, 1, 0}, Rate{-1, 1, 0}, Rate{inf, 1, 0}, Rate{NAN, 1, 0}, Rate{1, 0, 0}, Rate{1, -1, 0}, Rate{1, inf, 0},
        Rate{1, NAN, 0}, Rate{1, 1, -1}, Rate{1, 1, inf}, Rate{1, 1, NAN}}) {
    Rates rates;
    const std::uint64_t before = rates.fingerprint();
    const auto set = rates.set({"npu", "", "", std::nullopt, rate});
    ASSERT_FALSE(set) << rate.flops_per_ns << " " << rate.bytes_per_ns << " " << rate.overhead_ns;
    EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(set.error().rule, "rate");
    EXPECT_EQ(rates.fingerprint(), before) << "the table is as it was";
  }
  EXPECT_TRUE(Rates().set({"npu", "", "", std::nullopt, {1e-300, 1e300, 0}}));
}

TEST(Rates, TheGainOfAThreadIsAPart) {
  Rates rates;
  for (const double gain : {0.0, 0.5, 1.0}) {
    EXPECT_TRUE(rates.set_thread_gain(gain));
    EXPECT_EQ(rates.thread_gain(), gain);
  }
  for (const double gain : {-0.1, 1.1, static_cast<double>(NAN)}) {
    const auto set = rates.set_thread_gain(gain);
    ASSERT_FALSE(set) << gain;
    EXPECT_EQ(set.error().rule, "thread_gain");
    EXPECT_EQ(rates.thread_gain(), 1) << "as it was";
  }
}

TEST(Rates, TheFingerprintIsTheTables) {
  EXPECT_EQ(Rates().fingerprint(), Rates().fingerprint());
  const auto print = [](auto change) {
    Rates rates;
    EXPECT_TRUE(rates.set(row("npu", "plain", "conv", DType::f32, 2)));
    change(rates);
    return rates.fingerprint();
  };
  const std::uint64_t one = print([](Rates&) {});
  EXPECT_NE(one, Rates().fingerprint());
  EXPECT_EQ(print([](Rates&) {}), one);
  EXPECT_EQ(print([](Rates& rates) {
              (void)rates.set(row("npu", "plain", "conv", DType::f32, 3));
              (void)rates.set(row("npu", "plain", "conv", DType::f32, 2));
            }),
            one)
      << "how it came about does not matter";
  std::vector<std::uint64_t> prints = {one, Rates().fingerprint()};
  const std::vector<RateRow> others = {
      row("np", "uplain", "conv", DType::f32, 2),      row("npu", "plain", "conv", DType::f64, 2),
      row("npu", "plain", "conv", std::nullopt, 2),    {"npu", "plain", "conv", DType::f32, {2.0000000000000004, 1, 0}},
      {"npu", "plain", "conv", DType::f32, {2, 2, 0}}, {"npu", "plain", "conv", DType::f32, {2, 1, 1}}};
  for (const RateRow& other : others) prints.push_back(print([&](Rates& rates) { (void)rates.set(other); }));
  prints.push_back(print([](Rates& rates) { (void)rates.set_thread_gain(0.5); }));
  std::ranges::sort(prints);
  EXPECT_EQ(std::ranges::adjacent_find(prints), prints.end());
}

TEST(RatesJson, IsReadBackAsItWasWritten) {
  Rates rates;
  ASSERT_TRUE(rates.set({"cpu", "simd", "conv", DType::bf16, {1.0 / 3, 1e-300, 0}}));
  ASSERT_TRUE(rates.set({"", "", "Upload", std::nullopt, {1e300, 0.1, 12345.678}}));
  ASSERT_TRUE(rates.set_thread_gain(0.1));
  const auto read = Rates::from_json(rates.to_json(), "rates.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->to_json(), rates.to_json());
  EXPECT_EQ(read->fingerprint(), rates.fingerprint());
  EXPECT_EQ(read->thread_gain(), 0.1);
  EXPECT_EQ(read->find("cpu", "simd", "Conv2D", "conv", DType::bf16).flops_per_ns, 1.0 / 3);
}

TEST(RatesJson, RowsLieOverTheDefaults) {
  const auto read = Rates::from_json(
      R"({"convoke_rates": 1, "rates": [{"backend": "npu", "flops_per_ns": 7, "bytes_per_ns": 1, "overhead_ns": 0}]})",
      "rates.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(found(*read), 7);
  EXPECT_EQ(found(*read, "cpu"), found(Rates(), "cpu"));
  EXPECT_EQ(read->thread_gain(), Rates().thread_gain());
  EXPECT_EQ(read->rows().size(), Rates().rows().size() + 1);
}

TEST(RatesJson, WordsThatAreNotTextDoNotThrow) {
  Rates rates;
  ASSERT_TRUE(rates.set(row("\xff\xfe", "", "", std::nullopt, 2)));
  EXPECT_TRUE(Rates::from_json(rates.to_json(), "rates.json"));
}

std::string one_row(const std::string& members) { return R"({"convoke_rates": 1, "rates": [{)" + members + "}]}"; }

TEST(RatesJson, WhatIsWrongIsNamed) {
  struct Row {
    std::string text;
    const char* rule;
    const char* says;
  };
  const std::string speeds = R"("flops_per_ns": 1, "bytes_per_ns": 1, "overhead_ns": 0)";
  const std::vector<Row> rows = {
      {"", "json", ":1:1: "},
      {"rates", "json", ""},
      {R"({"convoke_rates": 1, "rates": [)", "json", ""},
      {R"({"convoke_rates": 1, "rates": [], "rates": []})", "json", "twice"},
      {R"({"convoke_rates": 1, "thread_gain": 1e999, "rates": []})", "json", ""},
      {"[]", "convoke_rates", "not a table of rates"},
      {"1", "convoke_rates", "not a table of rates"},
      {"null", "convoke_rates", "not a table of rates"},
      {"{}", "convoke_rates", "not a table of rates"},
      {R"({"rates": []})", "convoke_rates", "not a table of rates"},
      {R"({"convoke_rates": 2, "rates": []})", "convoke_rates", "not a table of rates"},
      {R"({"convoke_rates": "1", "rates": []})", "convoke_rates", "not a table of rates"},
      {R"({"convoke_rates": 1})", "convoke_rates", "not a table of rates"},
      {R"({"convoke_rates": 1, "rates": {}})", "convoke_rates", "not a table of rates"},
      {R"({"convoke_rates": 1, "rates": [1]})", "rates", "must be an object"},
      {R"({"convoke_rates": 1, "rates": [[]]})", "rates", "must be an object"},
      {R"({"convoke_rates": 1, "thread_gain": "all", "rates": []})", "thread_gain", "number"},
      {R"({"convoke_rates": 1, "thread_gain": 2, "rates": []})", "thread_gain", "from 0 to 1"},
      {one_row(R"("bytes_per_ns": 1, "overhead_ns": 0)"), "flops_per_ns", "'flops_per_ns'"},
      {one_row(R"("flops_per_ns": 1, "overhead_ns": 0)"), "bytes_per_ns", "'bytes_per_ns'"},
      {one_row(R"("flops_per_ns": 1, "bytes_per_ns": 1)"), "overhead_ns", "'overhead_ns'"},
      {one_row(R"("flops_per_ns": "1", "bytes_per_ns": 1, "overhead_ns": 0)"), "flops_per_ns", "number"},
      {one_row(R"("flops_per_ns": null, "bytes_per_ns": 1, "overhead_ns": 0)"), "flops_per_ns", "number"},
      {one_row(R"("flops_per_ns": 0, "bytes_per_ns": 1, "overhead_ns": 0)"), "rate", "positive"},
      {one_row(R"("flops_per_ns": 1, "bytes_per_ns": -1, "overhead_ns": 0)"), "rate", "positive"},
      {one_row(R"("flops_per_ns": 1, "bytes_per_ns": 1, "overhead_ns": -1)"), "rate", "overhead"},
      {one_row(R"("backend": 1, )" + speeds), "backend", "must be a string"},
      {one_row(R"("kernel_source": null, )" + speeds), "kernel_source", "must be a string"},
      {one_row(R"("work": [], )" + speeds), "work", "must be a string"},
      {one_row(R"("dtype": 1, )" + speeds), "dtype", "must be a string"},
      {one_row(R"("dtype": "i8", )" + speeds), "dtype", "'i8'"},
      {std::string(100, '[') + std::string(100, ']'), "json", "deeper"},
  };
  for (const Row& row : rows) {
    const auto read = Rates::from_json(row.text, "my.json");
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_file) << row.text << "\n" << read.error().message;
    EXPECT_EQ(read.error().rule, row.rule) << row.text << "\n" << read.error().message;
    EXPECT_THAT(read.error().message, AllOf(StartsWith("my.json"), HasSubstr(row.says))) << row.text;
  }
}

TEST(RatesJson, ATableTooLongIsRefused) {
  std::string text = R"({"convoke_rates": 1, "rates": [0)";
  for (int i = 0; i < 10'000; ++i) text += ",0";
  const auto read = Rates::from_json(text + "]}", "my.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().rule, "convoke_rates");
  EXPECT_THAT(read.error().message, HasSubstr("10000 rows"));
}

}  // namespace
}  // namespace convoke
