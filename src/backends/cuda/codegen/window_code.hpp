#pragma once

#include "cuda/codegen/element_tactic.hpp"
#include "ops/layers/window.hpp"

namespace saccade::cuda {

/// One tap of a window: its place in the kernel and in the input, spatial dimensions only.
struct Tap {
  Index kernel;
  Index input;
};

/// Opens loops over the taps of WINDOW that read the input for the output's element AT (N, C, spatial). A transposed
/// window's are those that scatter to it.
Tap open_taps(ElementCode& code, Braces& braces, const Window& window, const Index& at, bool transposed = false);

/// The index of an element of N, C and spatial dimensions.
Index place_of(const std::string& image, const std::string& channel, const Index& spatial);

}  // namespace saccade::cuda
