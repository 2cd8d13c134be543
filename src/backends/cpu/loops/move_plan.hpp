#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cpu/loops/loops.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// One strided copy from an input to an output. Loops: tensor 0 is the output, tensor 1 the input; in elements.
struct MovePiece {
  int input = 0;
  int output = 0;
  std::int64_t src_offset = 0;
  std::int64_t dst_offset = 0;
  std::vector<Loop> loops;
};

/// The element with which the output is filled first.
struct MoveFill {
  std::uint64_t bits = 0;
  std::size_t element_bytes = 4;
};

struct MovePlan {
  std::vector<MovePiece> pieces;
  std::optional<MoveFill> fill;
};

/// The copies that a moving operator (Transpose, Concat, Split, Slice, Expand, Tile, Pad, Reorder, DepthToSpace, the
/// Reshape family) consists of, in the layouts of its tensors; nullopt, with the reason in WHY, for other operators.
std::optional<MovePlan> plan_move(const NodeContext& context, Support& why);

/// Whether a supported node's copies follow the strides of aliased operands. Parts that are in place are not copied.
bool moves_strided_operands(const Node& node);

/// Fills BYTES with copies of one element.
void fill_elements(const MoveFill& fill, std::byte* data, std::size_t bytes);

}  // namespace saccade::cpu
