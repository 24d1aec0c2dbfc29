// SPDX-License-Identifier: Apache-2.0 OR MIT
// A plan as text: the request, how the kernel is approached, and every step's ImplId with the digest of its contract.
// Reading builds the route again by the planner's own means and compares, so a text can name a route but not forge one.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/guard.hpp"
#include "base/json.hpp"
#include "convoke/plan.hpp"
#include "plan/candidates.hpp"
#include "plan/demand.hpp"
#include "plan/plan_impl.hpp"
#include "plan/route.hpp"

namespace convoke {
namespace {

using planner::Request;
using planner::Route;
using planner::Step;

Json json_of(const Dims& dims) { return Json(std::vector<std::int64_t>(dims.begin(), dims.end())); }

Json json_of(const TensorSpec& spec) {
  return {{"dtype", name_of(spec.dtype)},
          {"shape", json_of(spec.shape)},
          {"strides", json_of(spec.strides)},
          {"offset", spec.offset},
          {"align", spec.align}};
}

// An output without pixels comes from padding=same of an empty input alone, which no padding in numbers gives.
Json json_of(const Geometry& geometry) {
  const ConvParams& p = geometry.params;
  return {{"stride", {p.stride.h, p.stride.w}},
          {"same", geometry.op == Op::conv2d && (geometry.Ho == 0 || geometry.Wo == 0)},
          {"padding", {p.padding.top, p.padding.left, p.padding.bottom, p.padding.right}},
          {"dilation", {p.dilation.h, p.dilation.w}},
          {"output_padding", {p.output_padding.h, p.output_padding.w}},
          {"groups", p.groups}};
}

// Reads one document; the first thing that is missing or of another kind is the error.
class Reader {
 public:
  const std::optional<Error>& error() const noexcept { return error_; }

  const Json& member(const Json& object, const char* key) {
    static const Json none;
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (object.is_object() && found != object.end()) return *found;
    wrong(key, "is missing");
    return none;
  }
  std::int64_t number(const Json& value, const char* key) {
    if (value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}))
      return value.get<std::int64_t>();
    wrong(key, "must be a whole number");
    return 0;
  }
  /// 1 or more, and an int.
  int count(const Json& value, const char* key) {
    const std::int64_t found = number(value, key);
    if (found >= 1 && found <= INT_MAX) return static_cast<int>(found);
    wrong(key, "must be from 1 to 2147483647");
    return 1;
  }
  std::string word(const Json& value, const char* key) {
    if (value.is_string()) return value.get<std::string>();
    wrong(key, "must be a string");
    return {};
  }
  bool flag(const Json& value, const char* key) {
    if (value.is_boolean()) return value.get<bool>();
    wrong(key, "must be true or false");
    return false;
  }
  /// `count` numbers; any number up to Dims::max_rank where it is 0.
  Dims dims(const Json& value, const char* key, std::size_t count = 0) {
    Dims result;
    if (!value.is_array() || value.size() > Dims::max_rank || (count != 0 && value.size() != count))
      return wrong(key, "must be an array of sizes"), Dims::filled(static_cast<int>(count), 0);
    for (const Json& item : value) result.push_back(number(item, key));
    return result;
  }
  DType dtype(const Json& value, const char* key) {
    const std::optional<DType> found = parse_dtype(word(value, key));
    if (!found) wrong(key, "must be one of f32, f64, bf16, f16");
    return found.value_or(DType::f32);
  }
  TensorSpec spec(const Json& value) {
    TensorSpec result;
    result.dtype = dtype(member(value, "dtype"), "dtype");
    result.shape = dims(member(value, "shape"), "shape");
    result.strides = dims(member(value, "strides"), "strides");
    result.offset = number(member(value, "offset"), "offset");
    result.align = static_cast<std::size_t>(number(member(value, "align"), "align"));
    return result;
  }
  ConvParams params(const Json& value) {
    const auto at = [&](const char* key, std::size_t count) { return dims(member(value, key), key, count); };
    ConvParams result;
    const Dims stride = at("stride", 2), padding = at("padding", 4), dilation = at("dilation", 2);
    const Dims output_padding = at("output_padding", 2);
    result.stride = {stride[0], stride[1]};
    result.padding = {padding[0], padding[1], padding[2], padding[3]};
    result.padding.same = flag(member(value, "same"), "same");
    result.dilation = {dilation[0], dilation[1]};
    result.output_padding = {output_padding[0], output_padding[1]};
    result.groups = number(member(value, "groups"), "groups");
    return result;
  }
  void wrong(const char* key, const char* what) {
    if (error_) return;
    error_ = Error{ErrorCode::invalid_file, key, fmt::format("not a plan that can be read: '{}' {}", key, what), {}};
  }

 private:
  std::optional<Error> error_;
};

struct Stored {
  Op op = Op::conv2d;
  TensorSpec x, weight, out;
  std::optional<TensorSpec> bias;
  ConvParams params;
  planner::Variant variant;
  int threads = 1;
  bool packed_weight = false;
  std::string demand, reason;
  struct StoredStep {
    std::string kernel, digest;
  };
  std::vector<StoredStep> steps;
};

Result<Stored> read_stored(const Json& document) {
  Reader reader;
  Stored stored;
  if (reader.number(reader.member(document, "convoke_plan"), "convoke_plan") != 1)
    reader.wrong("convoke_plan", "must be 1");
  const std::string op = reader.word(reader.member(document, "op"), "op");
  if (op != name_of(Op::conv2d) && op != name_of(Op::conv_transpose2d))
    reader.wrong("op", "must be conv2d or conv_transpose2d");
  stored.op = op == name_of(Op::conv2d) ? Op::conv2d : Op::conv_transpose2d;
  stored.x = reader.spec(reader.member(document, "x"));
  stored.weight = reader.spec(reader.member(document, "weight"));
  if (const Json& bias = reader.member(document, "bias"); !bias.is_null()) stored.bias = reader.spec(bias);
  stored.out = reader.spec(reader.member(document, "out"));
  stored.params = reader.params(reader.member(document, "params"));
  stored.demand = reader.word(reader.member(document, "demand"), "demand");
  stored.reason = reader.word(reader.member(document, "reason"), "reason");
  stored.threads = reader.count(reader.member(document, "threads"), "threads");
  stored.packed_weight = reader.flag(reader.member(document, "packed_weight"), "packed_weight");
  stored.variant.dense = reader.flag(reader.member(document, "dense"), "dense");
  if (const Json& through = reader.member(document, "through"); !through.is_null())
    stored.variant.through = reader.dtype(through, "through");
  const Json& steps = reader.member(document, "steps");
  if (!steps.is_array() || steps.empty() || steps.size() > 64) reader.wrong("steps", "must be an array of 1 to 64");
  for (std::size_t i = 0; i < steps.size() && !reader.error(); ++i)
    stored.steps.push_back({reader.word(reader.member(steps[i], "kernel"), "kernel"),
                            reader.word(reader.member(steps[i], "digest"), "digest")});
  if (reader.error()) return tl::unexpected(*reader.error());
  return stored;
}

// Every kernel that the plan names, unchanged since.
Result<const bind::Binding*> find_main(const Stored& stored, const bind::BindingTable& table) {
  const bind::Binding* main = nullptr;
  for (const Stored::StoredStep& step : stored.steps) {
    const auto found = std::ranges::find(table.all(), step.kernel, &bind::Binding::id);
    if (found == table.all().end())
      return fail(ErrorCode::not_found, "kernel", {named("kernel", step.kernel)},
                  "the plan names a kernel that is not here: {}; import its document, or plan again", step.kernel);
    if (found->contract->block_digest != step.digest)
      return fail(
          ErrorCode::no_kernel, "digest",
          {named("kernel", step.kernel), named("planned", step.digest), named("found", found->contract->block_digest)},
          "the contract of {} changed since the plan was made: its digest was {} and is {}; plan again", step.kernel,
          step.digest, found->contract->block_digest);
    if (bind::convolves(found->op)) main = &*found;
  }
  if (main == nullptr || main->op != bind::operator_of(stored.op))
    return fail(ErrorCode::invalid_file, "steps", {}, "not a plan that can be read: no step is a {} kernel",
                name_of(stored.op));
  return main;
}

std::optional<Error> refused(const bind::Binding& binding, const planner::Clause& clause) {
  return Error{ErrorCode::no_kernel,
               clause.clause,
               fmt::format("{} does not admit what the plan was made for: {}: wanted {}, found {}; plan again",
                           binding.id, clause.clause, clause.wanted, clause.found),
               {{"wanted", clause.wanted}, {"found", clause.found}}};
}

// The steps that the text names, by the planner's own means.
Result<Route> rebuild(const Stored& stored, const bind::BindingTable& table, const bind::Binding& main,
                      const Request& request, const Demand& demand) {
  // Only types that the planner itself would go through: narrowing the operands would break what the claims are about.
  const auto approach = planner::approach(main, request);
  if (!approach) return tl::unexpected(*refused(main, approach.error()));
  if (approach->through != stored.variant.through)
    return fail(ErrorCode::no_kernel, "through", {},
                "{} would not be approached through casts like the plan's; plan again", main.id);
  if (auto met = planner::meets(main, demand, request, stored.variant.through); !met)
    return tl::unexpected(*refused(main, met.error()));
  std::vector<std::string> ids;
  for (const Stored::StoredStep& step : stored.steps) ids.push_back(step.kernel);
  planner::Workshop::Options copies;
  copies.steps = &ids;
  copies.threads = stored.threads;
  copies.packed_weight = stored.packed_weight;
  copies.any_copies = demand.kind == Demand::Kind::any;
  planner::Workshop workshop(table, request, copies);
  auto route = planner::build_route(workshop, main, stored.variant);
  if (!route) return tl::unexpected(*refused(main, route.error()));
  const bool same = std::ranges::equal(route->steps, ids, {}, [](const Step& step) { return step.binding->id; });
  if (!same)
    return fail(ErrorCode::no_kernel, "steps", {}, "the plan's steps are not what its kernel needs now: {}; plan again",
                planner::text_of(*route));
  return *std::move(route);
}

Result<Plan> plan_of(const Stored& stored, const Catalog& catalog) {
  auto demand = parse_demand(stored.demand);
  if (!demand) return tl::unexpected(demand.error());
  auto request = planner::make_request(stored.op, stored.x, stored.weight, stored.bias, stored.out, stored.params);
  if (!request) return tl::unexpected(request.error());
  const auto main = find_main(stored, catalog.table());
  if (!main) return tl::unexpected(main.error());
  auto route = rebuild(stored, catalog.table(), **main, *request, *demand);
  if (!route) return tl::unexpected(route.error());
  return planner::make_plan(catalog.shared_table(), *std::move(request), stored.variant, *std::move(route),
                            *std::move(demand), stored.reason, {});
}

}  // namespace

std::string Plan::to_json() const {
  const Request& request = impl_->request;
  Json steps = Json::array();
  for (const Step& step : impl_->route.steps)
    steps.push_back({{"kernel", step.binding->id}, {"digest", step.binding->contract->block_digest}});
  const auto& through = impl_->variant.through;
  return Json{{"convoke_plan", 1},
              {"op", name_of(request.geometry.op)},
              {"x", json_of(request.x)},
              {"weight", json_of(request.weight)},
              {"bias", request.bias ? json_of(*request.bias) : Json(nullptr)},
              {"out", json_of(request.out)},
              {"params", json_of(request.geometry)},
              {"demand", text_of(impl_->demand)},
              {"reason", impl_->reason},
              {"threads", impl_->route.threads},
              {"packed_weight", impl_->route.packed_weight},
              {"dense", impl_->variant.dense},
              {"through", through ? Json(name_of(*through)) : Json(nullptr)},
              {"steps", std::move(steps)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Result<Plan> Plan::from_json(std::string_view text, const Catalog* catalog) {
  return guarded([&] {
    return parse_json(text, "plan").and_then(read_stored).and_then([&](const Stored& stored) {
      return plan_of(stored, catalog == nullptr ? Catalog::builtin() : *catalog);
    });
  });
}

}  // namespace convoke
