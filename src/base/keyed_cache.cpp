// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/keyed_cache.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

namespace convoke {

KeyedCache::KeyedCache(std::size_t capacity) noexcept
    : shard_capacity_(std::max<std::size_t>(1, (capacity + shard_count - 1) / shard_count)) {}

// Multiply and rotate, a word at a time: keys are some sixty words, and hashing them is most of a lookup.
std::size_t KeyedCache::Hash::operator()(std::span<const std::uint64_t> key) const noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u + key.size();
  for (const std::uint64_t word : key) hash = (std::rotl(hash, 29) ^ word) * 0xbf58476d1ce4e5b9u;
  hash ^= hash >> 32;
  return static_cast<std::size_t>(hash * 0x94d049bb133111ebu);
}

bool KeyedCache::Equal::operator()(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) const noexcept {
  return std::ranges::equal(a, b);
}

// The top bits: the maps use the low ones.
KeyedCache::Shard& KeyedCache::shard_of(std::span<const std::uint64_t> key) const noexcept {
  return shards_[Hash{}(key) >> (8 * sizeof(std::size_t) - 4)];
}

KeyedCache::Value KeyedCache::find(std::span<const std::uint64_t> key) const {
  Shard& shard = shard_of(key);
  {
    const std::shared_lock lock(shard.mutex);
    if (const auto found = shard.young.find(key); found != shard.young.end()) return found->second;
    if (!shard.old.contains(key)) return nullptr;
  }
  const std::unique_lock lock(shard.mutex);
  const auto found = shard.old.find(key);
  if (found == shard.old.end()) {
    const auto moved = shard.young.find(key);
    return moved == shard.young.end() ? nullptr : moved->second;
  }
  Value value = found->second;
  shard.old.erase(found);
  put(shard, key, value);
  return value;
}

void KeyedCache::insert(std::span<const std::uint64_t> key, Value value) {
  Shard& shard = shard_of(key);
  const std::unique_lock lock(shard.mutex);
  put(shard, key, std::move(value));
}

void KeyedCache::put(Shard& shard, std::span<const std::uint64_t> key, Value value) const {
  if (shard.young.size() >= shard_capacity_ && !shard.young.contains(key)) shard.old = std::exchange(shard.young, {});
  shard.young.insert_or_assign(Key(key.begin(), key.end()), std::move(value));
}

std::size_t KeyedCache::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::shared_lock lock(shard.mutex);
    total += shard.young.size() + shard.old.size();
  }
  return total;
}

}  // namespace convoke
