#pragma once

#include "graph/fp32_keep_list.hpp"
#include "saccade/device.hpp"

namespace saccade {

/// What Precision::kAuto becomes for a model.
struct DecidedPrecision {
  Precision precision = Precision::kAuto;
  ValueNames keep_fp32 = {};  ///< Fp32KeepList::results: of products that lose too much in it
};

}  // namespace saccade
