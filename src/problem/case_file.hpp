// SPDX-License-Identifier: Apache-2.0 OR MIT
// Case files: JSON with convolutions whose operands and results are written out, such as suites/conv-cases.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"

namespace convoke::problem {

/// A tensor written out: values in row-major order of `shape`.
struct CaseTensor {
  Dims shape;
  std::vector<double> values;
};

/// A tensor as a view of another one that lies dense in memory: strides and offset count elements of `base`.
struct CaseView {
  std::vector<double> base;
  Dims strides;
  std::int64_t offset = 0;
};

/// An operand: its logical values, and how they lie in memory where that is not dense.
struct CaseOperand {
  CaseTensor tensor;
  std::optional<CaseView> view;
};

/// One case. Exactly one of the three expectations is there. Input values are exact in each of `dtypes`; expected
/// values are exact sums, to be narrowed once.
struct Case {
  std::string id, why;
  Op op = Op::conv2d;
  std::vector<DType> dtypes;
  CaseOperand x, weight;
  std::optional<CaseOperand> bias;
  ConvParams params;
  std::optional<CaseTensor> expect;
  std::optional<Dims> expect_shape;
  std::optional<std::string> expect_error;  ///< a word that the refusal's message contains
};

struct CaseFile {
  std::string about;
  std::vector<Case> cases;
};

/// Errors: invalid_file; the message names the file, the case's id and the key, `rule` is the key.
[[nodiscard]] Result<CaseFile> parse_case_file(std::string_view text, std::string_view path);
/// The same from a file. Errors: io besides.
[[nodiscard]] Result<CaseFile> read_case_file(const std::string& path);

}  // namespace convoke::problem
