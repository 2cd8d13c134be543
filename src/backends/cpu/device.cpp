#include "cpu/device.hpp"

#include <cpuid.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

namespace saccade::cpu {
namespace {

std::string brand() {
  std::array<unsigned, 12> words{};
  unsigned leaf = 0x80000002U;
  for (std::size_t i = 0; i < words.size(); i += 4)
    if (__get_cpuid(leaf++, &words[i], &words[i + 1], &words[i + 2], &words[i + 3]) == 0) return "x86-64 CPU";
  std::array<char, sizeof words + 1> text{};
  std::memcpy(text.data(), words.data(), sizeof words);
  std::string name = text.data();
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

/// AMX has no name in g++ 12's __builtin_cpu_supports: leaf 7, EDX bits 24 (tiles) and 25 (int8).
bool has_amx() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 24 & 3U) == 3U;
}

}  // namespace

std::string device_name() {
  std::vector<std::string_view> sets;
  if (__builtin_cpu_supports("avx2") != 0) sets.emplace_back("avx2");
  if (__builtin_cpu_supports("avx512bw") != 0) sets.emplace_back("avx512");
  if (__builtin_cpu_supports("avx512vnni") != 0) sets.emplace_back("vnni");
  if (has_amx()) sets.emplace_back("amx");
  return fmt::format("{} ({})", brand(), sets.empty() ? "sse4" : fmt::format("{}", fmt::join(sets, ", ")));
}

}  // namespace saccade::cpu
