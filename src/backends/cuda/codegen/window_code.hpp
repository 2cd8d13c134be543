#pragma once

#include "cuda/codegen/element_tactic.hpp"
#include "ops/layers/window.hpp"

namespace saccade::cuda {

/// A window tap: its spatial index in the kernel and in the input.
struct Tap {
  Index kernel;
  Index input;
};

/// Opens loops over the taps of WINDOW that read the input for output element AT (N, C, spatial). For a transposed
/// window, the taps that scatter to it.
Tap open_taps(ElementCode& code, Braces& braces, const Window& window, const Index& at, bool transposed = false);

/// Index of an element from N, C and spatial indices.
Index place_of(const std::string& image, const std::string& channel, const Index& spatial);

}  // namespace saccade::cuda
