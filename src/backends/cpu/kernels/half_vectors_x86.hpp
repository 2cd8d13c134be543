#pragma once

#include "cpu/kernels/half_epilogue_kernels.hpp"

namespace saccade::cpu {

/// finish_half_tile() of rows of 32 columns.
using WholeRows = void (*)(const HalfEpilogue& epilogue, Rows<const float> sums, std::size_t rows,
                           Rows<std::uint16_t> out);

/// The kernel of EPILOGUE with AVX512_BF16; null: there is none, or the processor lacks the instructions.
WholeRows avx512_whole_rows(const HalfEpilogue& epilogue);

/// HalfRowKernels::exponentials() with AVX512_BF16; null: the processor lacks the instructions.
using HalfExponentials = float (*)(const float* scores, std::size_t count, float scale, float shift,
                                   std::uint16_t* dst);
HalfExponentials avx512_exponentials();

}  // namespace saccade::cpu
