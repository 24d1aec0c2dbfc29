// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/admit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/sample_binding.hpp"

namespace convoke::planner {
namespace {

using contract::Acceptance;
using contract::Constraint;
using contract::Contract;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

tl::expected<Fit, Clause> admit_sample(const Change& change, const Request& request = sample_request()) {
  return admit(sample_binding(change), request, {request.x, request.weight, request.out});
}

Constraint constraint(std::string_view text, Constraint::Dialect dialect, std::string_view subject) {
  return Constraint::parse(text, dialect, subject).value();
}

TEST(ElementAlignment, IsWhatPointerAndOffsetShare) {
  const auto alignment = [](DType dtype, std::size_t align, std::int64_t offset) {
    TensorSpec spec = TensorSpec::dense(dtype, {4});
    spec.align = align;
    spec.offset = offset;
    return element_alignment(spec);
  };
  EXPECT_EQ(alignment(DType::f32, 0, 0), 4u) << "nothing promised: an element's size";
  EXPECT_EQ(alignment(DType::f64, 0, 0), 8u);
  EXPECT_EQ(alignment(DType::f32, 64, 0), 64u);
  EXPECT_EQ(alignment(DType::f32, 64, 1), 4u);
  EXPECT_EQ(alignment(DType::f32, 64, 8), 32u);
  EXPECT_EQ(alignment(DType::f32, 64, 48), 64u);
  EXPECT_EQ(alignment(DType::bf16, 64, 3), 2u);
  EXPECT_EQ(alignment(DType::f32, 1, 16), 1u);
  EXPECT_EQ(alignment(DType::f32, 4096, 1 << 20), 4096u);
}

TEST(Admit, TheSampleAdmitsItsRequest) {
  const auto fit = admit_sample(nullptr);
  ASSERT_TRUE(fit) << fit.error().clause;
  EXPECT_THAT(fit->copied, ElementsAre(false, false, false));
}

TEST(Admit, EachRefusalNamesItsClause) {
  struct Row {
    const char* clause;
    const char* found;
    Change change;
  };
  const auto field = [](Contract& c, std::string_view text) {
    for (contract::Field& one : c.fields)
      if (one.name == "groups") one.constraint = constraint(text, Constraint::Dialect::field, "groups");
  };
  const auto layout = [](Contract& c, std::string_view text) {
    c.inputs[1].layout_constraint = constraint(text, Constraint::Dialect::layout, "weight");
  };
  const std::vector<Row> rows = {
      {"backend", "no device of that kind here", [](Contract& c) { c.backend = contract::Backend::vulkan; }},
      {"requires.isa", "", [](Contract& c) { c.requires_isa = {"sse9"}; }},
      {"requires.device", "none", [](Contract& c) { c.requires_device = {"fp16"}; }},
      {"op_params.groups", "1", [&](Contract& c) { field(c, "groups >= 2"); }},
      {"op_params.groups", "cannot be evaluated here", [&](Contract& c) { field(c, "groups != k"); }},
      {"x.rank", "4", [](Contract& c) { c.inputs[0].rank = {5, 6}; }},
      {"weight.rank", "4", [](Contract& c) { c.inputs[1].rank = {0, 3}; }},
      {"weight.shape_constraint", "",
       [](Contract& c) {
         c.inputs[1].shape_constraint = constraint("weight.dim[2] == 5", Constraint::Dialect::shape, "weight");
       }},
      {"weight.layout_constraint", "", [&](Contract& c) { layout(c, "stride[2] % 16 == 0"); }},
      {"weight.layout.broadcast_axes", "strides 36,9,3,1",
       [](Contract& c) {
         c.inputs[1].layout->broadcast_stride0 = Acceptance::required;
         c.inputs[1].layout->broadcast_axes = {0};
       }},
      {"x.alignment_bytes", "4096", [](Contract& c) { c.caps.alignment_bytes = 8192; }},
  };
  for (const auto& [clause, found, change] : rows) {
    const auto fit = admit_sample(change);
    ASSERT_FALSE(fit) << clause;
    EXPECT_EQ(fit.error().clause, clause);
    EXPECT_THAT(fit.error().found, HasSubstr(found)) << clause;
    EXPECT_FALSE(fit.error().wanted.empty()) << clause;
  }
}

TEST(Admit, AnotherKeyIsRefusedFirst) {
  const Request request = sample_request();
  const auto fit = admit(sample_binding([](Contract& c) { c.backend = contract::Backend::cuda; }), request,
                         {request.x, request.weight, TensorSpec::dense(DType::f16, request.out.shape)});
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().clause, "key");
  EXPECT_EQ(fit.error().wanted, "f32,f32,f32");
  EXPECT_EQ(fit.error().found, "f32,f32,f16");
}

TEST(Admit, AKernelThatThisHostCannotRunNamesTheInstructionSet) {
  const Request request = sample_request();
  bind::Binding binding = sample_binding();
  binding.function = nullptr;
  binding.missing_isa = CONVOKE_ISA_AVX512;
  const auto fit = admit(binding, request, {request.x, request.weight, request.out});
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().clause, "requires.isa");
  EXPECT_EQ(fit.error().wanted, "avx512");
}

TEST(Admit, AwkwardOperandsAreCopied) {
  struct Row {
    const char* what;
    std::vector<bool> copied;
    std::function<void(TensorSpec& x, TensorSpec& weight, TensorSpec& out)> request;
    Change contract;
  };
  const auto as_it_is = [](TensorSpec&, TensorSpec&, TensorSpec&) {};
  const auto gaps = [](TensorSpec& spec) { spec.strides = {1024, 128, 16, 2}; };
  const std::vector<Row> rows = {
      {"x must be dense", {true, false, false}, [&](auto& x, auto&, auto&) { gaps(x); }, nullptr},
      {"weight may have gaps", {false, false, false}, [&](auto&, auto& weight, auto&) { gaps(weight); }, nullptr},
      {"out must be dense", {false, false, true}, [&](auto&, auto&, auto& out) { gaps(out); }, nullptr},
      {"no offset", {true, false, false}, [](auto& x, auto&, auto&) { x.offset = 16; }, nullptr},
      {"an offset that the contract takes",
       {false, false, false},
       [](auto& x, auto&, auto&) { x.offset = 16; },
       [](Contract& c) { c.inputs[0].layout->start_offset = true; }},
      {"an offset that breaks the alignment",
       {true, false, false},
       [](auto& x, auto&, auto&) { x.offset = 4; },
       [](Contract& c) { c.inputs[0].layout->start_offset = true; }},
      {"no stride of 0", {false, true, false}, [](auto&, auto& weight, auto&) { weight.strides[0] = 0; }, nullptr},
      {"a stride of 0 that the contract takes",
       {false, false, false},
       [](auto&, auto& weight, auto&) { weight.strides[0] = 0; },
       [](Contract& c) { c.inputs[1].layout->broadcast_stride0 = Acceptance::accepted; }},
      {"a stride of 0 that the contract wants",
       {false, false, false},
       [](auto&, auto& weight, auto&) { weight.strides[0] = 0; },
       [](Contract& c) {
         c.inputs[1].layout->broadcast_stride0 = Acceptance::required;
         c.inputs[1].layout->broadcast_axes = {0};
       }},
      {"a constraint that only the copy meets",
       {false, true, false},
       [&](auto&, auto& weight, auto&) { gaps(weight); },
       [](Contract& c) {
         c.inputs[1].layout_constraint = constraint("stride[3] == 1", Constraint::Dialect::layout, "weight");
       }},
      {"100 bytes of alignment mean 128",
       {true, true, true},
       as_it_is,
       [](Contract& c) { c.caps.alignment_bytes = 100; }},
      {"128 bytes are enough for 100",
       {false, false, false},
       [](auto& x, auto& weight, auto& out) { x.align = weight.align = out.align = 128; },
       [](Contract& c) { c.caps.alignment_bytes = 100; }},
      {"no alignment stated: an element's size",
       {false, false, false},
       [](auto& x, auto& weight, auto& out) { x.align = weight.align = out.align = 4; },
       [](Contract& c) { c.caps.alignment_bytes.reset(); }},
  };
  for (const Row& row : rows) {
    const auto fit = admit_sample(row.contract, sample_request(row.request));
    ASSERT_TRUE(fit) << row.what << ": " << fit.error().clause;
    EXPECT_EQ(fit->copied, row.copied) << row.what;
  }
}

TEST(Admit, ACopyIsDenseAndAlignedAsWanted) {
  const auto fit = admit_sample([](Contract& c) { c.caps.alignment_bytes = 100; });
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->operands[0].align, 128u);
  EXPECT_EQ(fit->operands[0].strides, dense_strides({1, 4, 8, 8}));
  const auto small = admit_sample([](Contract& c) { c.caps.alignment_bytes = 4; },
                                  sample_request([](auto& x, auto&, auto&) { x.offset = 16; }));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->operands[0].align, 64u) << "never less than a cache line";
  EXPECT_EQ(small->operands[0].offset, 0);
}

}  // namespace
}  // namespace convoke::planner
