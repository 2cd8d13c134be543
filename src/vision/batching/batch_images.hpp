#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Where the images of a batch lie in a value: along AXIS there are OUTER times all images, each with INNER elements.
struct ImageAxis {
  int axis = 0;
  std::int64_t inner = 1;
  std::int64_t outer = 1;

  std::int64_t per_image() const { return outer * inner; }
  friend bool operator==(const ImageAxis&, const ImageAxis&) = default;
};

/// Turns a GRAPH for one image into one for IMAGES images. INPUT is the graph input with the image, [1, ...]. Constant
/// subgraphs must be folded: targets of Reshape, Expand and the like are rewritten. Returns the axis of the images of
/// each output, in the order of the outputs; nullopt: it does not depend on the image. Throws Error (kUnsupported)
/// naming a node of which it can't be shown that it keeps images apart.
std::vector<std::optional<ImageAxis>> batch_images(Graph& graph, ValueId input, std::int64_t images);

}  // namespace saccade
