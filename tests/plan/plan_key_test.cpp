// SPDX-License-Identifier: Apache-2.0 OR MIT
// Two calls may share a plan only where every argument is the same: each field alone must tell keys apart.
#include "plan/plan_key.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace convoke::planner {
namespace {

using Key = std::vector<std::uint64_t>;

// Everything that plan() takes, each field with a value that a change can tell from its default.
struct Call {
  Op op = Op::conv2d;
  TensorSpec x{DType::f32, {1, 4, 8, 8}, {256, 64, 8, 1}, 0, 64};
  TensorSpec weight{DType::f32, {8, 4, 3, 3}, {36, 9, 3, 1}, 0, 64};
  std::optional<TensorSpec> bias = TensorSpec{DType::f32, {8}, {1}, 0, 64};
  TensorSpec out{DType::f32, {1, 8, 6, 6}, {288, 36, 6, 1}, 0, 64};
  ConvParams params{
      .stride = {1, 2}, .padding = {3, 4, 5, 6}, .dilation = {7, 8}, .output_padding = {9, 10}, .groups = 11};
  PlanOptions options;
  Rates rates;

  Call() {
    options.demand = Demand::accurate(2);
    options.demand->name = "name";
    options.kernel = "cpu/*";
    options.forbid = {"a", "b"};
    options.backends = {"cpu", "cuda"};
    options.workspace_cap = 100;
    options.threads = 3;
  }
  Key key() const {
    PlanOptions given = options;
    given.rates = &rates;
    Key key;
    append_key({op, x, weight, bias, out, params, given}, key);
    return key;
  }
};

struct Row {
  std::string field;
  std::function<void(Call&)> change;
};

std::vector<Row> changes_of_spec(const std::string& name, const std::function<TensorSpec&(Call&)>& spec) {
  std::vector<Row> rows = {{name + ".dtype", [=](Call& c) { spec(c).dtype = DType::f16; }},
                           {name + ".offset", [=](Call& c) { spec(c).offset = 1; }},
                           {name + ".align", [=](Call& c) { spec(c).align = 32; }},
                           {name + ".shape, longer", [=](Call& c) { spec(c).shape.push_back(1); }},
                           {name + ".strides, longer", [=](Call& c) { spec(c).strides.push_back(1); }}};
  for (int axis = 0; axis < spec(*std::make_unique<Call>()).shape.rank(); ++axis) {
    rows.push_back({name + ".shape " + std::to_string(axis), [=](Call& c) { spec(c).shape[axis] += 100; }});
    rows.push_back({name + ".strides " + std::to_string(axis), [=](Call& c) { spec(c).strides[axis] -= 1000; }});
  }
  return rows;
}

std::vector<Row> changes_of_params() {
  return {{"stride.h", [](Call& c) { c.params.stride.h = 20; }},
          {"stride.w", [](Call& c) { c.params.stride.w = 20; }},
          {"padding.top", [](Call& c) { c.params.padding.top = 20; }},
          {"padding.left", [](Call& c) { c.params.padding.left = 20; }},
          {"padding.bottom", [](Call& c) { c.params.padding.bottom = 20; }},
          {"padding.right", [](Call& c) { c.params.padding.right = 20; }},
          {"padding.same", [](Call& c) { c.params.padding.same = true; }},
          {"dilation.h", [](Call& c) { c.params.dilation.h = 20; }},
          {"dilation.w", [](Call& c) { c.params.dilation.w = 20; }},
          {"output_padding.h", [](Call& c) { c.params.output_padding.h = 20; }},
          {"output_padding.w", [](Call& c) { c.params.output_padding.w = 20; }},
          {"groups", [](Call& c) { c.params.groups = 20; }}};
}

std::vector<Row> changes_of_options() {
  return {{"no demand", [](Call& c) { c.options.demand.reset(); }},
          {"demand.kind", [](Call& c) { c.options.demand->kind = Demand::Kind::fast; }},
          {"demand.name", [](Call& c) { c.options.demand->name = "eman"; }},
          {"demand.factor", [](Call& c) { c.options.demand->factor = 2.0000000000000004; }},
          {"demand.plane", [](Call& c) { c.options.demand->plane = true; }},
          {"kernel", [](Call& c) { c.options.kernel = "cpu/?"; }},
          {"kernel, empty", [](Call& c) { c.options.kernel.clear(); }},
          {"kernel, a zero byte more", [](Call& c) { c.options.kernel.push_back('\0'); }},
          {"forbid", [](Call& c) { c.options.forbid[0] = "c"; }},
          {"forbid, joined", [](Call& c) { c.options.forbid = {"ab"}; }},
          {"forbid, split otherwise", [](Call& c) { c.options.forbid = {"ab", ""}; }},
          {"forbid, longer", [](Call& c) { c.options.forbid.push_back(""); }},
          {"backends", [](Call& c) { c.options.backends[1] = "cudb"; }},
          {"backends, none", [](Call& c) { c.options.backends.clear(); }},
          {"backends moved to forbid",
           [](Call& c) {
             c.options.forbid = {"a", "b", "cpu", "cuda"};
             c.options.backends.clear();
           }},
          {"workspace_cap", [](Call& c) { c.options.workspace_cap = 101; }},
          {"workspace_cap 0", [](Call& c) { c.options.workspace_cap = 0; }},
          {"no workspace_cap", [](Call& c) { c.options.workspace_cap.reset(); }},
          {"threads", [](Call& c) { c.options.threads = 4; }},
          {"threads, all", [](Call& c) { c.options.threads = 0; }},
          {"packed_weight", [](Call& c) { c.options.packed_weight = true; }},
          {"rates", [](Call& c) { ASSERT_TRUE(c.rates.set({"", "", "", std::nullopt, {3, 3, 3}})); }},
          {"rates, thread_gain", [](Call& c) { ASSERT_TRUE(c.rates.set_thread_gain(0.1)); }}};
}

std::vector<Row> every_change() {
  std::vector<Row> rows = {{"op", [](Call& c) { c.op = Op::conv_transpose2d; }},
                           {"bias, absent", [](Call& c) { c.bias.reset(); }}};
  const auto append = [&](std::vector<Row> more) { rows.insert(rows.end(), more.begin(), more.end()); };
  append(changes_of_spec("x", [](Call& c) -> TensorSpec& { return c.x; }));
  append(changes_of_spec("weight", [](Call& c) -> TensorSpec& { return c.weight; }));
  append(changes_of_spec("bias", [](Call& c) -> TensorSpec& { return *c.bias; }));
  append(changes_of_spec("out", [](Call& c) -> TensorSpec& { return c.out; }));
  append(changes_of_params());
  append(changes_of_options());
  return rows;
}

TEST(AppendKey, EveryFieldAloneGivesAKeyOfItsOwn) {
  std::map<Key, std::string> seen = {{Call().key(), "nothing changed"}};
  for (const Row& row : every_change()) {
    Call call;
    row.change(call);
    const auto [at, fresh] = seen.emplace(call.key(), row.field);
    EXPECT_TRUE(fresh) << row.field << " gives the key of: " << at->second;
  }
  EXPECT_EQ(seen.size(), 1 + 2 + 3 * 13 + 7 + 12 + 23u);
}

TEST(AppendKey, TheSameArgumentsGiveTheSameKey) {
  EXPECT_EQ(Call().key(), Call().key());
  for (const Row& row : every_change()) {
    Call one, other;
    row.change(one);
    row.change(other);
    EXPECT_EQ(one.key(), other.key()) << row.field;
  }
}

TEST(AppendKey, RatesCountByWhatTheySay) {
  Call one, other;
  ASSERT_TRUE(other.rates.set({"", "", "", std::nullopt, {3, 3, 3}}));
  ASSERT_TRUE(other.rates.set(one.rates.rows().front()));
  EXPECT_EQ(one.key(), other.key());
}

TEST(AppendKey, WordsAreAddedBehindWhatIsThere) {
  const Call call;
  Key key = {42};
  append_key({call.op, call.x, call.weight, call.bias, call.out, call.params, call.options}, key);
  Key alone;
  append_key({call.op, call.x, call.weight, call.bias, call.out, call.params, call.options}, alone);
  EXPECT_EQ(key.front(), 42u);
  EXPECT_EQ(Key(key.begin() + 1, key.end()), alone);
}

}  // namespace
}  // namespace convoke::planner
