// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/npy_header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoke::problem {
namespace {

using ::testing::HasSubstr;

TEST(NpyHeader, ReadsWhatNumPyWrites) {
  const auto header = parse_npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }       \n");
  ASSERT_TRUE(header) << header.error().text;
  EXPECT_EQ(header->descr, "<f4");
  EXPECT_FALSE(header->fortran_order);
  EXPECT_EQ(header->shape, (Dims{3, 4}));
}

TEST(NpyHeader, TakesOtherOrdersQuotesAndBlanks) {
  const auto header = parse_npy_header("{ \"shape\":(7,),\n 'fortran_order' : True,'descr':\">f8\"}");
  ASSERT_TRUE(header) << header.error().text;
  EXPECT_EQ(header->descr, ">f8");
  EXPECT_TRUE(header->fortran_order);
  EXPECT_EQ(header->shape, Dims{7});
  EXPECT_EQ(parse_npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': ()}")->shape, Dims{});
  EXPECT_EQ(parse_npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,)}")->shape, (Dims{1, 2}));
}

struct Fault {
  const char *text, *key, *message;
};

class NpyHeaderFault : public ::testing::TestWithParam<Fault> {};

TEST_P(NpyHeaderFault, IsRefusedByKey) {
  const auto header = parse_npy_header(GetParam().text);
  ASSERT_FALSE(header) << GetParam().text;
  EXPECT_EQ(header.error().key, GetParam().key);
  EXPECT_THAT(header.error().text, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, NpyHeaderFault,
    ::testing::Values(
        Fault{"", "header", "`{` expected at byte 0"}, Fault{"{", "header", "a quoted key expected at byte 1"},
        Fault{"{descr: 1}", "header", "a quoted key"}, Fault{"{'descr", "header", "a quoted key"},
        Fault{"{'descr' '<f4'}", "header", "`:` expected at byte 9"},
        Fault{"{'descr': '<f4' 'shape'", "header", "`,` or `}` expected"},
        Fault{"{'descr': '<f4',, }", "header", "a quoted key"},
        Fault{"{'colour': 1}", "header", "unknown key `colour`"},
        Fault{"{'descr': '<f4', 'descr': '<f4'}", "descr", "twice"},
        Fault{"{'descr': [('a', '<f4')]}", "descr", "records are not read"},
        Fault{"{'descr': '\\x3cf4'}", "descr", "not a quoted type"},
        Fault{"{'descr': '<f4'} x", "header", "nothing more expected at byte 17"},
        Fault{"{'fortran_order': 1}", "fortran_order", "neither True nor False"},
        Fault{"{'shape': [1]}", "shape", "not a tuple"}, Fault{"{'shape': (3)}", "shape", "one size needs a comma"},
        Fault{"{'shape': (-1,)}", "shape", "sizes from 0"}, Fault{"{'shape': (,)}", "shape", "sizes from 0"},
        Fault{"{'shape': (1 2)}", "shape", "sizes from 0"}, Fault{"{'shape': (1,", "shape", "sizes from 0"},
        Fault{"{'shape': (9223372036854775808,)}", "shape", "2^63 - 1"},
        Fault{"{'shape': (1,1,1,1,1,1,1)}", "shape", "more than 6 sizes"},
        Fault{"{'fortran_order': False, 'shape': ()}", "descr", "does not have it"},
        Fault{"{'descr': '<f4', 'shape': ()}", "fortran_order", "does not have it"},
        Fault{"{'descr': '<f4', 'fortran_order': False}", "shape", "does not have it"}));

}  // namespace
}  // namespace convoke::problem
