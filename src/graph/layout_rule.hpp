#pragma once

#include <cstdint>

namespace saccade {

/// Which memory layout a node wants for its rank-3-and-up tensors; see passes/choose_layouts.
enum class LayoutRule : std::uint8_t {
  kRowMajor,      ///< can't run otherwise
  kChannelsLast,  ///< runs best so: convolutions, pools
  kAny,           ///< runs in either, as long as its tensors agree
};

}  // namespace saccade
