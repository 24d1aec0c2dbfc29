// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/sha256.hpp"

#include <sha2.h>

#include <array>
#include <cstdint>

namespace convoke {

struct Sha256::State {
  SHA2_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256Init(&state_->context); }
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(const void* data, std::size_t bytes) noexcept {
  if (bytes != 0) SHA256Update(&state_->context, static_cast<const std::uint8_t*>(data), bytes);
}

std::string Sha256::hex() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &state_->context);
  SHA256Init(&state_->context);
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

}  // namespace convoke
