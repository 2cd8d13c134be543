#pragma once

#include "saccade/isa.hpp"

namespace saccade {

/// Instruction sets that this CPU has, the operating system enables and limit_isa() allows.
struct CpuFeatures {
  bool avx2_fma = false;
  bool avx_vnni = false;
  bool avx512 = false;  ///< F, BW, CD, DQ and VL
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;

  /// Whether it multiplies bfloat16, several times as fast as float32.
  bool multiplies_bf16() const { return amx_bf16 || avx512_bf16; }
};
CpuFeatures cpu_features();

/// What limit_isa() has set. From this call on it can't be changed: kernels have been chosen by it.
Isa isa_limit();

}  // namespace saccade
