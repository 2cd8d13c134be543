#include "cpu/device.hpp"

#include <cpuid.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/cpu_features.hpp"

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

}  // namespace

std::string device_name() {
  const CpuFeatures cpu = cpu_features();
  std::vector<std::string_view> sets;
  if (cpu.avx2_fma) sets.emplace_back("avx2");
  if (cpu.avx512) sets.emplace_back("avx512");
  if (cpu.avx512_vnni) sets.emplace_back("vnni");
  if (cpu.avx512_bf16) sets.emplace_back("bf16");
  if (cpu.amx_int8) sets.emplace_back("amx");
  return fmt::format("{} ({})", brand(), sets.empty() ? "sse4" : fmt::format("{}", fmt::join(sets, ", ")));
}

}  // namespace saccade::cpu
