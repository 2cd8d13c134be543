#pragma once

#include <set>
#include <string>

namespace saccade {

/// Values by name.
using ValueNames = std::set<std::string, std::less<>>;

/// The values that stay in float32 in a graph that is computed in fp16, because they may exceed its range. They are
/// named as after all passes before narrow_floats.
using Fp32KeepList = ValueNames;

}  // namespace saccade
