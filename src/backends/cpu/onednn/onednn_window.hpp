#pragma once

#include <dnnl.hpp>

#include "ops/layers/window.hpp"

namespace saccade::cpu {

/// A window in oneDNN's form, one entry per spatial dimension of the operator. The end padding follows from the output
/// size (less than ONNX's if a stride leaves elements over, more with ceil_mode).
struct OnednnWindow {
  explicit OnednnWindow(const Window& window, bool transposed = false) {
    for (auto axis = static_cast<std::size_t>(Window::kAxes - window.rank); axis < Window::kAxes; ++axis) {
      const std::int64_t slid_over = transposed ? window.out[axis] : window.in[axis];
      const std::int64_t places = transposed ? window.in[axis] : window.out[axis];
      kernel.push_back(window.kernel[axis]);
      strides.push_back(window.stride[axis]);
      gaps.push_back(window.dilation[axis] - 1);
      begin.push_back(window.pad_begin[axis]);
      end.push_back((places - 1) * window.stride[axis] + window.extent(axis) - slid_over - window.pad_begin[axis]);
    }
  }

  dnnl::memory::dims kernel;
  dnnl::memory::dims strides;
  dnnl::memory::dims gaps;  ///< dilations minus one
  dnnl::memory::dims begin;
  dnnl::memory::dims end;
};

}  // namespace saccade::cpu
