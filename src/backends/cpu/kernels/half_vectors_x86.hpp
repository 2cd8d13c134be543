#pragma once

#include "cpu/kernels/half_epilogue_kernels.hpp"

namespace saccade::cpu {

/// The kernel of EPILOGUE for tiles of 32 columns with AVX512_BF16; null: there is none, or the processor lacks the
/// instructions.
FinishHalfTile avx512_whole_tile(const HalfEpilogue& epilogue);

/// HalfRowKernels::exponentials() with AVX512_BF16; null: the processor lacks the instructions.
using HalfExponentials = float (*)(const float* scores, std::size_t count, float scale, float shift,
                                   std::uint16_t* dst);
HalfExponentials avx512_exponentials();

}  // namespace saccade::cpu
