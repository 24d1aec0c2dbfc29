// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/host.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/fail.hpp"
#include "base/file.hpp"
#include "kernels/common/kernel.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace convoke {
namespace {

constexpr std::string_view blanks{" \t\n\0", 4};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf) noexcept {
  Registers r;
  if (__get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

constexpr bool all_of(unsigned word, unsigned wanted) noexcept { return (word & wanted) == wanted; }

/// Register state that the operating system saves on a context switch; without it an instruction set is not usable.
unsigned saved_state() noexcept {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

std::uint32_t probe_isa() noexcept {
  const Registers basic = cpuid(1), more = cpuid(7), extended = cpuid(0x80000001);
  if (!all_of(basic.c, bit_OSXSAVE)) return CONVOKE_ISA_BASELINE;
  const unsigned state = saved_state();
  // Compilers that target x86-64-v3 may use any of these, not only the three that the level is known for.
  const bool v3 = all_of(state, 0x06) && all_of(basic.c, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) &&
                  all_of(more.b, bit_AVX2 | bit_BMI | bit_BMI2) && all_of(extended.c, bit_LZCNT);
  const bool v4 = v3 && all_of(state, 0xe6) &&
                  all_of(more.b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
  return (v3 ? unsigned{CONVOKE_ISA_FMA} : 0u) | (v4 ? unsigned{CONVOKE_ISA_AVX512} : 0u);
}

std::string probe_cpu() {
  std::array<char, 48> brand{};
  for (unsigned i = 0; i < 3; ++i) {
    const Registers r = cpuid(0x80000002 + i);
    std::memcpy(brand.data() + 16 * i, &r, sizeof r);
  }
  return trimmed({brand.data(), brand.size()});
}

constexpr const char* arch = "x86_64";

#else

// armv8-a always has fused multiply-add: its kernels are the baseline's.
std::uint32_t probe_isa() noexcept { return CONVOKE_ISA_BASELINE; }

/// The value of `key : value` in /proc/cpuinfo.
std::string cpuinfo(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view line = text.substr(at, text.find('\n', at) - at);
  const std::size_t colon = line.find(':');
  return colon == std::string_view::npos ? std::string() : trimmed(line.substr(colon + 1));
}

std::string probe_cpu() {
  const std::string text = read_file("/proc/cpuinfo").value_or("");
  if (std::string model = cpuinfo(text, "model name"); !model.empty()) return model;
  const std::string part = cpuinfo(text, "CPU part");
  return part.empty() ? std::string() : fmt::format("implementer {} part {}", cpuinfo(text, "CPU implementer"), part);
}

#if defined(__aarch64__)
constexpr const char* arch = "aarch64";
#else
constexpr const char* arch = "unknown";
#endif

#endif

int probe_cores() {
  // The kernel may be built for more processors than a cpu_set_t has room for; it then refuses the short mask.
  for (std::size_t room = 1024; room <= (std::size_t{1} << 20); room *= 4) {
    std::vector<unsigned long> mask(room / (8 * sizeof(unsigned long)));
    const std::size_t bytes = mask.size() * sizeof(unsigned long);
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (::sched_getaffinity(0, bytes, set) == 0) return std::max(1, CPU_COUNT_S(bytes, set));
  }
  return 1;
}

/// Reads `32K` or `105M` in one file of sysfs; 0 where there is none.
std::int64_t size_in(const std::string& path) {
  const std::string text = read_file(path).value_or("");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > (std::int64_t{1} << 40)) return 0;
  const char unit = end == text.data() + text.size() ? '\n' : *end;
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

/// Data or unified cache of the first processor at this level, from sysfs.
std::int64_t cache_in_sysfs(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string type = trimmed(read_file(folder + "type").value_or(""));
    if (type.empty()) return 0;
    if (type != "Instruction" && size_in(folder + "level") == level) return size_in(folder + "size");
  }
  return 0;
}

std::int64_t cache(int level, int sysconf_name) {
  const std::int64_t size = cache_in_sysfs(level);
  return size > 0 ? size : std::max<std::int64_t>(::sysconf(sysconf_name), 0);
}

Host probe() {
  Host host;
  host.cpu = probe_cpu();
  if (host.cpu.empty()) host.cpu = "unknown";
  host.arch = arch;
  host.isa = probe_isa();
  host.cores = probe_cores();
  host.l1d = cache(1, _SC_LEVEL1_DCACHE_SIZE);
  host.l2 = cache(2, _SC_LEVEL2_CACHE_SIZE);
  host.l3 = cache(3, _SC_LEVEL3_CACHE_SIZE);
  return host;
}

struct IsaName {
  std::uint32_t bit;
  std::string_view name;
};
constexpr std::array<IsaName, 2> isa_table = {{{CONVOKE_ISA_FMA, "fma"}, {CONVOKE_ISA_AVX512, "avx512"}}};

}  // namespace

const Host& host() {
  static const Host probed = probe();
  return probed;
}

std::vector<std::string> isa_names(std::uint32_t isa) {
  std::vector<std::string> names;
  for (const IsaName& row : isa_table) {
    if ((isa & row.bit) != 0) names.emplace_back(row.name);
    isa &= ~row.bit;
  }
  for (int bit = 0; bit < 32; ++bit)
    if ((isa >> bit & 1u) != 0) names.push_back(fmt::format("bit{}", bit));
  return names;
}

std::uint32_t isa_of_name(std::string_view name) noexcept {
  if (name == "baseline") return CONVOKE_ISA_BASELINE;
  for (const IsaName& row : isa_table)
    if (name == row.name) return row.bit;
  return ~std::uint32_t{0};
}

}  // namespace convoke
