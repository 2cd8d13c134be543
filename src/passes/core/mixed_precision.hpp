#pragma once

#include <optional>

#include "graph/fp32_keep_list.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The requested precision of a model's float32 nodes. The default changes nothing.
struct MixedPrecision {
  std::optional<DType> half;    ///< float16 or bfloat16: narrow_floats converts GEMMs, convolutions and their inputs
  bool half_outputs = false;    ///< graph outputs computed in it are not converted back
  Fp32KeepList keep_fp32 = {};  ///< neither narrowed nor computed from rounded operands
  bool tf32 = false;            ///< operands of GEMMs, convolutions and attention may be rounded to tf32
};

}  // namespace saccade
