// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random contracts, bound to functions that check every clause of theirs: what the planner is tried with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "bind/binding_table.hpp"
#include "tests/plan/generated_kernel.hpp"

namespace convoke::sweep {

/// Draws what is needed to make up a contract.
class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) noexcept : random_(seed) {}

  bool chance(std::uint64_t percent) noexcept { return random_.below(100) < percent; }
  std::uint64_t below(std::uint64_t n) noexcept { return random_.below(n); }
  template <class List>
  const auto& pick(const List& list) noexcept {
    return list[random_.below(std::size(list))];
  }

 private:
  Random random_;
};

/// One kernel of this operator. `index` becomes part of its name.
Kernel random_kernel(Drawer& draw, bind::Operator op, bool on_device, std::size_t index);

/// The `## ` section that says all of it. `provider`: what the symbol starts with.
std::string section_of(const Kernel& kernel, std::string_view provider);

/// The built-in contracts, several generated ones and sometimes the Vulkan seed's on the fake device. One can be used
/// at a time.
class RandomCatalog {
 public:
  explicit RandomCatalog(std::uint64_t seed);
  RandomCatalog(const RandomCatalog&) = delete;
  RandomCatalog& operator=(const RandomCatalog&) = delete;

  const Catalog& catalog() const noexcept { return *catalog_; }
  /// The generated documents, as they were read.
  const std::vector<Document>& documents() const noexcept { return documents_; }

 private:
  struct Table {
    std::string registry;
    std::vector<std::string> symbols;
    std::vector<convoke_entry> entries;
  };
  void add_document(Drawer& draw, bool on_device);
  void add_entries(const Kernel& kernel, Table& table);

  std::vector<std::unique_ptr<Kernel>> kernels_;
  Table host_, device_;
  std::size_t instances_ = 0;
  std::vector<Document> documents_;
  std::optional<Catalog> catalog_;
};

}  // namespace convoke::sweep
