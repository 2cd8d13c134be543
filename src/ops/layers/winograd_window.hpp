#pragma once

#include "ops/layers/window.hpp"

namespace saccade {

/// Whether WINDOW is 3x3 and moves by one pixel, so that Winograd's F(m x m, 3x3) computes its convolution.
inline bool is_winograd_window(const Window& window) {
  constexpr Window::Axes kOnes{1, 1, 1};
  return window.kernel == Window::Axes{1, 3, 3} && window.stride == kOnes && window.dilation == kOnes;
}

}  // namespace saccade
