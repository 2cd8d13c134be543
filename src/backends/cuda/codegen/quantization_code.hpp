#pragma once

#include <string>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// Quantizes RATIO (a float, already divided by the scale) to 8 or 16 bits: round to nearest even, add the zero point,
/// saturate; NaN becomes the lowest. The kernel includes quantization.cuh.
inline std::string quantized(DType stored, const std::string& ratio, const std::string& zero_point) {
  const bool is_signed = stored == DType::kInt8 || stored == DType::kInt16;
  const int values = stored == DType::kInt8 || stored == DType::kUInt8 ? 256 : 65536;
  const int lowest = is_signed ? -values / 2 : 0;
  return fmt::format("quantized({}, {}, {}.0f, {}.0f)", ratio, zero_point, lowest, lowest + values - 1);
}

}  // namespace saccade::cuda
