#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cpu/kernels/half_kernels.hpp"

namespace saccade::cpu {

/// Activations of which the error is far below the rounding to bfloat16.
enum class HalfActivation : std::uint8_t { kNone, kRelu, kLeakyRelu, kClip, kSilu, kSigmoid, kHardSwish, kGelu };
/// That of a unary ONNX operator (or "Silu"); nullopt: it has none.
std::optional<HalfActivation> half_activation(std::string_view op);

/// What becomes of the float32 sums of a bfloat16 tensor: out = activation(sums), plus ADDEND before or after the
/// activation.
struct HalfEpilogue {
  HalfActivation activation = HalfActivation::kNone;
  float low = 0;  ///< the bounds of kClip; the slope of kLeakyRelu
  float high = 0;
  bool adds = false;
  bool adds_first = false;
  StridedRows<const std::uint16_t> addend{};
};

/// Applies EPILOGUE to ROWS x COLUMNS sums in registers and rounds the results to OUT. SUMS has whole vectors of
/// readable elements.
using FinishHalfTile = void (*)(const HalfEpilogue& epilogue, StridedRows<const float> sums, std::size_t rows,
                                std::size_t columns, StridedRows<std::uint16_t> out);

/// The kernel of EPILOGUE for this processor, for tiles of up to 32 columns.
FinishHalfTile half_epilogue_kernel(const HalfEpilogue& epilogue);

}  // namespace saccade::cpu
