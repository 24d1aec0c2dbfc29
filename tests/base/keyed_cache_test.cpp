// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/keyed_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/random.hpp"

namespace convoke {
namespace {

using Key = KeyedCache::Key;

KeyedCache::Value value(std::uint64_t number) { return std::make_shared<const std::uint64_t>(number); }

std::uint64_t number_of(const KeyedCache::Value& value) { return *static_cast<const std::uint64_t*>(value.get()); }

TEST(KeyedCache, FindsWhatWasInserted) {
  KeyedCache cache;
  const Key key = {1, 2, 3};
  EXPECT_EQ(cache.find(key), nullptr);
  EXPECT_EQ(cache.size(), 0u);
  const KeyedCache::Value held = value(7);
  cache.insert(key, held);
  EXPECT_EQ(cache.find(key), held);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(KeyedCache, KeysThatLookAlikeAreKeptApart) {
  KeyedCache cache;
  const std::vector<Key> keys = {{},     {0},    {0, 0},  {1},        {1, 0},      {0, 1},
                                 {1, 2}, {2, 1}, {~0ull}, {~0ull, 0}, {1ull << 63}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(cache.find(keys[i]), nullptr) << i;
    cache.insert(keys[i], value(i));
  }
  EXPECT_EQ(cache.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const KeyedCache::Value found = cache.find(keys[i]);
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(number_of(found), i);
  }
}

TEST(KeyedCache, ALaterInsertReplacesTheEarlierOne) {
  KeyedCache cache(1);
  const Key key = {5};
  cache.insert(key, value(1));
  cache.insert(key, value(2));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(number_of(cache.find(key)), 2u);
}

TEST(KeyedCache, AnInsertReplacesWhatTheOldGenerationHolds) {
  KeyedCache cache(1);  // one value a shard and generation: the next key of this shard makes the old one old
  const Key key = {5};
  for (std::uint64_t round = 0; round < 200; ++round) {
    cache.insert(key, value(round));
    cache.insert(Key{1000 + round}, value(0));
    const KeyedCache::Value found = cache.find(key);
    ASSERT_NE(found, nullptr) << "one other key cannot push it out of both generations";
    EXPECT_EQ(number_of(found), round);
  }
}

TEST(KeyedCache, HoldsBetweenItsCapacityAndTwiceThat) {
  KeyedCache cache(160);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    cache.insert(Key{i, i * i}, value(i));
    EXPECT_LE(cache.size(), 2u * 160);
    if (i == 100) {
      EXPECT_EQ(cache.size(), 101u) << "nothing goes before there is need";
    }
  }
  EXPECT_GE(cache.size(), 160u);
}

TEST(KeyedCache, WhatIsLookedUpStaysAndTheRestGoes) {
  KeyedCache cache(1600);
  const Key used = {1, 1}, unused = {2, 2};
  cache.insert(used, value(1));
  cache.insert(unused, value(2));
  std::uint64_t other = 100;
  // Half the capacity at a time: often enough to be found in the old generation, never too late.
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 800; ++i) cache.insert(Key{other++}, value(0));
    const KeyedCache::Value found = cache.find(used);
    ASSERT_NE(found, nullptr) << "after " << round << " rounds";
    EXPECT_EQ(number_of(found), 1u);
  }
  EXPECT_EQ(cache.find(unused), nullptr);
  EXPECT_NE(cache.find(Key{other - 1}), nullptr);
}

TEST(KeyedCache, AValueOutlivesItsPlace) {
  KeyedCache cache(1);
  const Key key = {3};
  cache.insert(key, value(9));
  const KeyedCache::Value held = cache.find(key);
  for (std::uint64_t i = 10; i < 1000; ++i) cache.insert(Key{i}, value(i));
  EXPECT_EQ(cache.find(key), nullptr);
  EXPECT_EQ(number_of(held), 9u);
}

TEST(KeyedCache, ManyThreadsMeetOnlyWholeValues) {
  KeyedCache cache(64);  // far fewer than keys, so that generations change all the time
  std::atomic<int> wrong = 0, hits = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    threads.emplace_back([&, seed] {
      Random random(seed);
      for (int i = 0; i < 4000; ++i) {
        // Small numbers are common, so that threads meet.
        const std::uint64_t number = random.below(random.below(300) + 1);
        const Key key = {number, ~number, 17};
        const KeyedCache::Value found = cache.find(key);
        if (found == nullptr) {
          cache.insert(key, value(number));
          continue;
        }
        ++hits;
        if (number_of(found) != number) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(hits, 1000);
  EXPECT_LE(cache.size(), 128u);
}

}  // namespace
}  // namespace convoke
