#pragma once

#include <optional>
#include <vector>

#include "runtime/place.hpp"

namespace saccade {

/// Whether a tensor of SHAPE has every element in the same place.
bool same_place(const Place& a, const Place& b, const Shape& shape);

/// Two values of one node of which one can lie in the other's memory: element I of PART is element FIRST + I * STEP of
/// BASE, or they have the same elements under other dimensions.
struct ValueLink {
  enum class Kind : std::uint8_t {
    kBox,        ///< of a Slice, Split or Concat
    kReshape,    ///< the same elements in the same (row-major) order
    kTranspose,  ///< PART's dimension i is BASE's dimension ORDER[i]
  };
  Kind kind = Kind::kBox;
  ValueId base = ValueId::kNone;
  ValueId part = ValueId::kNone;
  Shape first;
  Shape step;
  Shape order;

  /// Where PART lies if BASE lies at PLACE, and the other way round; nothing where no strides say so.
  std::optional<Place> place_of_part(const Graph& graph, const Place& place) const;
  std::optional<Place> place_of_base(const Graph& graph, const Place& place) const;
};

/// What ties the node's operands together: a link an input of a Concat, a link an output of a Slice, a Split or a view
/// of which none is left out. None where its kernel has to move elements in another way, or does more.
std::vector<ValueLink> links_of(const Graph& graph, const Node& node);

/// Whether the node's output can be its input's memory under another shape, both dense: such a node is no launch.
bool is_free_view(const Graph& graph, const Node& node);

}  // namespace saccade
