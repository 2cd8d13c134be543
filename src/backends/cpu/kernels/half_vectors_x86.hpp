#pragma once

#include "cpu/kernels/half_epilogue_kernels.hpp"
#include "cpu/kernels/half_window_kernels.hpp"

namespace saccade::cpu {

/// The kernel of EPILOGUE for tiles of up to 32 columns with AVX512_BF16; null: the processor lacks the instructions.
FinishHalfTile avx512_tile(const HalfEpilogue& epilogue);

/// HalfRowKernels::exponentials() with AVX512_BF16; null: the processor lacks the instructions.
using HalfExponentials = float (*)(const float* scores, std::size_t count, float scale, float shift,
                                   std::uint16_t* dst);
HalfExponentials avx512_exponentials();

/// HalfWindowKernels::sum() on HalfWindows::pairs with AVX512_BF16; null: the processor lacks the instructions.
using HalfWindowSum = void (*)(const HalfWindows& from);
HalfWindowSum avx512_window_sum();

/// HalfKernels::narrow_results() with AVX512_BF16; null: the processor lacks the instructions.
using NarrowHalves = void (*)(StridedRows<const float> src, StridedRows<std::uint16_t> dst, std::size_t rows,
                              std::size_t columns);
NarrowHalves avx512_narrow_results();

/// HalfKernels::pad_three() with AVX-512; null: the processor lacks the instructions.
using PadThree = void (*)(const std::uint16_t* src, std::size_t count, std::uint16_t* dst);
PadThree avx512_pad_three();

}  // namespace saccade::cpu
