#pragma once

#include <functional>
#include <vector>

#include "onnx/sizes/capacities.hpp"

// The operator's shape rule at the bounds of its inputs. It is evaluated twice: with the greatest sizes of its inputs
// (their capacities, and the upper ends of the contents that it reads), and with the least. Dimensions in which the
// results differ are open. This is correct for rules that are monotonic: no output shrinks when an input grows.
namespace saccade {

using Types = std::vector<TensorType>;

/// One end of a range.
enum class End : std::uint8_t { kLeast, kMost };

inline bool is_given(const Node& node, std::size_t i) {
  return i < node.inputs.size() && node.inputs[i] != ValueId::kNone;
}

/// The input's contents: known, else at one end; null if neither is known.
const Tensor* contents_at(const SizeQuery& q, std::size_t i, End end);
/// The inputs' types; open dimensions are LEAST at the lower end.
Types inputs_at(const SizeQuery& q, End end, std::int64_t least);
/// The output types that the shape rule infers from such inputs, with contents from ENDS, by input. Throws Error.
Types infer_types_at(const SizeQuery& q, const Types& types, const std::function<End(int)>& ends);

/// Capacities MOST, open along the dimensions that differ from LEAST.
std::vector<Capacity> between(const Types& most, const Types& least);
/// The capacities by the shape rule with the greatest and the least inputs. Throws Error.
std::vector<Capacity> capacities_by_shape_rule(const SizeQuery& q);

}  // namespace saccade
