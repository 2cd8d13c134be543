#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Saturation limit: two hundred thousand nodes of so many products still have a sum in range.
inline constexpr std::int64_t kMostProducts = std::int64_t{1} << 45;

/// Multiply-adds of a convolution or GEMM, up to kMostProducts; both 0 for other operators.
struct Products {
  std::int64_t on_elements = 0;   ///< with elements of the input
  std::int64_t with_padding = 0;  ///< as papers count: every tap of every output
  bool is_winograd = false;       ///< whether Winograd's algorithm computes them
};
Products products_of(const Graph& graph, const Node& node);

/// Operations beside `products_of`: the node's own and its post-ops'.
double other_operations(const Graph& graph, const Node& node);

/// The minimum number of elements of input I that any implementation must read, whatever the data.
std::int64_t elements_read(const Graph& graph, const Node& node, std::size_t i);

}  // namespace saccade
