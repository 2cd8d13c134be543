#include "base/cpu_features.hpp"

#include <mutex>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/error.hpp"

namespace saccade {
namespace {

struct Limit {
  std::mutex mutex;
  Isa most = Isa::kAmx;
  bool is_used = false;
};

Limit& limit() {
  static Limit limit;
  return limit;
}

#if defined(__x86_64__)

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

/// Linux enables the tiles of AMX for a process on request.
bool request_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
}

#endif

}  // namespace

void limit_isa(Isa most) {
  Limit& own = limit();
  const std::scoped_lock lock(own.mutex);
  if (own.is_used && most != own.most)
    fail(ErrorCode::kInvalidArgument, "the instruction sets can't be limited any more: the CPU backend is in use");
  own.most = most;
}

Isa isa_limit() {
  Limit& own = limit();
  const std::scoped_lock lock(own.mutex);
  own.is_used = true;
  return own.most;
}

CpuFeatures cpu_features() {
  CpuFeatures cpu;
#if defined(__x86_64__)
  // g++ 12 has no names for the newer ones.
  const Isa most = isa_limit();
  const Registers seven = leaf(7, 0);
  const Registers more = leaf(7, 1);
  if (most >= Isa::kAvx2) cpu.avx2_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (most >= Isa::kAvx512) {
    cpu.avx_vnni = cpu.avx2_fma && bit(more.a, 4);
    cpu.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                 __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
    cpu.avx512_vnni = cpu.avx512 && bit(seven.c, 11);
    cpu.avx512_bf16 = cpu.avx512 && bit(more.a, 5);
  }
  if (most >= Isa::kAmx && bit(seven.d, 24) && request_tiles()) {
    cpu.amx_bf16 = bit(seven.d, 22);
    cpu.amx_int8 = bit(seven.d, 25);
  }
#endif
  return cpu;
}

}  // namespace saccade
