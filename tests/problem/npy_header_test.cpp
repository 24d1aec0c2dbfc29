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

struct HeaderFault {
  const char *text, *key, *message;
};

class NpyHeaderFault : public ::testing::TestWithParam<HeaderFault> {};

TEST_P(NpyHeaderFault, IsRefusedByKey) {
  const auto header = parse_npy_header(GetParam().text);
  ASSERT_FALSE(header) << GetParam().text;
  EXPECT_EQ(header.error().key, GetParam().key);
  EXPECT_THAT(header.error().text, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, NpyHeaderFault,
    ::testing::Values(HeaderFault{"", "header", "`{` expected at byte 0"},
                      HeaderFault{"{", "header", "a quoted key expected at byte 1"},
                      HeaderFault{"{descr: 1}", "header", "a quoted key"},
                      HeaderFault{"{'descr", "header", "a quoted key"},
                      HeaderFault{"{'descr' '<f4'}", "header", "`:` expected at byte 9"},
                      HeaderFault{"{'descr': '<f4' 'shape'", "header", "`,` or `}` expected"},
                      HeaderFault{"{'descr': '<f4',, }", "header", "a quoted key"},
                      HeaderFault{"{'colour': 1}", "header", "unknown key `colour`"},
                      HeaderFault{"{'descr': '<f4', 'descr': '<f4'}", "descr", "twice"},
                      HeaderFault{"{'descr': [('a', '<f4')]}", "descr", "records are not read"},
                      HeaderFault{"{'descr': '\\x3cf4'}", "descr", "not a quoted type"},
                      HeaderFault{"{'descr': '<f4'} x", "header", "nothing more expected at byte 17"},
                      HeaderFault{"{'fortran_order': 1}", "fortran_order", "neither True nor False"},
                      HeaderFault{"{'shape': [1]}", "shape", "not a tuple"},
                      HeaderFault{"{'shape': (3)}", "shape", "one size needs a comma"},
                      HeaderFault{"{'shape': (-1,)}", "shape", "sizes from 0"},
                      HeaderFault{"{'shape': (,)}", "shape", "sizes from 0"},
                      HeaderFault{"{'shape': (1 2)}", "shape", "sizes from 0"},
                      HeaderFault{"{'shape': (1,", "shape", "sizes from 0"},
                      HeaderFault{"{'shape': (9223372036854775808,)}", "shape", "2^63 - 1"},
                      HeaderFault{"{'shape': (1,1,1,1,1,1,1)}", "shape", "more than 6 sizes"},
                      HeaderFault{"{'fortran_order': False, 'shape': ()}", "descr", "does not have it"},
                      HeaderFault{"{'descr': '<f4', 'shape': ()}", "fortran_order", "does not have it"},
                      HeaderFault{"{'descr': '<f4', 'fortran_order': False}", "shape", "does not have it"}));

}  // namespace
}  // namespace convoke::problem
