#pragma once

#include <cstdint>

namespace saccade {

/// The memory layout that a node requires or prefers for its tensors of rank 3 and higher; see passes/choose_layouts.
enum class LayoutRule : std::uint8_t {
  kRowMajor,      ///< supports nothing else
  kChannelsLast,  ///< preferred: convolutions, pools
  kAny,           ///< supports any, if its tensors agree
};

}  // namespace saccade
