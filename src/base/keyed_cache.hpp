// SPDX-License-Identifier: Apache-2.0 OR MIT
// A bounded cache from keys of 64-bit words to immutable values, for many readers at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace convoke {

/// What is looked up stays; what was not looked up while `capacity` others came goes. Safe from any thread: readers of
/// one shard share its lock, and a key's hash picks the shard.
class KeyedCache {
 public:
  using Key = std::vector<std::uint64_t>;
  using Value = std::shared_ptr<const void>;

  /// Holds between `capacity` and twice as many values, give or take how keys spread over the shards.
  explicit KeyedCache(std::size_t capacity = 4096) noexcept;

  /// Null where there is none.
  Value find(std::span<const std::uint64_t> key) const;
  void insert(std::span<const std::uint64_t> key, Value value);
  /// Number of values held.
  std::size_t size() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::span<const std::uint64_t> key) const noexcept;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) const noexcept;
  };
  using Map = std::unordered_map<Key, Value, Hash, Equal>;
  // Two generations: a full young one becomes the old one, and a hit in the old one moves its value back.
  struct Shard {
    mutable std::shared_mutex mutex;
    Map young, old;
  };
  static constexpr std::size_t shard_count = 16;

  void put(Shard& shard, std::span<const std::uint64_t> key, Value value) const;
  Shard& shard_of(std::span<const std::uint64_t> key) const noexcept;

  std::size_t shard_capacity_;
  mutable std::array<Shard, shard_count> shards_;
};

}  // namespace convoke
