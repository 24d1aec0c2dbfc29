// SPDX-License-Identifier: Apache-2.0 OR MIT
// Words (dtype, layouts, data, alignment, kind of groups) are drawn first and kept; sizes and parameters are drawn
// until they fit each other and the budget, so that no word becomes rarer because its sizes are harder to draw.
#include "problem/random_problem.hpp"

#include <algorithm>
#include <array>

#include "base/dtype.hpp"
#include "base/random.hpp"

namespace convoke::problem {
namespace {

enum class Grouping { one, depthwise, multiplier, several };

class Drawer {
 public:
  Drawer(Op op, std::uint64_t seed, std::uint64_t index) : random_(mixed(op, seed, index)) { made_.op = op; }

  Problem draw() {
    draw_words();
    // A budget of the problem's own: most are tiny, so that a sweep sees many.
    constexpr std::array<std::int64_t, 8> budgets = {1'000, 1'000, 1'000, 4'000, 4'000, 4'000, 20'000, 20'000};
    const std::int64_t budget = chance(3) ? random_max_macs : pick(budgets);
    const auto grouping = static_cast<Grouping>(random_.below(4));
    constexpr int tries = 10'000;  // about ten are needed; running out is not to be expected
    for (int i = 0; i < tries; ++i) {
      draw_sizes(grouping);
      if (is_empty_) make_empty();
      if (const auto geometry = geometry_of(made_); geometry && geometry->flops() <= 2.0 * static_cast<double>(budget))
        return made_;
    }
    made_.params = {};
    made_.x = made_.weight = {1, 1, 1, 1};
    return made_;
  }

 private:
  static std::uint64_t mixed(Op op, std::uint64_t seed, std::uint64_t index) {
    std::uint64_t state = seed ^ (op == Op::conv2d ? 0 : 0x5bf03635u);
    state = splitmix64(state) + index;
    return splitmix64(state);
  }

  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  template <class T, std::size_t count>
  T pick(const std::array<T, count>& values) {
    return values[random_.below(count)];
  }

  LayoutKind draw_layout(bool output) {
    if (chance(50)) return LayoutKind::dense;
    for (;;) {
      const auto kind = static_cast<LayoutKind>(random_.below(layout_kinds));
      if (!output || kind != LayoutKind::expanded) return kind;
    }
  }

  void draw_words() {
    constexpr std::array<std::size_t, 8> aligns = {1, 2, 4, 8, 16, 32, 64, 4096};
    made_.dtype = pick(all_dtypes);
    made_.x_layout = draw_layout(false);
    made_.weight_layout = draw_layout(false);
    made_.out_layout = draw_layout(true);
    made_.data = static_cast<DataKind>(random_.below(data_kinds));
    made_.align = pick(aligns);
    made_.bias = chance(50);
    made_.seed = random_.next() >> 32;
    is_empty_ = chance(5);
  }

  std::int64_t draw_image_size() {
    constexpr std::array<std::int64_t, 8> primes = {2, 3, 5, 7, 11, 13, 17, 23};
    constexpr std::array<std::int64_t, 8> around_vectors = {7, 8, 9, 15, 16, 17, 31, 33};
    switch (random_.below(4)) {
      case 0:
        return pick(primes);
      case 1:
        return pick(around_vectors);
      case 2:
        return random_.between(1, 4);
      default:
        return random_.between(1, 24);
    }
  }

  std::int64_t draw_kernel_size() {
    constexpr std::array<std::int64_t, 12> sizes = {1, 1, 2, 3, 3, 3, 4, 5, 5, 7, 9, 11};
    return pick(sizes);
  }

  std::int64_t draw_channels() {
    constexpr std::array<std::int64_t, 12> sizes = {1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17};
    return pick(sizes);
  }

  // Mostly one number for both axes, as in use; each from {1 .. most}.
  Extent2 draw_extent(std::uint64_t percent_above_one, std::int64_t most) {
    if (!chance(percent_above_one)) return 1;
    if (chance(50)) return random_.between(2, most);
    return {random_.between(1, most), random_.between(1, most)};
  }

  Padding draw_padding(std::int64_t kh, std::int64_t kw) {
    switch (random_.below(6)) {
      case 0:
        return 0;
      case 1:
        return {kh / 2, kw / 2};
      case 2:
        return {kh + random_.between(0, 2), kw + random_.between(0, 2)};
      case 3:
        return {random_.between(0, 3), random_.between(0, 3), random_.between(0, 3), random_.between(0, 3)};
      case 4:
        if (made_.op == Op::conv2d) return Padding::same_upper();
        [[fallthrough]];
      default:
        return {random_.between(0, 2), random_.between(0, 2)};
    }
  }

  Extent2 draw_output_padding() {
    const ConvParams& p = made_.params;
    return {random_.between(0, std::max(p.stride.h, p.dilation.h) - 1),
            random_.between(0, std::max(p.stride.w, p.dilation.w) - 1)};
  }

  void draw_sizes(Grouping grouping) {
    ConvParams& p = made_.params;
    const std::int64_t kh = draw_kernel_size();
    const std::int64_t kw = chance(70) ? kh : draw_kernel_size();
    p = {.stride = draw_extent(45, 4),
         .padding = draw_padding(kh, kw),
         .dilation = draw_extent(30, 3),
         .output_padding = 0,
         .groups = grouping == Grouping::one ? 1 : random_.between(2, 9)};
    if (made_.op == Op::conv_transpose2d && chance(50)) p.output_padding = draw_output_padding();
    // Channels in and out of one group.
    std::int64_t in = 1, out = 1;
    if (grouping == Grouping::one || grouping == Grouping::several) {
      in = std::max<std::int64_t>(draw_channels(), grouping == Grouping::one ? 1 : 2);
      out = draw_channels();
    }
    if (grouping == Grouping::multiplier) out = random_.between(2, 4);
    made_.x = {random_.between(1, 3), in * p.groups, draw_image_size(), draw_image_size()};
    made_.weight = made_.op == Op::conv2d ? Dims{out * p.groups, in, kh, kw} : Dims{in * p.groups, out, kh, kw};
  }

  // One size becomes 0: the batch, the channels in or out, height or width.
  void make_empty() {
    const auto which = random_.below(5);
    if (which == 0) made_.x[0] = 0;
    if (which == 1) {
      made_.x[1] = 0;
      made_.weight[made_.op == Op::conv2d ? 1 : 0] = 0;
    }
    if (which == 2) made_.weight[made_.op == Op::conv2d ? 0 : 1] = 0;
    if (which >= 3) made_.x[static_cast<int>(which) - 1] = 0;
  }

  Random random_;
  Problem made_;
  bool is_empty_ = false;
};

}  // namespace

Problem random_problem(Op op, std::uint64_t seed, std::uint64_t index) { return Drawer(op, seed, index).draw(); }

}  // namespace convoke::problem
