// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/digest.hpp"
#include "base/dtype.hpp"
#include "problem/random_problem.hpp"
#include "problem/workload.hpp"

namespace convoke::problem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string npy(std::string_view header, std::string_view data, char major = 1) {
  std::string file = "\x93NUMPY";
  file += {major, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (major > 1) file += {'\0', '\0'};
  return file.append(header).append(data);
}

std::string header_of(std::string_view descr, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }\n";
}

Result<Array> parse(const std::string& file, std::optional<DType> dtype = {}) {
  return parse_npy(std::as_bytes(std::span(file)), dtype, "f.npy");
}

// The logical elements in row-major order.
std::vector<double> values(const Array& array) {
  std::vector<double> result;
  const std::string bytes = dense_bytes(array.view());
  const std::size_t size = size_of(array.spec.dtype);
  for (std::size_t i = 0; i < bytes.size(); i += size)
    result.push_back(value_of_bits(array.spec.dtype, load_bits(bytes.data() + i, array.spec.dtype)));
  return result;
}

// Bytes of np.save(..., np.array([[1.5, -2.0]], '<f4')), as NumPy 2.4.6 wrote them.
TEST(Npy, ReadsAFileOfNumPy) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  header.append(117 - header.size(), ' ').push_back('\n');
  const auto array = parse(npy(header, std::string("\0\0\xc0\x3f\0\0\0\xc0", 8)));
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->spec.dtype, DType::f32);
  EXPECT_EQ(array->spec.shape, (Dims{1, 2}));
  EXPECT_THAT(values(*array), ElementsAre(1.5, -2.0));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array->view().data) % 64, 0u);
}

TEST(Npy, ReadsEveryTypeByteOrderAndVersion) {
  const std::string one_f8("\x3f\xf0\0\0\0\0\0\0", 8);
  const std::string f8_one(one_f8.rbegin(), one_f8.rend());
  EXPECT_THAT(values(*parse(npy(header_of("<f8", "(1,)"), f8_one))), ElementsAre(1.0));
  EXPECT_THAT(values(*parse(npy(header_of(">f8", "(1,)"), one_f8))), ElementsAre(1.0));
  EXPECT_THAT(values(*parse(npy(header_of(">f4", "(1,)"), std::string("\x3f\x80\0\0", 4)))), ElementsAre(1.0));
  EXPECT_THAT(values(*parse(npy(header_of("<f2", "(1,)"), std::string("\0\x3c", 2)))), ElementsAre(1.0));
  EXPECT_THAT(values(*parse(npy(header_of(">f2", "(1,)"), std::string("\x3c\0", 2)))), ElementsAre(1.0));
  EXPECT_THAT(values(*parse(npy(header_of("<u2", "(1,)"), "\x80\x3f"), DType::bf16)), ElementsAre(1.0));
  EXPECT_THAT(values(*parse(npy(header_of(">u2", "(1,)"), "\x3f\x80"), DType::bf16)), ElementsAre(1.0));
  for (const char version : {'\1', '\2', '\3'})
    EXPECT_THAT(values(*parse(npy(header_of("<u2", "(1,)"), "\x80\x3f", version), DType::bf16)), ElementsAre(1.0));
}

TEST(Npy, FortranOrderBecomesStrides) {
  const std::string data("\x80\x3f\x00\x40\x40\x40\x80\x40\xa0\x40\xc0\x40", 12);
  const auto array = parse(npy(header_of("<u2", "(2, 3)", true), data), DType::bf16);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->spec.strides, (Dims{1, 2}));
  EXPECT_THAT(values(*array), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, RankZeroAndSizeZeroAreArrays) {
  EXPECT_THAT(values(*parse(npy(header_of("<f2", "()"), std::string("\0\x3c", 2)))), ElementsAre(1.0));
  for (const bool fortran : {false, true})
    EXPECT_EQ(parse(npy(header_of("<f2", "(3, 0, 2)", fortran), ""))->spec.shape, (Dims{3, 0, 2}));
}

struct FileFault {
  std::string file;
  std::optional<DType> dtype;
  const char *rule, *message;
};

class NpyFault : public ::testing::TestWithParam<FileFault> {};

TEST_P(NpyFault, IsOneClearLine) {
  const auto array = parse(GetParam().file, GetParam().dtype);
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code, ErrorCode::invalid_file);
  EXPECT_EQ(array.error().rule, GetParam().rule);
  EXPECT_THAT(array.error().message, AllOf(StartsWith("f.npy: "), HasSubstr(GetParam().message)));
  EXPECT_EQ(array.error().message.find('\n'), std::string::npos);
}

const std::string f4_header = header_of("<f4", "(1,)");

INSTANTIATE_TEST_SUITE_P(
    Each, NpyFault,
    ::testing::Values(
        FileFault{"", {}, "magic", "not a .npy file"}, FileFault{"\x93NUMP", {}, "magic", "not a .npy file"},
        FileFault{"PK\3\4", {}, "magic", "not a .npy file"},
        FileFault{"\x93NUMPY\1", {}, "version", "ends inside its version"},
        FileFault{npy(f4_header, "abcd", 4), {}, "version", "format version 4.0; 1.0, 2.0 and 3.0 are known"},
        FileFault{std::string("\x93NUMPY\1\0v", 9), {}, "header", "ends inside the length"},
        FileFault{
            std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12), {}, "header", "a header of 4294967295 bytes; at most"},
        FileFault{
            std::string("\x93NUMPY\1\0\x76\0{", 11), {}, "header", "a header of 118 bytes, but the file ends after 1"},
        FileFault{npy("{}", ""), {}, "descr", "the header does not have it"},
        FileFault{npy(header_of("<i4", "(1,)"), "abcd"), {}, "descr", "elements of type `<i4`"},
        FileFault{npy(header_of("|f4", "(1,)"), "abcd"), {}, "descr", "elements of type `|f4`"},
        FileFault{npy(header_of("f4", "(1,)"), "abcd"), {}, "descr", "elements of type `f4`"},
        FileFault{npy(header_of("", "(1,)"), "abcd"), {}, "descr", "elements of type ``"},
        FileFault{npy(header_of("<f\n4", "(1,)"), "abcd"), {}, "descr", "not a quoted type"},
        FileFault{npy(header_of("<u2", "(1,)"), "ab"), {}, "dtype", "give --dtype bf16"},
        FileFault{npy(header_of("<u2", "(1,)"), "ab"), DType::f16, "dtype", "elements of type `<u2`, wanted f16"},
        FileFault{npy(f4_header, "abcd"), DType::f64, "dtype", "elements of type `<f4`, wanted f64"},
        FileFault{npy(f4_header, "abcd"), DType::bf16, "dtype", "wanted bf16"},
        FileFault{npy(f4_header, "abc"), {}, "data", "3 bytes follow the header, but 1 f32 elements of shape [1]"},
        FileFault{npy(f4_header, "abcde"), {}, "data", "more than 4 bytes follow"},
        FileFault{npy(f4_header, "abcdefgh"), {}, "data", "more than 4 bytes follow"},
        FileFault{npy(f4_header, ""), {}, "data", "0 bytes"},
        FileFault{npy(header_of("<f4", "(1000000000000000,)"), ""), {}, "data", "0 bytes follow"},
        FileFault{npy(header_of("<f4", "(4294967296, 4294967296)"), ""), {}, "shape", "too large"},
        FileFault{npy(header_of("<f8", "(9223372036854775807, 2)"), ""), {}, "shape", "too large"}));

TEST(Npy, WritesWhatNumPyReads) {
  const std::vector<float> data = {1.5f, -2.0f};
  const std::string file = format_npy({data.data(), 8, TensorSpec::dense(DType::f32, {1, 2})});
  EXPECT_EQ(file.size() % 64, 8u);
  EXPECT_THAT(file, StartsWith(std::string("\x93NUMPY\1\0\x76\0", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }  "));
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(file.substr(128), std::string("\0\0\xc0\x3f\0\0\0\xc0", 8));
  EXPECT_THAT(format_npy({data.data(), 8, TensorSpec::dense(DType::f32, {2})}), HasSubstr("'shape': (2,), }"));
  EXPECT_THAT(format_npy({data.data(), 4, TensorSpec::dense(DType::f32, {})}), HasSubstr("'shape': (), }"));
}

TEST(Npy, WhatItWritesItReadsBitForBit) {
  for (std::uint64_t index = 0; index < 500; ++index) {
    const auto made = make_workload(random_problem(Op::conv2d, 1, index));
    ASSERT_TRUE(made) << made.error().message;
    for (const ConstTensor& tensor : {made->x(), made->weight(), ConstTensor(made->out())}) {
      const std::string file = format_npy(tensor);
      const auto array = parse(file, tensor.spec.dtype);
      ASSERT_TRUE(array) << array.error().message;
      EXPECT_EQ(array->spec.shape, tensor.spec.shape);
      EXPECT_EQ(digest_of(array->view()), digest_of(tensor));
      EXPECT_EQ(format_npy(array->view()), file);
    }
  }
}

// It never ends and has no size: reading it whole would take all memory.
TEST(Npy, AFileThatIsNoneIsRefusedAtItsStart) {
  EXPECT_EQ(read_npy("/dev/zero").error().rule, "magic");
  EXPECT_EQ(read_npy("/dev/null").error().rule, "magic");
  EXPECT_EQ(read_npy(::testing::TempDir()).error().code, ErrorCode::io);
}

TEST(Npy, FilesAreWrittenWholeOrNotAtAll) {
  const auto dir = std::filesystem::path(::testing::TempDir()) / "convoke_npy_test";
  std::filesystem::create_directory(dir);
  const std::string path = dir / "a.npy";
  const std::vector<float> data = {1, 2, 3};
  const ConstTensor tensor{data.data(), 12, TensorSpec::dense(DType::f32, {3})};
  ASSERT_TRUE(write_npy(path, tensor));
  EXPECT_THAT(values(*read_npy(path)), ElementsAre(1, 2, 3));
  EXPECT_EQ(write_npy(dir / "no" / "a.npy", tensor).error().code, ErrorCode::io);
  EXPECT_EQ(read_npy(dir / "b.npy").error().code, ErrorCode::io);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), {}), 1);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace convoke::problem
