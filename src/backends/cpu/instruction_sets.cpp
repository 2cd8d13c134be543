#include "cpu/instruction_sets.hpp"

#include <dnnl.h>
#include <hwy/targets.h>

#include "base/cpu_features.hpp"

namespace saccade::cpu {

void apply_isa_limit() {
  switch (isa_limit()) {
    case Isa::kSse4:
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
      hwy::DisableTargets(HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL);
      break;
    case Isa::kAvx2:
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
      hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
      break;
    case Isa::kAvx512: dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16); break;
    case Isa::kAmx: break;
  }
}

}  // namespace saccade::cpu
