#pragma once

// Which instruction sets our vector kernels are compiled for: AVX-512, AVX2, SSE4 and the baseline. To be included
// before any Highway header; the kernels of the best set that the processor has are chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

// The baseline is HWY_SCALAR with every compiler. Highway itself keeps g++ before 12.3 from HWY_EMU128 for a bug of the
// compiler. With clang and sanitizers its loops over emulated lanes took minutes to compile.
#define HWY_BROKEN_EMU128 1
