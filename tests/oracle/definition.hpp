// SPDX-License-Identifier: Apache-2.0 OR MIT
// The operations as design and public headers define them, tap by tap, without any of the oracles' shortcuts.
#pragma once

#include "sample.hpp"

namespace convoke::oracle {

/// Calls visit(x bits, weight bits) for each present tap of one output, in the law's order.
template <class Visit>
void defined_taps(Sample& s, const At& at, Visit visit) {
  const Geometry& g = s.geometry;
  const ConvParams& p = g.params;
  const std::int64_t in = g.Cin / p.groups, out = g.Cout / p.groups, group = at.co / out;
  for (std::int64_t ci = 0; ci < in; ++ci) {
    if (g.op == Op::conv2d) {
      for (std::int64_t kh = 0; kh < g.Kh; ++kh)
        for (std::int64_t kw = 0; kw < g.Kw; ++kw) {
          const std::int64_t h = at.oh * p.stride.h + kh * p.dilation.h - p.padding.top;
          const std::int64_t w = at.ow * p.stride.w + kw * p.dilation.w - p.padding.left;
          if (h >= 0 && h < g.H && w >= 0 && w < g.W)
            visit(s.x.bits(at.n, group * in + ci, h, w), s.weight.bits(at.co, ci, kh, kw));
        }
      continue;
    }
    for (std::int64_t h = 0; h < g.H; ++h)
      for (std::int64_t w = 0; w < g.W; ++w)
        for (std::int64_t kh = 0; kh < g.Kh; ++kh)
          for (std::int64_t kw = 0; kw < g.Kw; ++kw)
            if (h * p.stride.h + kh * p.dilation.h - p.padding.top == at.oh &&
                w * p.stride.w + kw * p.dilation.w - p.padding.left == at.ow)
              visit(s.x.bits(at.n, group * in + ci, h, w), s.weight.bits(group * in + ci, at.co % out, kh, kw));
  }
}

}  // namespace convoke::oracle
