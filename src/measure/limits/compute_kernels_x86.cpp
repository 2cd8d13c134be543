#if defined(__x86_64__)

#include <array>

#include "base/amx_tiles.hpp"
#include "base/cpu_features.hpp"
#include "measure/limits/ceiling_kernels.hpp"

// Loops of nothing but multiply-adds on registers, in assembly so that every build measures the processor and not the
// compiler's options. Each step of a chain depends on the previous one, so there are more chains than the latency (4 or
// 5 cycles) times the units (2) that start one each per cycle; x = x * 1/2 + 1 converges to 2, so no number is ever
// denormal. The binary stays baseline x86-64: a kernel is listed only if the processor has its instructions.
namespace saccade {
namespace {

alignas(64) constexpr std::array<float, 16> kHalf = {.5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F,
                                                     .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F};
alignas(64) constexpr std::array<float, 16> kOne = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// Instructions for the chains from 0 on.
#define SACCADE_CHAINS_6(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define SACCADE_CHAINS_12(DO) SACCADE_CHAINS_6(DO) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define SACCADE_CHAINS_24(DO) \
  SACCADE_CHAINS_12(DO) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)

#define SACCADE_CLOBBER_16                                                                                            \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"
#define SACCADE_CLOBBER_32                                                                                      \
  SACCADE_CLOBBER_16, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"

// LOAD loads the operands, CLEAR zeroes the chains, STEP is one round of them, END is the epilogue. CLOBBER is a list.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SACCADE_COMPUTE(CLOBBER, LOAD, CLEAR, STEP, END)                                 \
  asm volatile(LOAD CLEAR ".p2align 5\n1:\n" STEP "dec %[rounds]\n jnz 1b\n" END         \
               : [rounds] "+r"(rounds)                                                   \
               : [half] "r"(kHalf.data()), [one] "r"(kOne.data()), "m"(kHalf), "m"(kOne) \
               : CLOBBER, "cc")
// NOLINTEND(bugprone-macro-parentheses)

// SSE has no fused multiply-add: seven multiplications and seven additions in parallel.
#define SACCADE_X_CLEAR(i) "xorps %%xmm" #i ", %%xmm" #i "\n"
#define SACCADE_X_MULPS(i) "mulps %%xmm14, %%xmm" #i "\n"
#define SACCADE_X_ADDPS(i) "addps %%xmm15, %%xmm" #i "\n"
#define SACCADE_X_PAIR(i, j) SACCADE_X_MULPS(i) SACCADE_X_ADDPS(j)
void sse(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_16, "movaps (%[half]), %%xmm14\n xorps %%xmm15, %%xmm15\n",
                  SACCADE_CHAINS_12(SACCADE_X_CLEAR) SACCADE_X_CLEAR(12) SACCADE_X_CLEAR(13),
                  SACCADE_X_PAIR(0, 7) SACCADE_X_PAIR(1, 8) SACCADE_X_PAIR(2, 9) SACCADE_X_PAIR(3, 10)
                      SACCADE_X_PAIR(4, 11) SACCADE_X_PAIR(5, 12) SACCADE_X_PAIR(6, 13),
                  "");
}

#define SACCADE_Y_CLEAR(i) "vxorps %%ymm" #i ", %%ymm" #i ", %%ymm" #i "\n"
#define SACCADE_Y_FMA(i) "vfmadd213ps %%ymm15, %%ymm14, %%ymm" #i "\n"
void avx2_fma(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_16, "vmovaps (%[half]), %%ymm14\n vmovaps (%[one]), %%ymm15\n",
                  SACCADE_CHAINS_12(SACCADE_Y_CLEAR), SACCADE_CHAINS_12(SACCADE_Y_FMA), "vzeroupper\n");
}

// Bytes to pair sums in 16 bits, to quad sums in 32 bits, accumulated.
#define SACCADE_Y_BYTES(i)                                                                       \
  "vpmaddubsw %%ymm14, %%ymm15, %%ymm12\n vpmaddwd %%ymm15, %%ymm12, %%ymm13\n vpaddd %%ymm13, " \
  "%%ymm" #i ", %%ymm" #i "\n"
void avx2_bytes(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_16, "vpxor %%ymm14, %%ymm14, %%ymm14\n vpxor %%ymm15, %%ymm15, %%ymm15\n",
                  SACCADE_CHAINS_12(SACCADE_Y_CLEAR), SACCADE_CHAINS_12(SACCADE_Y_BYTES), "vzeroupper\n");
}

#define SACCADE_Y_DOT(i) "%{vex%} vpdpbusd %%ymm15, %%ymm14, %%ymm" #i "\n"
void avx_vnni(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_16, "vmovaps (%[half]), %%ymm14\n vmovaps (%[one]), %%ymm15\n",
                  SACCADE_CHAINS_12(SACCADE_Y_CLEAR), SACCADE_CHAINS_12(SACCADE_Y_DOT), "vzeroupper\n");
}

#define SACCADE_Z_CLEAR(i) "vpxord %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n"
#define SACCADE_Z_FMA(i) "vfmadd213ps %%zmm31, %%zmm30, %%zmm" #i "\n"
#define SACCADE_Z_DOT(i) "vpdpbusd %%zmm31, %%zmm30, %%zmm" #i "\n"
#define SACCADE_Z_BF16(i) "vdpbf16ps %%zmm31, %%zmm30, %%zmm" #i "\n"
#define SACCADE_Z_LOAD "vmovaps (%[half]), %%zmm30\n vmovaps (%[one]), %%zmm31\n"
__attribute__((target("avx512f"))) void avx512_fma(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_32, SACCADE_Z_LOAD, SACCADE_CHAINS_24(SACCADE_Z_CLEAR),
                  SACCADE_CHAINS_24(SACCADE_Z_FMA), "vzeroupper\n");
}
__attribute__((target("avx512f"))) void avx512_vnni(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_32, SACCADE_Z_LOAD, SACCADE_CHAINS_24(SACCADE_Z_CLEAR),
                  SACCADE_CHAINS_24(SACCADE_Z_DOT), "vzeroupper\n");
}
__attribute__((target("avx512f"))) void avx512_bf16(std::int64_t rounds) {
  SACCADE_COMPUTE(SACCADE_CLOBBER_32, SACCADE_Z_LOAD, SACCADE_CHAINS_24(SACCADE_Z_CLEAR),
                  SACCADE_CHAINS_24(SACCADE_Z_BF16), "vzeroupper\n");
}

constexpr TileConfiguration kTiles;

// Four accumulator tiles, two and two operand tiles: a product issues in 16 cycles and has a latency of 52.
#define SACCADE_AMX(PRODUCT)                                                                                 \
  asm volatile(                                                                                              \
      "ldtilecfg %[tiles]\n tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n tilezero %%tmm3\n"         \
      "tilezero %%tmm4\n tilezero %%tmm5\n tilezero %%tmm6\n tilezero %%tmm7\n"                              \
      ".p2align 5\n1:\n" PRODUCT " %%tmm6, %%tmm4, %%tmm0\n" PRODUCT " %%tmm7, %%tmm4, %%tmm1\n" PRODUCT     \
      " %%tmm6, %%tmm5, %%tmm2\n" PRODUCT " %%tmm7, %%tmm5, %%tmm3\n dec %[rounds]\n jnz 1b\n tilerelease\n" \
      : [rounds] "+r"(rounds)                                                                                \
      : [tiles] "m"(kTiles)                                                                                  \
      : "cc")
void amx_bf16(std::int64_t rounds) { SACCADE_AMX("tdpbf16ps"); }
void amx_int8(std::int64_t rounds) { SACCADE_AMX("tdpbusd"); }

}  // namespace

std::vector<ComputeKernel> compute_kernels() {
  const CpuFeatures cpu = cpu_features();
  std::vector<ComputeKernel> kernels = {{"SSE multiply and add", OperandType::kFloat32, 4.0 * 14, sse}};
  const auto add = [&](bool has, const ComputeKernel& kernel) {
    if (has) kernels.push_back(kernel);
  };
  // Operations per round: chains times products per instruction, each a multiplication and an addition.
  add(cpu.avx2_fma, {"AVX2 FMA", OperandType::kFloat32, 12.0 * 8 * 2, avx2_fma});
  add(cpu.avx512, {"AVX-512 FMA", OperandType::kFloat32, 24.0 * 16 * 2, avx512_fma});
  add(cpu.avx512_bf16, {"AVX-512 BF16", OperandType::kBFloat16, 24.0 * 32 * 2, avx512_bf16});
  add(cpu.avx2_fma, {"AVX2 bytes", OperandType::kInt8, 12.0 * 32 * 2, avx2_bytes});
  add(cpu.avx_vnni, {"AVX-VNNI", OperandType::kInt8, 12.0 * 32 * 2, avx_vnni});
  add(cpu.avx512_vnni, {"AVX-512 VNNI", OperandType::kInt8, 24.0 * 64 * 2, avx512_vnni});
  add(cpu.amx_bf16, {"AMX BF16", OperandType::kBFloat16, 4.0 * 16 * 16 * 32 * 2, amx_bf16});
  add(cpu.amx_int8, {"AMX INT8", OperandType::kInt8, 4.0 * 16 * 16 * 64 * 2, amx_int8});
  return kernels;
}

}  // namespace saccade

#endif
