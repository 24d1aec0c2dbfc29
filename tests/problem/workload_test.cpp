// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/digest.hpp"
#include "base/dtype.hpp"
#include "base/layout.hpp"
#include "base/sha256.hpp"
#include "problem/random_problem.hpp"

namespace convoke::problem {
namespace {

using ::testing::HasSubstr;

Problem line(const std::string& text) { return parse_problem(text).value(); }

const std::string base = "conv2d x=2x4x5x6 weight=3x4x2x3 bias=1 ";

// Raw bytes: no NaN made canonical.
std::string bytes_digest(const Workload& w) {
  Sha256 sha;
  for (const ConstTensor& tensor : {w.x(), w.weight(), *w.bias()}) sha.update(tensor.data, tensor.bytes);
  return sha.hex();
}

// The bytes that one seed means, on every platform and for good: reproducers rely on them.
TEST(Workload, SameSeedSameBytesEverywhere) {
  EXPECT_EQ(bytes_digest(*make_workload(line(base + "data=int seed=1"))),
            "0a9e50113e4a4cdbc21923b5e13c87732a770c2ca8c0780d1012470755a74d62");
  EXPECT_EQ(bytes_digest(*make_workload(line(base + "data=normal seed=2 dtype=f64"))),
            "a1038697baf3f857fe26e409280e2086bf2e58b86c39ae1255c30ac4e5db626f");
  EXPECT_EQ(bytes_digest(*make_workload(line(base + "data=special seed=3 dtype=bf16 x.layout=sliced"))),
            "98ed7d62ba4f047f7e5bdbbdefd0c76a103433a7a33a82182bd123b739d16d73");
  EXPECT_EQ(bytes_digest(*make_workload(line(base + "data=special seed=4 dtype=f16 weight.layout=permuted"))),
            "02d628992303d736bd25ff58f5c751a994d17b99634d7c309ae80113bee6277b");
}

TEST(Workload, LogicalValuesDoNotDependOnLayoutOrAlignment) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
    const std::string text = base + "data=special seed=9 dtype=" + dtype;
    const auto dense = make_workload(line(text));
    for (const char* layout : {"channels_last", "sliced", "permuted", "flipped", "offset"})
      for (const char* align : {"1", "8", "4096"}) {
        const auto other =
            make_workload(line(text + " x.layout=" + layout + " weight.layout=" + layout + " align=" + align));
        ASSERT_TRUE(other) << other.error().message;
        EXPECT_EQ(digest_of(other->x()), digest_of(dense->x())) << layout;
        EXPECT_EQ(digest_of(other->weight()), digest_of(dense->weight())) << layout;
      }
  }
}

TEST(Workload, AnExpandedOperandRepeatsItsFirstValues) {
  const auto dense = make_workload(line(base + "seed=1"));
  const auto expanded = make_workload(line(base + "seed=1 x.layout=expanded"));  // axis 1
  const auto* d = static_cast<const float*>(dense->x().data);
  const auto* e = static_cast<const float*>(expanded->x().data);
  ASSERT_EQ(expanded->x().spec.strides, (Dims{30, 0, 6, 1}));
  EXPECT_EQ(expanded->x().bytes, 60u * 4);
  for (std::ptrdiff_t i = 0; i < 30; ++i) {
    EXPECT_EQ(e[i], d[i]);
    EXPECT_EQ(e[30 + i], d[120 + i]);
  }
}

TEST(Workload, EveryRandomOneIsSound) {
  for (const Op op : {Op::conv2d, Op::conv_transpose2d})
    for (std::uint64_t index = 0; index < 10'000; ++index) {
      const Problem problem = random_problem(op, 3, index);
      const auto made = make_workload(problem, index % 2 == 0 ? Guard::end : Guard::front);
      ASSERT_TRUE(made) << to_line(problem) << ": " << made.error().message;
      for (const ConstTensor& tensor : {made->x(), made->weight(), ConstTensor(made->out())}) {
        ASSERT_TRUE(check_layout(tensor.spec, tensor.bytes, "x")) << to_line(problem);
        ASSERT_EQ(tensor.spec.align, problem.align);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data) % (2 * problem.align), problem.align);
      }
      ASSERT_FALSE(overlaps_itself(made->out().spec)) << to_line(problem);
      ASSERT_EQ(made->bias().has_value(), problem.bias);
      ASSERT_EQ(made->out().spec.shape, made->geometry()->out_shape());
      ASSERT_TRUE(made->check_untouched()) << to_line(problem);
    }
}

TEST(Workload, NoticesWritesToAnythingButTheOutput) {
  auto made = make_workload(line(base + "out.layout=sliced"));
  const Tensor& out = made->out();
  auto* const element = static_cast<float*>(out.data);
  *element = 1;
  EXPECT_TRUE(made->check_untouched());
  element[1] = 1;  // between two elements
  EXPECT_EQ(made->check_untouched().error().rule, "out");
  made->reset_out();
  EXPECT_TRUE(made->check_untouched());
  EXPECT_EQ(load_bits(out.data, DType::f32), 0x7ff47ff4u);
  const std::pair<const char*, ConstTensor> inputs[] = {
      {"x", made->x()}, {"weight", made->weight()}, {"bias", *made->bias()}};
  for (const auto& [name, tensor] : inputs) {
    auto* const last = static_cast<unsigned char*>(const_cast<void*>(tensor.data)) + tensor.bytes - 1;
    *last ^= 1;
    EXPECT_EQ(made->check_untouched().error().rule, name);
    *last ^= 1;
  }
  EXPECT_TRUE(made->check_untouched());
}

TEST(Workload, SurvivesAMove) {
  auto made = make_workload(line(base));
  const void* const data = made->x().data;
  Workload moved = *std::move(made);
  EXPECT_EQ(moved.x().data, data);
  EXPECT_TRUE(moved.check_untouched());
}

TEST(Workload, RefusesWhatCannotBe) {
  EXPECT_EQ(make_workload(line(base + "stride=0")).error().rule, "stride");
  Problem expanded = line(base);
  expanded.out_layout = LayoutKind::expanded;
  EXPECT_EQ(make_workload(expanded).error().code, ErrorCode::overlap);
  Problem misaligned = line(base);
  misaligned.align = 3;
  EXPECT_EQ(make_workload(misaligned).error().rule, "align");
  EXPECT_EQ(make_workload(line("conv2d x=1x1x268435456x1073741824 weight=1x1x1x1")).error().code,
            ErrorCode::out_of_memory);
}

TEST(Workload, MakesEveryCaseOfTheSuites) {
  const auto file = read_case_file(CONVOKE_SUITES "/conv-cases.json");
  ASSERT_TRUE(file) << file.error().message;
  for (const Case& test : file->cases)
    for (const DType dtype : test.dtypes) {
      const auto made = make_workload(test, dtype);
      ASSERT_TRUE(made) << test.id << made.error().message;
      const CaseTensor& x = test.x.tensor;
      EXPECT_EQ(made->x().spec.shape, x.shape);
      const std::string bytes = dense_bytes(made->x());
      ASSERT_EQ(bytes.size(), x.values.size() * size_of(dtype));
      for (std::size_t i = 0; i < x.values.size(); ++i)
        EXPECT_EQ(load_bits(bytes.data() + i * size_of(dtype), dtype), bits_of_value(dtype, x.values[i])) << test.id;
      EXPECT_EQ(made->geometry().has_value(), !test.expect_error.has_value()) << test.id;
      if (test.expect_error) {
        EXPECT_THAT(made->geometry().error().message, HasSubstr(*test.expect_error)) << test.id;
      } else {
        EXPECT_EQ(made->out().spec.shape, test.expect ? test.expect->shape : *test.expect_shape) << test.id;
      }
    }
  const auto sliced = std::ranges::find(file->cases, "sliced-weight", &Case::id);
  const auto made = make_workload(*sliced, DType::f64);
  EXPECT_EQ(made->weight().spec.strides, (Dims{16, 16, 8, 2}));
  EXPECT_EQ(made->weight().bytes, 16u * 8);
  const auto wide = std::ranges::find(file->cases, "kernel-256-wide", &Case::id);
  EXPECT_EQ(make_workload(*wide, DType::bf16).error().rule, "dtype");
}

}  // namespace
}  // namespace convoke::problem
