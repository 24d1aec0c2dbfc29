// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/demand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/plan/sample_binding.hpp"

namespace convoke::planner {
namespace {

using contract::Contract;
using contract::CostExpression;
using testing::HasSubstr;

TEST(DemandText, IsReadBackAsItWasWritten) {
  const std::vector<std::pair<const char*, Demand>> rows = {
      {"reproducible", Demand::reproducible()},
      {"fast", Demand::fast()},
      {"any", Demand::any()},
      {"order(law)", Demand::order("law")},
      {"order(pairs (of 8), then law)", Demand::order("pairs (of 8), then law")},
      {"accurate(2)", Demand::accurate(2)},
      {"accurate(2,plane)", Demand::accurate(2, true)},
      {"accurate(0.1)", Demand::accurate(0.1)},
      {"accurate(1e-30,plane)", Demand::accurate(1e-30, true)},
      {"accurate(1.5e+300)", Demand::accurate(1.5e300)},
  };
  for (const auto& [text, demand] : rows) {
    EXPECT_EQ(text_of(demand), text);
    const auto read = parse_demand(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, demand) << text;
  }
  EXPECT_EQ(parse_demand(text_of(Demand::accurate(1.0 / 3))).value(), Demand::accurate(1.0 / 3)) << "every digit";
}

TEST(DemandText, AnythingElseIsRefusedAndNamed) {
  for (const char* text : {"",
                           " ",
                           "Reproducible",
                           "reproducible ",
                           "any()",
                           "fast(2)",
                           "order",
                           "order(",
                           "order)",
                           "order()",
                           "order law",
                           "orders(law)",
                           "accurate",
                           "accurate()",
                           "accurate(",
                           "accurate(0)",
                           "accurate(-1)",
                           "accurate(nan)",
                           "accurate(inf)",
                           "accurate(1e999)",
                           "accurate(2",
                           "accurate(2,)",
                           "accurate(,plane)",
                           "accurate(2,PLANE)",
                           "accurate(2, plane)",
                           "accurate( 2)",
                           "accurate(+2)",
                           "accurate(2)x",
                           "accurate(2x)",
                           "accurate(0x2)",
                           "()",
                           "law"}) {
    const auto read = parse_demand(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_EQ(read.error().rule, "demand") << text;
    EXPECT_THAT(read.error().message, HasSubstr(std::string("'") + text + "'"));
    EXPECT_THAT(read.error().message, HasSubstr("reproducible, order(NAME)"));
  }
}

Request request_of(DType dtype, Dims x = {1, 4, 8, 8}, Dims weight = {8, 4, 3, 3}, Dims out = {1, 8, 6, 6}) {
  return make_request(Op::conv2d, TensorSpec::dense(dtype, x), TensorSpec::dense(dtype, weight), std::nullopt,
                      TensorSpec::dense(dtype, out), {})
      .value();
}

// The sample, bitwise unless changed.
bind::Binding claiming(const Change& change = nullptr) {
  return sample_binding([&](Contract& c) {
    c.determinism = contract::Determinism::bitwise;
    if (change) change(c);
  });
}

Change error_bound(const char* terms, const char* unit = "F32", const char* scale = "output") {
  return [=](Contract& c) {
    c.numerics->order.reset();
    c.numerics->error = contract::Numerics::ErrorBound{scale, CostExpression::parse(terms).value(), unit};
  };
}

// The clause that refuses; empty: it meets the demand.
std::string clause(const bind::Binding& binding, const Demand& demand, DType dtype = DType::f32,
                   std::optional<DType> through = std::nullopt) {
  const auto met = meets(binding, demand, request_of(dtype), through);
  if (met) return "";
  EXPECT_FALSE(met.error().wanted.empty()) << met.error().clause;
  EXPECT_FALSE(met.error().found.empty()) << met.error().clause;
  return met.error().clause;
}

const std::vector<Demand>& all_but_any() {
  static const std::vector<Demand> demands = {Demand::reproducible(), Demand::order("law"), Demand::accurate(1e9),
                                              Demand::accurate(1e9, true), Demand::fast()};
  return demands;
}

TEST(Meets, TheReproducibleDemandWantsAllThreePromises) {
  const auto of = [](const Change& change, bool foreign = false) {
    bind::Binding binding = claiming(change);
    binding.foreign = foreign;
    EXPECT_EQ(clause(binding, Demand::any()), "");
    return clause(binding, Demand::reproducible());
  };
  EXPECT_EQ(of(nullptr), "");
  EXPECT_EQ(of(nullptr, true), "evidence");
  EXPECT_EQ(of([](Contract& c) { c.numerics.reset(); }), "numerics.order");
  EXPECT_EQ(of([](Contract& c) { c.numerics->order.reset(); }), "numerics.order");
  EXPECT_EQ(of([](Contract& c) { c.numerics->order = "pairwise"; }), "numerics.order");
  EXPECT_EQ(of([](Contract& c) { c.determinism = contract::Determinism::same_hardware_bitwise; }), "determinism");
  EXPECT_EQ(of([](Contract& c) { c.determinism = contract::Determinism::nondeterministic; }), "determinism");
}

TEST(Meets, ClaimsOfForeignDocumentsMeetNothingButAny) {
  bind::Binding binding = claiming();
  for (const Demand& demand : all_but_any()) EXPECT_EQ(clause(binding, demand), "") << text_of(demand);
  binding.foreign = true;
  binding.document = "theirs.fkc.md";
  for (const Demand& demand : all_but_any()) {
    const auto met = meets(binding, demand, request_of(DType::f32));
    ASSERT_FALSE(met) << text_of(demand);
    EXPECT_EQ(met.error().clause, "evidence") << text_of(demand);
    EXPECT_THAT(met.error().found, HasSubstr("theirs.fkc.md"));
  }
  EXPECT_EQ(clause(binding, Demand::any()), "");
}

TEST(Meets, AnyTakesAKernelThatClaimsNothing) {
  const bind::Binding silent = claiming([](Contract& c) {
    c.numerics.reset();
    c.determinism = contract::Determinism::nondeterministic;
  });
  EXPECT_EQ(clause(silent, Demand::any()), "");
  for (const Demand& demand : all_but_any()) EXPECT_NE(clause(silent, demand), "") << text_of(demand);
}

TEST(Meets, TheLawSurvivesF32ForTheHalvesOnly) {
  const bind::Binding law = claiming();
  for (const Demand& demand : {Demand::reproducible(), Demand::order("law")}) {
    for (const DType half : {DType::bf16, DType::f16}) {
      EXPECT_EQ(clause(law, demand, half, DType::f32), "");
      EXPECT_EQ(clause(law, demand, half, DType::f64), "numerics.order") << "two roundings after another chain";
    }
    EXPECT_EQ(clause(law, demand, DType::f32, DType::f64), "numerics.order");
  }
  const auto met = meets(law, Demand::reproducible(), request_of(DType::f32), DType::f64);
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().found, "law in f64");
}

TEST(Meets, AnOrderIsMetByItsNameAlone) {
  const bind::Binding pairs = claiming([](Contract& c) { c.numerics->order = "pairs"; });
  EXPECT_EQ(clause(pairs, Demand::order("pairs")), "");
  EXPECT_EQ(clause(pairs, Demand::order("pair")), "numerics.order");
  EXPECT_EQ(clause(pairs, Demand::order("law")), "numerics.order");
  EXPECT_EQ(clause(claiming(), Demand::order("pairs")), "numerics.order");
  EXPECT_EQ(clause(pairs, Demand::order("pairs"), DType::bf16, DType::f32), "numerics.order")
      << "what casts do to another order nobody has said";
  const bind::Binding loose = claiming([](Contract& c) {
    c.numerics->order = "pairs";
    c.determinism = contract::Determinism::same_hardware_bitwise;
  });
  EXPECT_EQ(clause(loose, Demand::order("pairs")), "determinism");
}

// The law's longest sum here has 4*3*3 + 1 terms, the bias counted.
TEST(Meets, AccuracyComparesTheStatedBoundWithTheLaws) {
  EXPECT_EQ(clause(claiming(error_bound("2 * (Cin / groups * Kh * Kw)")), Demand::accurate(2)), "");
  EXPECT_EQ(clause(claiming(error_bound("2 * (Cin / groups * Kh * Kw) + 3")), Demand::accurate(2)), "numerics.error");
  EXPECT_EQ(clause(claiming(error_bound("37")), Demand::accurate(1)), "");
  EXPECT_EQ(clause(claiming(error_bound("38")), Demand::accurate(1)), "numerics.error");
  EXPECT_EQ(clause(claiming(error_bound("18")), Demand::accurate(0.49)), "");
  EXPECT_EQ(clause(claiming(error_bound("37", "F64")), Demand::accurate(0.03)), "") << "narrowed once";
  EXPECT_EQ(clause(claiming(error_bound("37", "F64")), Demand::accurate(0.02)), "numerics.error");
  EXPECT_EQ(clause(claiming(error_bound("37", "BF16")), Demand::accurate(1000)), "numerics.error");
  const auto met = meets(claiming(error_bound("370")), Demand::accurate(2), request_of(DType::f32));
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().wanted, "at most 2 times the law's bound");
  EXPECT_EQ(met.error().found, "10 times");
}

TEST(Meets, AccuracyIsRelativeToTheOutputUnlessThePlaneIsAsked) {
  const bind::Binding plane = claiming(error_bound("9", "F32", "plane"));
  EXPECT_EQ(clause(plane, Demand::accurate(1)), "numerics.error.scale");
  EXPECT_EQ(clause(plane, Demand::accurate(1, true)), "");
  EXPECT_EQ(clause(claiming(error_bound("9")), Demand::accurate(1, true)), "") << "an output's own sum is no larger";
}

TEST(Meets, AccuracyWantsABoundThatHasAValue) {
  EXPECT_EQ(clause(claiming(), Demand::accurate(1)), "") << "the law's own";
  EXPECT_EQ(clause(claiming(), Demand::accurate(0.99)), "numerics.error");
  EXPECT_EQ(clause(claiming([](Contract& c) { c.numerics->order = "pairs"; }), Demand::accurate(1e9)),
            "numerics.error");
  EXPECT_EQ(clause(claiming(error_bound("tiles")), Demand::accurate(1e9)), "numerics.error");
  EXPECT_EQ(clause(claiming(error_bound("9", "I32")), Demand::accurate(1e9)), "numerics.error");
  EXPECT_EQ(clause(claiming(error_bound("100000000", "F32")), Demand::accurate(1e9)), "numerics.error")
      << "so many terms have no bound at all";
}

TEST(Meets, FastWantsAnAccumulatorOfAtLeastF32AndTheOperandsType) {
  const auto of = [](const char* accumulator, DType dtype, std::optional<DType> through = std::nullopt) {
    return clause(claiming([&](Contract& c) {
                    c.numerics->order.reset();
                    c.determinism = contract::Determinism::nondeterministic;
                    if (accumulator == nullptr) {
                      c.numerics->accumulator.reset();
                    } else {
                      c.numerics->accumulator = accumulator;
                    }
                  }),
                  Demand::fast(), dtype, through);
  };
  EXPECT_EQ(of("F32", DType::f32), "");
  EXPECT_EQ(of("F32", DType::bf16), "");
  EXPECT_EQ(of("F64", DType::f32), "");
  EXPECT_EQ(of("F64", DType::f64), "");
  EXPECT_EQ(of("F32", DType::bf16, DType::f32), "");
  EXPECT_EQ(of("BF16", DType::bf16), "numerics.accumulator");
  EXPECT_EQ(of("F16", DType::f16), "numerics.accumulator");
  EXPECT_EQ(of("F32", DType::f64), "numerics.accumulator");
  EXPECT_EQ(of(nullptr, DType::f32), "numerics.accumulator");
  EXPECT_EQ(of("I32", DType::f32), "numerics.accumulator");
}

TEST(Meets, TheLawNamesItsAccumulator) {
  const bind::Binding law = claiming([](Contract& c) { c.numerics->accumulator.reset(); });
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    EXPECT_EQ(clause(law, Demand::fast(), dtype), "") << name_of(dtype);
  }
}

TEST(BoundOverLaw, OfTheLawItselfIsOne) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
    EXPECT_EQ(bound_over_law(claiming(), request_of(dtype)), 1) << name_of(dtype);
  EXPECT_EQ(bound_over_law(claiming(), request_of(DType::bf16), DType::f32), 1);
  const auto wide = bound_over_law(claiming(), request_of(DType::f32), DType::f64);
  ASSERT_TRUE(wide);
  EXPECT_NEAR(*wide, 1.0 / 37, 1e-6) << "the narrowing is all that is left";
}

TEST(BoundOverLaw, IsAbsentWhereNothingIsStated) {
  const Request request = request_of(DType::f32);
  EXPECT_EQ(bound_over_law(claiming([](Contract& c) { c.numerics.reset(); }), request), std::nullopt);
  EXPECT_EQ(bound_over_law(claiming(error_bound("k")), request), std::nullopt);
  EXPECT_EQ(bound_over_law(claiming(error_bound("9", "U8")), request), std::nullopt);
}

// 2^24 terms and more have no bound in f32: infinity over infinity must not pass for a number.
TEST(BoundOverLaw, OfSumsTooLongForABound) {
  const Request request = request_of(DType::f32, {1, 1, 4096, 4096}, {1, 1, 4096, 4096}, {1, 1, 1, 1});
  EXPECT_EQ(bound_over_law(claiming(), request), 1);
  EXPECT_TRUE(meets(claiming(), Demand::accurate(1), request));
  const bind::Binding endless = claiming(error_bound("Kh * Kw + 1"));
  EXPECT_EQ(bound_over_law(endless, request), std::nullopt);
  const auto met = meets(endless, Demand::accurate(1e9), request);
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().clause, "numerics.error");
  EXPECT_TRUE(meets(claiming(error_bound("Kh + Kw")), Demand::accurate(1), request)) << "any bound is less than none";
}

}  // namespace
}  // namespace convoke::planner
