#pragma once

#include <algorithm>

#include "op_case/op_case.hpp"
#include "support/mask_case.hpp"

namespace saccade::test {

/// saccade.TraceMasks on MADE. Of the outputs those parts are defined that the reference kernel fills.
inline OpCase mask_op(const MaskCase& made) {
  const std::vector<Tensor> wanted = made.run();
  const bool is_traced = wanted[3].data<std::int32_t>()[0] == 0;
  OpCase op("TraceMasks", "saccade");
  for (Tensor& input : made.inputs()) {
    if (input.empty())
      op.absent();
    else
      op.input(std::move(input));
  }
  for (const auto& [name, value] : made.attributes) op.attribute(name, value);
  const auto objects = static_cast<std::size_t>(std::clamp<std::int64_t>(made.count, 0, made.grids.shape()[0]));
  op.outputs(5)
      .defined(0, static_cast<std::size_t>(3 * wanted[2].data<std::int32_t>()[0]))
      .defined(1, is_traced ? 2 * objects : 0);
  return op;
}

}  // namespace saccade::test
