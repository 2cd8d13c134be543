#pragma once

namespace saccade {

/// Instruction sets that this CPU has and the operating system enables.
struct CpuFeatures {
  bool avx2_fma = false;
  bool avx_vnni = false;
  bool avx512 = false;  ///< F
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
};
CpuFeatures cpu_features();

}  // namespace saccade
