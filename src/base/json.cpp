// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/json.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/fail.hpp"

namespace convoke {
namespace {

tl::unexpected<Error> fail_at(std::string_view text, std::size_t byte, std::string_view path, std::string_view why) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const std::size_t column = before.size() - line_start + 1;
  return fail(ErrorCode::invalid_file, "json", {named("line", line), named("column", column)}, "{}:{}:{}: {}", path,
              line, column, why);
}

/// What the library calls `[json.exception.parse_error.101] parse error at line 1, column 2: why` is `why` here.
std::string_view reason_of(std::string_view what) {
  const std::size_t column = what.find(", column ");
  const std::size_t start = column == std::string_view::npos ? what.find("] ") : what.find(": ", column);
  return start == std::string_view::npos ? what : what.substr(start + 2);
}

/// Iterates over a text and tells an observer how far the parser has read.
struct Reading {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** furthest;

  const char& operator*() const noexcept { return *at; }
  Reading& operator++() noexcept {
    *furthest = ++at;
    return *this;
  }
  bool operator==(const Reading& other) const noexcept { return at == other.at; }
};

/// Watches the events of one parse for what the library itself lets pass. The first finding counts.
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using enum Json::parse_event_t;
    if (!finding_.empty()) return false;  // nothing is kept any more
    if (event == object_start || event == array_start) {
      if (depth >= max_json_depth) note(fmt::format("nested deeper than {}", max_json_depth));
      keys_.resize(static_cast<std::size_t>(depth) + 1);
      keys_.back().clear();
    }
    if (event == key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!keys_[static_cast<std::size_t>(depth) - 1].insert(name).second)
        note(fmt::format("key \"{}\" is given twice in one object", name));
    }
    return finding_.empty();
  }
  const std::string& finding() const noexcept { return finding_; }
  const char* place() const noexcept { return place_; }
  const char* furthest = nullptr;

 private:
  void note(std::string finding) {
    finding_ = std::move(finding);
    place_ = furthest;
  }
  const char* place_ = nullptr;
  std::vector<std::set<std::string>> keys_;  // of the open objects, by depth
  std::string finding_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view path) {
  Watch watch;
  try {
    Json json = Json::parse(
        Reading{text.data(), &watch.furthest}, Reading{text.data() + text.size(), &watch.furthest},
        [&watch](int depth, Json::parse_event_t event, Json& parsed) { return watch(depth, event, parsed); });
    if (watch.finding().empty()) return json;
    return fail_at(text, static_cast<std::size_t>(watch.place() - text.data()) - 1, path, watch.finding());
  } catch (const Json::parse_error& error) {
    // `byte` counts from 1 and names the last byte read.
    return fail_at(text, error.byte == 0 ? 0 : error.byte - 1, path, reason_of(error.what()));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::invalid_file, "json", {}, "{}: {}", path, reason_of(error.what()));
  }
}

}  // namespace convoke
