#pragma once

#include "graph/fp32_keep_list.hpp"
#include "saccade/device.hpp"

namespace saccade {

/// What Precision::kAuto becomes for a model.
struct DecidedPrecision {
  Precision precision = Precision::kAuto;
  NodeNames keep_fp32 = {};  ///< Fp32KeepList::products
};

}  // namespace saccade
