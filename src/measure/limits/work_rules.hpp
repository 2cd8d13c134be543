#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Where counting ends: two hundred thousand nodes of so many still have a sum.
inline constexpr std::int64_t kMostProducts = std::int64_t{1} << 45;

/// Multiply-adds of a convolution or GEMM, up to kMostProducts; both 0 for other operators.
struct Products {
  std::int64_t on_elements = 0;   ///< with elements of the input
  std::int64_t with_padding = 0;  ///< as papers count: every tap of every output
};
Products products_of(const Graph& graph, const Node& node);

/// Operations apart from `products_of`: the node's own and its post-ops'.
double other_operations(const Graph& graph, const Node& node);

/// Elements of input I that any implementation must read, whatever the data.
std::int64_t elements_read(const Graph& graph, const Node& node, std::size_t i);

}  // namespace saccade
