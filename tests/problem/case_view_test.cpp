// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/case_view.hpp"

#include <gtest/gtest.h>

namespace convoke::problem {
namespace {

struct Sliced {
  const char* slice;
  std::int64_t size, stride, offset;
};

// What Python's range does with the same numbers on an axis of size 5.
TEST(View, SlicesAsPythonDoes) {
  for (const Sliced& wanted :
       {Sliced{":", 5, 1, 0}, Sliced{"1:", 4, 1, 1}, Sliced{":-1", 4, 1, 0}, Sliced{"0::2", 3, 2, 0},
        Sliced{"1::2", 2, 2, 1}, Sliced{"::-1", 5, -1, 4}, Sliced{"::-2", 3, -2, 4}, Sliced{"3:0:-1", 3, -1, 3},
        Sliced{"-2:", 2, 1, 3}, Sliced{"2:2", 0, 1, 0}, Sliced{"4:1", 0, 1, 0}, Sliced{"0:100", 5, 1, 0},
        Sliced{"-100:100:3", 2, 3, 0}, Sliced{"100::-1", 5, -1, 4}, Sliced{"3:-100:-1", 4, -1, 3},
        Sliced{"-100::-1", 0, -1, 0}}) {
    View view({5});
    ASSERT_TRUE(view.slice({wanted.slice})) << wanted.slice;
    EXPECT_EQ(view.shape()[0], wanted.size) << wanted.slice;
    EXPECT_EQ(view.strides()[0], wanted.stride) << wanted.slice;
    EXPECT_EQ(view.offset(), wanted.offset) << wanted.slice;
  }
}

TEST(View, StepsCompose) {
  View view({1, 4, 6});
  ASSERT_TRUE(view.slice({":", "1::2", "::-3"}));
  ASSERT_TRUE(view.permute({2, 0, 1}));
  ASSERT_TRUE(view.expand({2, 7, 2}));
  EXPECT_EQ(view.shape(), (Dims{2, 7, 2}));
  EXPECT_EQ(view.strides(), (Dims{-3, 0, 12}));
  EXPECT_EQ(view.offset(), 6 + 5);
}

TEST(View, RefusesWhatIsNoView) {
  for (const char* slice : {"", "1", "a:b", "::0", "1:2:3:4", "99999999999:", "0::99999999999"})
    EXPECT_FALSE(View({5}).slice({slice})) << slice;
  EXPECT_FALSE(View({5}).slice({":", ":"}));
  EXPECT_FALSE(View({5, 5}).permute({0, 0}));
  EXPECT_FALSE(View({5, 5}).permute({0}));
  EXPECT_FALSE(View({5, 5}).permute({1, 2}));
  EXPECT_FALSE(View({5, 1}).expand({5}));
  EXPECT_FALSE(View({5, 1}).expand({6, 1}));
  EXPECT_FALSE(View({5, 1}).expand({5, 0}));
  EXPECT_FALSE(View({5, 1}).expand({5, 99999999999}));
}

}  // namespace
}  // namespace convoke::problem
