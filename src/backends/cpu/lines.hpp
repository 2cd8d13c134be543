#pragma once

#include <functional>

#include "cpu/element_program.hpp"

namespace saccade::cpu {

/// A dense tensor seen as it lies in memory: outer x count x inner, where COUNT is the dimensions AXES (neighbours in
/// memory).
struct Lines {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
};

/// Empty where the axes are not neighbours in memory.
std::optional<Lines> lines_along(const TensorView& tensor, const std::vector<bool>& axes);

/// A launch of float32 work on input 0 and output 0: RUN(inputs, outputs) on the execution's views.
using ViewWork = std::function<void(std::span<const TensorView> inputs, std::span<const TensorView> outputs)>;
std::unique_ptr<Launch> launch_of(ViewWork run);

}  // namespace saccade::cpu
