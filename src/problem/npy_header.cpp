// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/npy_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "problem/text.hpp"

namespace convoke::problem {
namespace {

constexpr std::array<std::string_view, 3> header_keys = {"descr", "fortran_order", "shape"};

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text), size_(text.size()) {}

  tl::expected<NpyHeader, NpyHeaderError> read() {
    const bool sound = read_dict();
    if (!sound) return tl::unexpected(std::move(error_));
    for (std::size_t i = 0; i < header_keys.size(); ++i)
      if (!seen_[i]) return tl::unexpected(NpyHeaderError{header_keys[i], "the header does not have it"});
    return header_;
  }

 private:
  bool complain(std::string_view key, std::string text) {
    error_ = {key, std::move(text)};
    return false;
  }

  bool expected(std::string_view what) {
    return complain("header", fmt::format("{} expected at byte {} of the header", what, size_ - rest_.size()));
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // A quoted text without escapes, as NumPy writes them.
  std::optional<std::string_view> take_text() {
    skip_blanks();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    const std::string_view text = rest_.substr(1, end == std::string_view::npos ? 0 : end - 1);
    if (end == std::string_view::npos || text.find_first_of("\\\n") != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool read_dict() {
    if (!take("{")) return expected("`{`");
    while (!take("}")) {
      const auto key = take_text();
      if (!key) return expected("a quoted key");
      const auto found = std::ranges::find(header_keys, *key);
      if (found == header_keys.end()) return complain("header", fmt::format("unknown key {}", ticked(*key)));
      bool& seen = seen_[static_cast<std::size_t>(found - header_keys.begin())];
      if (seen) return complain(*found, "the header has it twice");
      seen = true;
      if (!take(":")) return expected("`:`");
      if (!read_value(*found)) return false;
      if (!take(",")) {
        if (!take("}")) return expected("`,` or `}`");
        break;
      }
    }
    skip_blanks();
    return rest_.empty() || expected("nothing more");
  }

  bool read_value(std::string_view key) {
    if (key == "shape") return read_shape();
    if (key == "descr") {
      const auto text = take_text();
      if (!text) return complain("descr", "not a quoted type such as '<f4'; records are not read");
      header_.descr = *text;
      return true;
    }
    header_.fortran_order = take("True");
    return header_.fortran_order || take("False") || complain("fortran_order", "neither True nor False");
  }

  bool read_shape() {
    if (!take("(")) return complain("shape", "not a tuple of sizes");
    bool comma = true;
    while (!take(")")) {
      skip_blanks();
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const auto size = parse_integer(rest_.substr(0, digits));
      if (!comma || !size) return complain("shape", "not a tuple of sizes from 0 to 2^63 - 1");
      if (header_.shape.rank() == Dims::max_rank)
        return complain("shape", fmt::format("more than {} sizes", Dims::max_rank));
      header_.shape.push_back(*size);
      rest_.remove_prefix(digits);
      comma = take(",");
    }
    // Python reads (3) as a number.
    if (header_.shape.rank() == 1 && !comma) return complain("shape", "not a tuple of sizes: one size needs a comma");
    return true;
  }

  std::string_view rest_;
  std::size_t size_;
  NpyHeader header_;
  NpyHeaderError error_;
  std::array<bool, header_keys.size()> seen_{};
};

}  // namespace

tl::expected<NpyHeader, NpyHeaderError> parse_npy_header(std::string_view text) { return HeaderReader(text).read(); }

}  // namespace convoke::problem
