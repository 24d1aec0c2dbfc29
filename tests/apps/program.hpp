// SPDX-License-Identifier: Apache-2.0 OR MIT
// The built program as a user meets it: a process with arguments, streams and an exit code.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace convoke::apps_test {

struct Ran {
  std::string out, err;
  int exit = -1;  ///< -1: it did not end by itself
};

/// Where standard output goes.
enum class Out { captured, closed, full_disk, broken_pipe };

/// Runs `convoke` with these arguments; `directory` empty: in this process's own.
Ran convoke(const std::vector<std::string>& arguments, Out out = Out::captured,
            const std::filesystem::path& directory = {});

/// Runs another program and waits for it.
Ran execute(const std::vector<std::string>& command, Out out = Out::captured,
            const std::filesystem::path& directory = {});

/// Standard output as the one JSON document it must be; a discarded value where it is none.
Json json_of(const Ran& ran);

/// The names of an object's members, in order.
std::vector<std::string> keys_of(const Json& object);

/// A directory of its own, removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const;
  std::string at(const std::string& name) const { return (path_ / name).native(); }
  /// Number of entries, hidden ones too.
  std::size_t entries() const;

 private:
  std::filesystem::path path_;
};

std::string read_bytes(const std::filesystem::path& path);

/// A `.npy` of version 1.0 in C order: `descr` such as `<f4`, `shape` such as `(1, 1, 2, 2)`.
std::string npy(std::string_view descr, std::string_view shape, std::string_view data);

/// The bytes of values, little-endian.
std::string floats(const std::vector<float>& values);

}  // namespace convoke::apps_test
