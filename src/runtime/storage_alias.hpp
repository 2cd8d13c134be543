#pragma once

#include <optional>
#include <vector>

#include "runtime/storage_view.hpp"

namespace saccade {

/// Whether two views of a tensor of SHAPE address the same elements.
bool same_storage(const StorageView& a, const StorageView& b, const Shape& shape);

/// Elements from a pixel of an image of SHAPE (N, C, spatial) to the next, if VIEW's pixels are evenly spaced and their
/// channels contiguous. Nullopt otherwise.
std::optional<std::int64_t> pixel_pitch(const Shape& shape, const StorageView& view);

/// Two operands of a node, of which PART can be a strided view of BASE: element I of PART is element FIRST + I * STEP
/// of BASE, or both have the same elements under different dimensions.
struct StorageAlias {
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

  /// PART's view if BASE has VIEW, and BASE's view if PART has VIEW; nullopt if strides can't express it.
  std::optional<StorageView> storage_of_part(const Graph& graph, const StorageView& view) const;
  std::optional<StorageView> storage_of_base(const Graph& graph, const StorageView& view) const;
};

/// The possible aliases among the node's operands: one per input of a Concat, one per output of a Slice, a Split (all
/// outputs present) or a view. Empty if the node computes anything or moves elements in any other way.
std::vector<StorageAlias> storage_aliases(const Graph& graph, const Node& node);

/// Whether the node's output, dense, is its input's storage under another shape. Such a node needs no launch.
bool is_free_view(const Graph& graph, const Node& node);

}  // namespace saccade
