#include "measure/limits/cpu_features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace saccade {

#if defined(__x86_64__)

namespace {

struct Registers {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
};

Registers leaf(unsigned number, unsigned part) {
  Registers found;
  if (__get_cpuid_count(number, part, &found.a, &found.b, &found.c, &found.d) == 0) return {};
  return found;
}

bool bit(unsigned value, unsigned index) { return (value >> index & 1U) != 0; }

}  // namespace

CpuFeatures cpu_features() {
  // g++ 12 has no names for the newer ones. If AVX-512 is usable, so are its parts; tiles must be requested from the
  // kernel.
  const Registers seven = leaf(7, 0);
  const Registers more = leaf(7, 1);
  CpuFeatures cpu;
  cpu.avx2_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  cpu.avx_vnni = cpu.avx2_fma && bit(more.a, 4);
  cpu.avx512 = __builtin_cpu_supports("avx512f") != 0;
  cpu.avx512_vnni = cpu.avx512 && bit(seven.c, 11);
  cpu.avx512_bf16 = cpu.avx512 && bit(more.a, 5);
  cpu.amx_bf16 = bit(seven.d, 22) && bit(seven.d, 24);
  cpu.amx_int8 = bit(seven.d, 25) && bit(seven.d, 24);
  return cpu;
}

#else

CpuFeatures cpu_features() { return {}; }

#endif

}  // namespace saccade
