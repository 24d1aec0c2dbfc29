// SPDX-License-Identifier: Apache-2.0 OR MIT
// A plan as text: what is written can be read, what is read is what would be planned, and nothing else gets in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/json.hpp"
#include "convoke/plan.hpp"
#include "plan/plan_impl.hpp"
#include "tests/plan/sample_table.hpp"

namespace convoke {
namespace {

using planner::SampleKernel;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TensorSpec dense(DType dtype, const Dims& shape, std::size_t align = 64) {
  TensorSpec spec = TensorSpec::dense(dtype, shape);
  spec.align = align;
  return spec;
}

Result<Plan> conv(DType dtype, std::optional<TensorSpec> bias,
                  const std::function<void(TensorSpec& x)>& change = nullptr, const PlanOptions& options = {}) {
  TensorSpec x = dense(dtype, {1, 4, 8, 8});
  if (change) change(x);
  return plan(x, dense(dtype, {8, 4, 3, 3}), bias, dense(dtype, {1, 8, 6, 6}), Conv2dParams{}, options);
}

// Reads back what is written, and finds everything as it was.
void expect_round_trip(const Plan& plan, const Catalog* catalog = nullptr) {
  const std::string text = plan.to_json();
  const auto read = Plan::from_json(text, catalog);
  ASSERT_TRUE(read) << read.error().message << "\n" << text;
  EXPECT_EQ(read->to_json(), text);
  EXPECT_EQ(read->route(), plan.route());
  EXPECT_EQ(read->kernel(), plan.kernel());
  EXPECT_EQ(read->reason(), plan.reason());
  EXPECT_EQ(read->output_shape(), plan.output_shape());
  EXPECT_EQ(read->workspace_bytes(), plan.workspace_bytes());
  EXPECT_EQ(read->flops(), plan.flops());
  EXPECT_EQ(read->impl().demand, plan.impl().demand);
}

TEST(PlanJson, HoldsNoPointerAndNamesEveryStep) {
  const Plan plan = conv(DType::f32, std::nullopt, [](TensorSpec& x) { x.align = 1; }).value();
  const Json json = Json::parse(plan.to_json());
  EXPECT_EQ(json["convoke_plan"], 1);
  EXPECT_EQ(json["op"], "conv2d");
  EXPECT_EQ(json["demand"], "reproducible");
  EXPECT_EQ(json["x"]["align"], 1);
  ASSERT_EQ(json["steps"].size(), 2u);
  EXPECT_EQ(json["steps"][1]["kernel"], plan.kernel());
  for (const Json& step : json["steps"]) EXPECT_EQ(step["digest"].get<std::string>().size(), 64u);
}

TEST(PlanJson, ADirectPlanComesBack) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
    expect_round_trip(conv(dtype, std::nullopt).value());
}

TEST(PlanJson, ABiasComesBack) { expect_round_trip(conv(DType::f32, dense(DType::f32, {8}, 4)).value()); }

TEST(PlanJson, StridesAndOffsetsComeBack) {
  const auto flipped = [](TensorSpec& x) {
    x.strides = {0, -64, -8, 1};
    x.offset = 3 * 64 + 7 * 8;
  };
  expect_round_trip(conv(DType::f32, std::nullopt, flipped).value());
}

TEST(PlanJson, EveryDemandComesBack) {
  for (const Demand& demand : {Demand::reproducible(), Demand::order("law"), Demand::accurate(1.0 / 3 + 1, true),
                               Demand::fast(), Demand::any()}) {
    PlanOptions options;
    options.demand = demand;
    const auto plan = conv(DType::f32, std::nullopt, nullptr, options);
    ASSERT_TRUE(plan) << text_of(demand);
    expect_round_trip(*plan);
  }
}

TEST(PlanJson, ATransposedPlanComesBack) {
  ConvTranspose2dParams params;
  params.stride = {2, 3};
  params.padding = {1, 0, 0, 1};
  params.output_padding = {1, 2};
  params.groups = 2;
  const TensorSpec x = dense(DType::f16, {2, 4, 5, 5}), weight = dense(DType::f16, {4, 3, 3, 3});
  const Dims shape = output_shape(x.shape, weight.shape, params).value();
  expect_round_trip(plan(x, weight, std::nullopt, dense(DType::f16, shape), params).value());
}

TEST(PlanJson, SamePaddingComesBack) {
  for (const Dims& x : {Dims{1, 2, 9, 6}, Dims{1, 2, 0, 5}, Dims{1, 2, 4, 0}, Dims{1, 2, 0, 0}, Dims{0, 2, 5, 5}}) {
    Conv2dParams params;
    params.stride = {2, 3};
    params.padding = Padding::same_upper();
    const Dims weight = {3, 2, 4, 3};
    const Dims shape = output_shape(x, weight, params).value();
    expect_round_trip(
        plan(dense(DType::f32, x), dense(DType::f32, weight), std::nullopt, dense(DType::f32, shape), params).value());
  }
}

// A kernel of x with gaps, too dear to walk them; and one in f32 alone.
TEST(PlanJson, ADensePlanComesBack) {
  const Catalog catalog =
      planner::sample_catalog({{"free", [](contract::Contract& c) {
                                  c.inputs[0].layout->contiguous = contract::Contiguity::accepted;
                                  c.inputs[0].layout->strided = true;
                                  c.caps.fast_paths = {{contract::Predicate::parse("any_input_strided").value(), "",
                                                        std::string("gemm_like"), ""}};
                                }}});
  Rates rates;
  ASSERT_TRUE(rates.set({"cpu", "free", "gemm_like", std::nullopt, {1e-6, 1e-6, 1e6}}));
  PlanOptions options;
  options.catalog = &catalog;
  options.rates = &rates;
  const Plan plan = conv(DType::f32, std::nullopt, planner::spread, options).value();
  ASSERT_THAT(plan.route(), ElementsAre(StartsWith("cpu/portable/contiguize"), StartsWith("cpu/free/")));
  EXPECT_TRUE(plan.impl().variant.dense);
  expect_round_trip(plan, &catalog);
}

Catalog single_precision() { return planner::sample_catalog({{"single"}}); }

Plan cast_plan(const Catalog& catalog) {
  PlanOptions options;
  options.catalog = &catalog;
  return conv(DType::bf16, std::nullopt, nullptr, options).value();
}

TEST(PlanJson, APlanThroughCastsComesBack) {
  const Catalog catalog = single_precision();
  const Plan plan = cast_plan(catalog);
  ASSERT_EQ(plan.route().size(), 4u);
  expect_round_trip(plan, &catalog);
}

Plan simple() {
  return conv(DType::f32, dense(DType::f32, {8}), [](TensorSpec& x) { x.align = 1; }).value();
}

Json text_json() { return Json::parse(simple().to_json()); }

template <class Change>
Error error_of(Change change, const Catalog* catalog = nullptr, Json json = text_json()) {
  change(json);
  const auto read = Plan::from_json(json.dump(), catalog);
  EXPECT_FALSE(read) << json.dump();
  if (read) return {};
  EXPECT_FALSE(read.error().message.empty());
  return read.error();
}

TEST(PlanJson, AKernelWhoseContractChangedIsRefused) {
  const Error error = error_of([](Json& json) { json["steps"][1]["digest"] = std::string(64, '0'); });
  EXPECT_EQ(error.code, ErrorCode::no_kernel);
  EXPECT_EQ(error.rule, "digest");
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(simple().kernel()), HasSubstr(std::string(64, '0')), HasSubstr("changed")));
  EXPECT_EQ(error_of([](Json& json) { json["steps"][0]["digest"] = ""; }).rule, "digest") << "copies too";
}

TEST(PlanJson, AKernelThatIsNotHereIsNamed) {
  const Error error = error_of([](Json& json) { json["steps"][1]["kernel"] = "cpu/gone/conv#1"; });
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_THAT(error.message, HasSubstr("cpu/gone/conv#1"));
  const Catalog none = planner::sample_catalog({});
  const Error elsewhere = error_of([](Json&) {}, &none);
  EXPECT_EQ(elsewhere.code, ErrorCode::not_found);
  EXPECT_THAT(elsewhere.message, HasSubstr(simple().kernel()));
}

TEST(PlanJson, EveryMissingMemberIsNamed) {
  const Json whole = text_json();
  const auto missing = [](const std::string& key, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid_file) << key;
    EXPECT_EQ(error.rule, key);
    EXPECT_THAT(error.message, HasSubstr("'" + key + "' is missing"));
  };
  for (const auto& [key, value] : whole.items()) missing(key, error_of([&](Json& json) { json.erase(key); }));
  for (const char* operand : {"x", "weight", "bias", "out"})
    for (const auto& [key, value] : whole[operand].items())
      missing(key, error_of([&](Json& json) { json[operand].erase(key); }));
  for (const auto& [key, value] : whole["params"].items())
    missing(key, error_of([&](Json& json) { json["params"].erase(key); }));
  for (const char* key : {"kernel", "digest"}) missing(key, error_of([&](Json& json) { json["steps"][0].erase(key); }));
}

// Every value of the document becomes one of every other kind, one at a time.
void expect_wrong_kinds_refused(const std::vector<std::string>& path) {
  const auto at = [&](Json& json) -> Json& {
    Json* found = &json;
    for (const std::string& key : path) found = &(*found)[key];
    return *found;
  };
  for (const Json& other : {Json(nullptr), Json(true), Json(1.5), Json("text"), Json(-1), Json(UINT64_MAX), Json(1e300),
                            Json::array(), Json::object(), Json::array({Json::array({1})}), Json::array({"1", "2"})}) {
    Json json = text_json();
    // A bias that is null is none, and other numbers where a number may be anything are judged as a request.
    if (path.back() == "bias" && other.is_null()) continue;
    if (path.back() == "through" && other.is_null()) continue;
    if ((path.back() == "dense" || path.back() == "packed_weight") && other.is_boolean()) continue;
    if (path.back() == "reason" && other.is_string()) continue;
    at(json) = other;
    const auto read = Plan::from_json(json.dump());
    EXPECT_FALSE(read) << path.back() << " = " << other.dump();
    if (!read) {
      EXPECT_FALSE(read.error().rule.empty());
    }
  }
}

TEST(PlanJson, ValuesOfAnotherKindAreErrors) {
  const Json whole = text_json();
  for (const auto& [key, value] : whole.items()) {
    expect_wrong_kinds_refused({key});
    if (!value.is_object()) continue;
    for (const auto& [inner, unused] : value.items()) {
      if (inner == "same") continue;  // of a kernel that fits, padding in numbers and padding=same may agree
      expect_wrong_kinds_refused({key, inner});
    }
  }
}

TEST(PlanJson, WhatIsWrongIsNamed) {
  struct Row {
    const char* rule;
    const char* says;
    std::function<void(Json&)> change;
  };
  const std::vector<Row> rows = {
      {"convoke_plan", "must be 1", [](Json& j) { j["convoke_plan"] = 2; }},
      {"convoke_plan", "whole number", [](Json& j) { j["convoke_plan"] = "1"; }},
      {"op", "conv2d or conv_transpose2d", [](Json& j) { j["op"] = "matmul"; }},
      {"op", "string", [](Json& j) { j["op"] = 7; }},
      {"dtype", "f32, f64, bf16, f16", [](Json& j) { j["x"]["dtype"] = "i8"; }},
      {"shape", "array of sizes", [](Json& j) { j["x"]["shape"] = {1, 2, 3, 4, 5, 6, 7}; }},
      {"shape", "whole number", [](Json& j) { j["x"]["shape"][0] = 1.5; }},
      {"strides", "whole number", [](Json& j) { j["out"]["strides"][3] = UINT64_MAX; }},
      {"offset", "whole number", [](Json& j) { j["weight"]["offset"] = 1e300; }},
      {"stride", "array of sizes", [](Json& j) { j["params"]["stride"] = {1}; }},
      {"padding", "array of sizes", [](Json& j) { j["params"]["padding"] = {1, 1}; }},
      {"dilation", "array of sizes", [](Json& j) { j["params"]["dilation"] = 1; }},
      {"output_padding", "array of sizes", [](Json& j) { j["params"]["output_padding"] = nullptr; }},
      {"same", "true or false", [](Json& j) { j["params"]["same"] = 0; }},
      {"threads", "from 1 to 2147483647", [](Json& j) { j["threads"] = 0; }},
      {"threads", "from 1 to 2147483647", [](Json& j) { j["threads"] = std::int64_t{1} << 31; }},
      {"packed_weight", "true or false", [](Json& j) { j["packed_weight"] = 1; }},
      {"dense", "true or false", [](Json& j) { j["dense"] = "false"; }},
      {"through", "f32, f64, bf16, f16", [](Json& j) { j["through"] = "f8"; }},
      {"steps", "1 to 64", [](Json& j) { j["steps"] = Json::array(); }},
      {"steps", "1 to 64", [](Json& j) { j["steps"] = Json(std::vector<int>(65)); }},
      {"kernel", "missing", [](Json& j) { j["steps"][0] = "kernel"; }},
      {"steps", "no step is a conv2d kernel", [](Json& j) { j["steps"].erase(1); }},
      {"steps", "no step is a conv_transpose2d kernel",
       [](Json& j) {
         j["op"] = "conv_transpose2d";
         j["weight"]["shape"] = {4, 8, 3, 3};
         j["out"]["shape"] = {1, 8, 10, 10};
         j["out"]["strides"] = {800, 100, 10, 1};
       }},
  };
  for (const Row& row : rows) {
    const Error error = error_of(row.change);
    EXPECT_EQ(error.code, ErrorCode::invalid_file) << row.rule << ": " << error.message;
    EXPECT_EQ(error.rule, row.rule) << error.message;
    EXPECT_THAT(error.message, HasSubstr(row.says));
  }
}

// The text holds a request, and requests are judged by the same rules whoever makes them.
TEST(PlanJson, TheRequestIsJudgedLikeAnyOther) {
  const auto rule = [](auto change) { return error_of(change).rule; };
  EXPECT_EQ(rule([](Json& j) { j["params"]["stride"] = {0, 1}; }), "stride");
  EXPECT_EQ(rule([](Json& j) { j["params"]["groups"] = 3; }), "groups");
  EXPECT_EQ(rule([](Json& j) { j["x"]["align"] = -1; }), "align");
  EXPECT_EQ(rule([](Json& j) { j["x"]["align"] = 3; }), "align");
  EXPECT_EQ(rule([](Json& j) { j["weight"]["dtype"] = "f64"; }), "dtype");
  EXPECT_EQ(rule([](Json& j) { j["out"]["shape"] = {1, 8, 6, 7}; }), "out");
  EXPECT_EQ(rule([](Json& j) { j["out"]["strides"] = {0, 36, 6, 0}; }), "out");
  EXPECT_EQ(rule([](Json& j) { j["demand"] = "perfect"; }), "demand");
  EXPECT_EQ(rule([](Json& j) { j["demand"] = "accurate(inf)"; }), "demand");
  for (const char* operand : {"x", "weight", "out"})
    for (const char* member : {"shape", "strides"})
      for (const std::int64_t huge : {INT64_MAX, INT64_MIN, std::int64_t{1} << 62})
        EXPECT_NE(rule([&](Json& j) { j[operand][member] = {huge, huge, huge, huge}; }), "") << operand << huge;
}

TEST(PlanJson, TextThatIsNoDocumentIsAnError) {
  const std::string whole = simple().to_json();
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("1e999"),
        std::string("\0\0", 2), std::string("\xff\xfe{}"), whole + "x", whole + whole, std::string(100'000, '['),
        "{\"convoke_plan\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"}) {
    const auto read = Plan::from_json(text);
    ASSERT_FALSE(read) << text.substr(0, 40);
    EXPECT_EQ(read.error().code, ErrorCode::invalid_file) << text.substr(0, 40);
  }
  for (std::size_t end = 0; end + 2 < whole.size(); end += 7) {
    EXPECT_FALSE(Plan::from_json(whole.substr(0, end))) << "cut off after " << end;
  }
}

// One byte of the text is another: an error or a plan, and never anything worse.
TEST(PlanJson, DamagedTextsDoNoHarm) {
  const std::string whole = simple().to_json();
  for (std::size_t at = 0; at < whole.size(); at += 5)
    for (const char other : {'9', '"', '-', '\0', '\x80', '}'}) {
      std::string text = whole;
      text[at] = other;
      const auto read = Plan::from_json(text);
      if (!read) {
        EXPECT_FALSE(read.error().message.empty());
      } else {
        EXPECT_EQ(read->kernel(), simple().kernel());
      }
    }
}

TEST(PlanJson, ADemandThatIsNoLongerMetRefuses) {
  const Catalog catalog = planner::sample_catalog({{.name = "theirs", .foreign = true}});
  PlanOptions options;
  options.catalog = &catalog;
  options.demand = Demand::any();
  const Json json = Json::parse(conv(DType::f32, std::nullopt, nullptr, options).value().to_json());
  EXPECT_TRUE(Plan::from_json(json.dump(), &catalog));
  for (const char* demand : {"reproducible", "order(law)", "accurate(1)", "fast"}) {
    const Error error = error_of([&](Json& j) { j["demand"] = demand; }, &catalog, json);
    EXPECT_EQ(error.code, ErrorCode::no_kernel) << demand;
    EXPECT_EQ(error.rule, "evidence") << demand;
  }
}

TEST(PlanJson, ARequestThatTheKernelDoesNotAdmitRefuses) {
  const Catalog catalog = planner::sample_catalog({{"strict"}}, false);
  PlanOptions options;
  options.catalog = &catalog;
  const Json json = Json::parse(conv(DType::f32, std::nullopt, nullptr, options).value().to_json());
  const Error error = error_of([](Json& j) { j["x"]["strides"] = {512, 128, 16, 2}; }, &catalog, json);
  EXPECT_EQ(error.code, ErrorCode::no_kernel);
  EXPECT_EQ(error.rule, "Contiguize");
}

// The steps are what the planner would do for this request; a text cannot leave one out or add one.
TEST(PlanJson, StepsThatAreNotNeededOrMissingRefuse) {
  const Error extra = error_of([](Json& j) { j["x"]["align"] = 64; });
  EXPECT_EQ(extra.code, ErrorCode::no_kernel);
  EXPECT_EQ(extra.rule, "steps");
  EXPECT_EQ(error_of([](Json& j) { j["steps"].erase(0); }).rule, "Contiguize");
  EXPECT_EQ(error_of([](Json& j) { std::swap(j["steps"][0], j["steps"][1]); }).rule, "Contiguize");
  EXPECT_EQ(error_of([](Json& j) { j["steps"].push_back(j["steps"][1]); }).rule, "steps");
}

// Claims are about a kernel's own operands: a route that narrows them is none that the planner makes.
TEST(PlanJson, OperandsAreNotNarrowedByAForgedType) {
  const Catalog catalog = planner::sample_catalog({{.name = "half", .dtype = "BF16"}, {"single"}});
  Json json = Json::parse(cast_plan(planner::sample_catalog({{"single"}})).to_json());
  PlanOptions options;
  options.catalog = &catalog;
  options.kernel = "cpu/half/*";
  const Json half = Json::parse(conv(DType::bf16, std::nullopt, nullptr, options).value().to_json());
  std::string to_bf16, to_bf16_digest;
  for (const bind::Binding& binding : catalog.table().all())
    if (binding.id.starts_with("cpu/portable/cast_to_bf16/f32,bf16#")) {
      to_bf16 = binding.id;
      to_bf16_digest = binding.contract->block_digest;
    }
  const Json narrow = {{"kernel", to_bf16}, {"digest", to_bf16_digest}};
  const Json widen = json["steps"][0];
  for (const char* operand : {"x", "weight", "out"}) json[operand]["dtype"] = "f32";
  json["through"] = "bf16";
  json["demand"] = "accurate(1)";
  json["steps"] = Json::array({narrow, narrow, half["steps"][0], widen});
  const Error error = error_of([](Json&) {}, &catalog, json);
  EXPECT_EQ(error.code, ErrorCode::no_kernel) << error.message;
  EXPECT_EQ(error.rule, "key");
  json = half;
  json["through"] = "f32";
  EXPECT_EQ(error_of([](Json&) {}, &catalog, json).rule, "through");
}

}  // namespace
}  // namespace convoke
