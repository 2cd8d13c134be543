#include "cuda/plans/wgmma_source.hpp"

#include <fmt/format.h>

namespace saccade::cuda {
namespace {

/// FORMAT of 0 to COUNT - 1.
std::string listed(fmt::format_string<int&> format, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + fmt::format(format, i);
  return text;
}

/// FUNCTION for N: D, in registers from %0 on, and OPERANDS, as its parameters and as the ARGUMENTS of the instruction,
/// which names them by NAMES. The emulator defines the template itself.
std::string specialisation(const char* function, DType type, int n, const char* operands, const std::string& names,
                           const char* arguments) {
  const bool half = type == DType::kFloat16;
  return fmt::format(R"(#ifndef SACCADE_EMULATED
template <>
__device__ __forceinline__ void {}<{}, {}>(float (&d)[{}], {}, SmemDescriptor b) {{
  asm volatile("wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} {{{}}}, {};"
               : {}
               : {});
}}
#endif
)",
                     function, half ? "float16" : "bfloat16", n, n / 2, operands, n, half ? "f16" : "bf16",
                     half ? "f16" : "bf16", listed("%{}", n / 2), names, listed("\"+f\"(d[{}])", n / 2), arguments);
}

}  // namespace

std::string wgmma_ss_source(DType type, int n) {
  const int a = n / 2;
  return specialisation("wgmma_ss", type, n, "SmemDescriptor a", fmt::format("%{}, %{}, 1, 1, 1, 0, 0", a, a + 1),
                        "\"l\"(a), \"l\"(b)");
}

std::string wgmma_rs_source(DType type, int n) {
  const int a = n / 2;
  return specialisation("wgmma_rs", type, n, "const uint32 (&a)[4]",
                        fmt::format("{{%{},%{},%{},%{}}}, %{}, 1, 1, 1, 1", a, a + 1, a + 2, a + 3, a + 4),
                        R"("r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))");
}

}  // namespace saccade::cuda
